"""What a run is about, told apart from another one without a GPU at hand."""

from __future__ import annotations

import copy
import hashlib
import json
from pathlib import Path
from types import SimpleNamespace

import judge
from classrun import plan_for
from ingest import Submission, Taken


def fingerprint(the_judge: judge.Judge, submissions: Path, gpus: int) -> str:
    """What must be the same for the tasks of a run and the command that goes on with it. A GPU's name is not known here."""
    without = copy.copy(the_judge)
    without.gpu = None
    keys = {lab: without.key(lab, Taken(b"")) for lab in the_judge.labs}
    return hashlib.sha256(json.dumps([keys, str(submissions), bool(gpus)]).encode()).hexdigest()


def still_to_grade(the_judge: judge.Judge, submission: Submission, earlier: dict | None, gpus: int) -> bool:
    """By the key of each lab, which with speed holds the name of a GPU: that of the node on which it was graded."""
    if earlier is None:
        return True
    asked = copy.copy(the_judge)
    asked.gpu = SimpleNamespace(name=str(earlier.get("machine", "")).rpartition(", ")[2]) if gpus else None
    return bool(plan_for(asked, submission, earlier).labs)
