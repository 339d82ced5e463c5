"""Made-up records for tests of the reports. Nothing in them was graded; names and texts are as hostile as they come."""

from __future__ import annotations

import json
import random
from pathlib import Path

HOSTILE = [
    "=HYPERLINK(\"http://evil.example\",\"grades\")", "+1+1", "-2+3", "@SUM(A1)", "\t=1+1", "\r=1", "a;=1+1", "\uff1d1+1",
    "<script>alert(1)</script>", "\" onmouseover=\"alert(1)", "</style></script><img src=x onerror=alert(1)>", "&lt;b&gt; & ]]>",
    "\x1b[2J\x1b]0;owned\x07", "\x1b[31mred\x9b1m", "safe\u202egnp.exe", "\u2066isolated", "nul\x00 bell\x07 del\x7f", "\udcff\udcfe",
    "\ufffe\uffff\ufdd0", "\u2028line\u2029paragraph", "``` \n# heading\n```", "````\n</code>", "| a | b |", "[x](javascript:alert(1))",
    "![x](http://evil.example/a.png)", "http://evil.example www.evil.example a@evil.example @everyone #1", "`code` *bold* __b__ ~~s~~",
    "1. list\n- list\n+ list", "a\\", "\\<b>", "$x$", "Zo\u00eb O'Brien-\u0141ukasz", "\u5f20\u4f1f", "\u0645\u0631\u06cc\u0645\u200c", "", " ", "x" * 5000,
]


def item(id: str, verdict: str, points: float, out_of: float, text: str = "", category: str = "correctness") -> dict:
    return {"id": id, "category": category, "name": f"name {text}", "verdict": verdict, "points": points, "out_of": out_of,
            "reason": "" if verdict == "pass" else f"reason {text}", "hint": text, "details": f"{text}\nsecond line\t{text}\n" if text else ""}


def lab(name: str, items: list[dict], verdict: str) -> dict:
    run = [i for i in items if i["verdict"] != "not run"]
    return {"lab": name, "title": "The row in shared memory", "verdict": verdict, "points": round(sum(i["points"] for i in items), 2),
            "out_of": round(sum(i["out_of"] for i in run), 2),
            "not_run": round(sum(i["out_of"] for i in items if i["verdict"] == "not run"), 2), "items": items}


def record(id: str, student: str, labs: list[dict], verdict: str = "fail") -> dict:
    return {"schema": 1, "student": student, "id": id, "backend": "cpu", "machine": "Made-up machine", "seconds": 12.34, "labs": labs,
            "points": round(sum(entry["points"] for entry in labs), 2), "out_of": round(sum(entry["out_of"] for entry in labs), 2),
            "verdict": verdict}


def random_record(random_: random.Random, id: str, student: str) -> dict:
    labs = []
    for name in ("lab02_smem", "lab01_naive", "lab05_topk"):
        items = []
        for number in range(random_.randrange(1, 6)):
            verdict = random_.choice(["pass", "fail", "not run", "needs a person"])
            out_of = random_.choice([5, 10, 12.5, 33.33])
            points = {"pass": out_of, "fail": round(out_of * random_.choice([0, 0, 0.37]), 2)}.get(verdict, 0)
            items.append(item(f"correctness/{number}{random_.choice(['', random_.choice(HOSTILE)])}", verdict, points, out_of,
                              random_.choice(HOSTILE)))
        labs.append(lab(name, items, random_.choice(["pass", "fail", "needs a person"])))
    return record(id, student, labs, random_.choice(["pass", "fail", "not run", "needs a person"]))


def write(out: Path, value: dict) -> Path:
    folder = out / "students" / value["id"]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "grade.json").write_text(json.dumps(value), encoding="utf-8")
    return folder


def write_class(out: Path, count: int | None = None) -> list[dict]:
    """A student for every hostile name, or `count` ones."""
    random_ = random.Random(1)
    names = HOSTILE if count is None else [HOSTILE[i % len(HOSTILE)] for i in range(count)]
    values = [random_record(random_, f"s{i:03d}", name) for i, name in enumerate(names)]
    for value in values:
        write(out, value)
    return values
