#!/usr/bin/env python3
"""make similar: which files of a class are alike (similar.py), without grading it.

    make_similar.py SUBMISSIONS OUT [--only LABS] [--also FOLDER]     writes OUT/similar; FOLDER has submissions of earlier classes
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import ingest
import judge
import points
import similar_report
from similar import COURSE


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("submissions", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--also", type=Path)
    arguments = parser.parse_args()
    every = judge.labs_of(COURSE)
    try:
        labs = {lab: every[lab] for lab in judge.manifest.chosen(arguments.only, list(every))}
    except judge.manifest.Malformed as error:
        print(f"error: LABS={arguments.only}: {error}", file=sys.stderr)
        return 2
    limits = points.load(COURSE / "common/grade/points.toml", list(every)).limits
    handed_in: dict[str, list[tuple[str, str, bytes]]] = {lab: [] for lab in labs}
    try:
        for folder in filter(None, (arguments.submissions, arguments.also)):
            for submission in ingest.find(folder)[0]:
                ingest.take(submission, labs, limits)
                earlier = folder == arguments.also
                for lab, taken in submission.labs.items():
                    if taken.source is not None:
                        name = f"{submission.name} ({folder.name})" if earlier else submission.name
                        handed_in[lab].append((name, "" if earlier else submission.id, taken.source))
        arguments.out.mkdir(parents=True, exist_ok=True)
        found = similar_report.write(arguments.out, COURSE, labs, handed_in)
    except (ingest.IngestError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print(f"{found} pairs to look at: {arguments.out}/similar/index.html")
    return 0


if __name__ == "__main__":
    sys.exit(main())
