#!/usr/bin/env python3
"""Prints what compute-sanitizer found, each finding once, with the student's line:
    sanitizer.py --source FILE.cu FOLDER/TOOL...
A folder holds the logs of one tool, which is its name (common/cuda/sanitized_worker.sh). Exit status 1 if there is a finding,
2 if a tool left no log or could not work."""

from __future__ import annotations

import argparse
import re
import signal
import sys
from pathlib import Path

PREFIX = re.compile(r"^=========( |$)")
PLACE = re.compile(r"(?:at|access at) (.*?)(?:\+0x[0-9a-f]+)? in ([^\s:]+):(\d+)")
TROUBLE = ("Device not supported", "Error: No attachable process found", "Unable to", "Internal Sanitizer Error",
           "Target application terminated before first instrumented API call")


class Finding:
    """One kind of mistake at one place. `others`: of a race, the accesses that it is with."""

    def __init__(self, what: str, kernel: str, line: tuple[str, int] | None, detail: str, others: list[str]):
        self.what, self.kernel, self.line, self.detail, self.others, self.count = what, kernel, line, detail, others, 1


def records(text: str) -> list[list[str]]:
    """The log's records: runs of lines behind "=========", parted by an empty one."""
    found: list[list[str]] = [[]]
    for line in text.splitlines():
        if not PREFIX.match(line):
            continue
        body = line[9:].rstrip()
        if body.strip():
            found[-1].append(body[1:])
        else:
            found.append([])
    return [record for record in found if record]


def place_of(line: str) -> tuple[str, tuple[str, int]] | None:
    match = PLACE.search(line)
    return (match[1], (match[2], int(match[3]))) if match else None


def own_place(record: list[str], source: str) -> tuple[str, tuple[str, int] | None]:
    """The kernel and the innermost line in the student's own file; a header's line if there is none."""
    places = [place for line in record if "Host Frame" not in line for place in [place_of(line)] if place]
    own = [place for place in places if Path(place[1][0]).name == Path(source).name]
    if own or places:
        return (own or places)[0]
    kernel = re.search(r"at (\S+?\(.*?\))\+0x", "\n".join(record))
    return (kernel[1] if kernel else "", None)


def parse(text: str, source: str) -> tuple[list[Finding], list[str]]:
    """Findings in the kernels of `source`, and what kept the tool from its work."""
    findings: dict[tuple, Finding] = {}
    trouble = []
    for record in records(text):
        first = record[0].removeprefix("COMPUTE-SANITIZER").strip()
        if not first and len(record) > 1:
            record = record[1:]
            first = record[0]
        if any(sign in first for sign in TROUBLE):
            trouble.append(first)
            continue
        if first.startswith(("ERROR SUMMARY", "RACECHECK SUMMARY", "LEAK SUMMARY", "Host API", "Program hit")) or not first:
            continue  # what the worker itself does, and the sums
        race = re.match(r"(Error|Warning|Info): Race reported between (\w+) access", first)
        if not race and not re.search(r"Invalid|Uninitialized|Barrier error|[Dd]ivergent|Misaligned|Memory|Fatal|Error|error", first):
            continue
        kernel, line = own_place(record, source)
        others = []
        if race:
            for more in record[1:]:
                other = place_of(more)
                if other:
                    others.append(f"{more.split()[1].lower()} at line {other[1][1]}")
            what = f"a race: {race[2].lower()} here"
        else:
            what = first
        others = sorted(set(others))
        detail = "; ".join(text.strip() for text in record[1:]
                           if text.strip().startswith(("by thread", "Access to", "Address", "and is")))
        key = (what, line, tuple(others) if race else ())
        if race and key not in findings:  # the same pair with some of its partners only
            key = next((k for k in findings if k[0] == what and k[1] == line and set(others) & set(k[2])), key)
        if key in findings:
            findings[key].count += 1
        else:
            findings[key] = Finding(what, kernel, line, detail, others)
    return sorted(findings.values(), key=lambda finding: finding.line or ("", 0)), trouble


def describe(finding: Finding, source: str, lines: list[str]) -> list[str]:
    if finding.line and Path(finding.line[0]).name == Path(source).name:
        place = f"{source}:{finding.line[1]}"
        code = " ".join(lines[finding.line[1] - 1].split()) if 0 < finding.line[1] <= len(lines) else ""
    else:
        place, code = (":".join(map(str, finding.line)) if finding.line else source), ""
    text = [f"  {place}: {finding.what}"
            + (f", with {', '.join(finding.others)}" if finding.others else "")
            + (f" ({finding.count} times)" if finding.count > 1 else "")]
    if code:
        text.append(f"      {code}")
    if finding.detail:
        text.append(f"      first {finding.detail}" if finding.count > 1 else f"      {finding.detail}")
    return text


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(description="Print what compute-sanitizer found.")
    parser.add_argument("--source", required=True)
    parser.add_argument("folders", nargs="+", type=Path)
    options = parser.parse_args(argv)
    lines = Path(options.source).read_text(errors="replace").splitlines() if Path(options.source).is_file() else []
    found, broken = 0, 0
    for folder in options.folders:
        tool = folder.name
        logs = sorted(folder.glob("*.log"))
        text = "\n".join(log.read_text(errors="replace") + "\n=========" for log in logs)
        findings, trouble = parse(text, options.source)
        if not logs or trouble:
            broken += 1
            print(f"{tool:10} did not work: {trouble[0] if trouble else 'it wrote no log'}")
            continue
        found += len(findings)
        print(f"{tool:10} {'clean' if not findings else 'finding' + ('s' if len(findings) > 1 else '') + f': {len(findings)}'}")
        for finding in findings:
            print("\n".join(describe(finding, options.source, lines)))
    return 2 if broken else 1 if found else 0


if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # `... | head` ends it without a traceback
    sys.exit(main(sys.argv[1:]))
