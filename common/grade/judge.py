"""Grades one submission: takes its files, builds them in the sandbox, has the lab's tests run them there, and turns the tests'
record into points. The tests are the course's own programs and stay outside of the sandbox; only their worker is in it."""

from __future__ import annotations

import copy
import hashlib
import hmac
import json
import os
import platform
import shlex
import shutil
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path

import ingest
import items as grading
import roots
import sandbox
import stages
import store
from boxed import run_tests, times_longer, write_script
from build import OBJECT_BYTES, Built, Workshop
from gpu import Gpu
from ingest import Submission, Taken
from known_labs import asks_of, digests_of_course, labs_of, manifest, title_of
from points import Points
from rules import FAIL
from speed import SpeedJudge

SCHEMA = 1


class JudgeError(Exception):
    """Grading cannot begin; the text says why and what to do."""


def machine() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return f"{line.split(':', 1)[1].strip()}, {os.cpu_count()} cores"
    except OSError:
        pass
    return f"{platform.machine()}, {os.cpu_count()} cores"


class Budget:
    """The seconds that the tests of a submission may take, all its labs together."""

    def __init__(self, seconds: float):
        self._left, self._lock = seconds, threading.Lock()

    def left(self) -> float:
        with self._lock:
            return self._left

    def spend(self, seconds: float) -> None:
        with self._lock:
            self._left -= seconds


def cores_for(jobs: int) -> int:
    """How many cores the executor gets for a submission while `jobs` run at once: its share of the machine's. At most 4: each takes 100 MiB of
    addresses or more, which are limited, and a grade is to be the same on every machine."""
    return max(1, min(4, len(os.sched_getaffinity(0)) // jobs))


class Judge:
    """secret: what hidden shapes and values follow from; the same for all submissions of a class, so that they meet the same cases.
    only: grade the labs that these words mean (course/labs.py, chosen). gpu: measures speed; without one it is not run.
    remembered: a file with what took all of a lab's time in earlier runs."""

    def __init__(self, course: Path, points: Points, box: sandbox.Sandbox, secret: bytes, jobs: int, only: str = "", gpu: Gpu | None = None,
                 remembered: Path | None = None):
        self.course, self.points, self.box, self.secret = course, points, box, secret
        every = labs_of(course)
        self.labs = {lab: every[lab] for lab in manifest.chosen(only, list(every))}
        self.titles = {lab: title_of(course, lab) for lab in self.labs}
        self.asks = {lab: asks_of(course, lab, kernel) for lab, kernel in self.labs.items()}
        self.limits = points.limits
        self.jobs = jobs
        self.slots = threading.Semaphore(jobs)  # compilers and tests that run at once
        sandbox.adopt_orphans()
        self.stage = stages.make()
        box.settle(self.stage)
        self.private = self.stage / "private"  # records and sources: not for the sandbox's users
        self.private.mkdir(mode=0o700)
        self.numbers = iter(range(10**9))
        self.warnings: list[str] = []
        self.workshop = Workshop(course, self.stage, box, self.limits)
        if box.kind != "none":
            roots.make_run_root(self.stage / "run", course, box.helpers())
        self.digests = digests_of_course(course)
        self.plans: dict[str, grading.Plan] = {}
        self.memo: dict[tuple[str, bytes], threading.Lock] = {}
        self.graded: dict[tuple[str, bytes], str] = {}
        self.memo_lock = threading.Lock()
        self.remembered = remembered
        self.timed_out: dict[str, dict] = (store.read_json(remembered) or {}) if remembered else {}
        self.gpu = gpu
        self.speed = SpeedJudge(self, gpu) if gpu else None
        if not self.workshop.front_end and not gpu:
            raise roots.RootError("clang++ is not installed (it finds what nvcc would refuse; so does nvcc, where there is a GPU)")

    def close(self) -> None:
        stages.remove(self.stage)

    def seed(self, lab: str) -> int:
        return int.from_bytes(hmac.digest(self.secret, lab.encode(), "sha256")[:8], "big")

    # ---- Running a lab's tests -------------------------------------------------------------------

    def tested(self, lab: str, source: bytes, built: Built, uid: int | None, without: list[str],
               budget: Budget | None = None) -> tuple[list[dict], sandbox.Ended]:
        """As run_tests(). Times are predicted at last, when it is known of which kernels: a list of all instructions takes long."""
        record, ended = self.run_tests(lab, source, built.plain, built.checked, uid, without, budget, {"launched": True} if built.listed else {})
        if not built.listed:
            return record, ended
        kernels, cases, record, end = grading.to_be_timed(record)
        if not (end and kernels):
            return record + end, ended
        checked = self.workshop.with_table(built, source, f"labs/{lab}/{self.labs[lab]}", uid, kernels)
        for case in cases:
            seconds = self.limits["lab_seconds"] / 4
            timed, ended = self.run_tests(lab, source, built.plain, checked, uid, without, budget, {"case": case}, seconds)
            record += grading.times_of(timed)
            if not grading.Results(timed).finished:
                return record, ended
        return record + end, ended

    def run_tests(self, lab: str, source: bytes, plain: bytes, checked: bytes, uid: int | None, without: list[str], budget: Budget | None = None,
                  more: dict | None = None, most_seconds: float = float("inf")) -> tuple[list[dict], sandbox.Ended]:
        """The tests' record, and how they ended. without: variants that are not run. budget: what is left to the submission. more: request."""
        number = next(self.numbers)
        folder, private = self.stage / f"{number}", self.private / f"{number}"
        rung, tools = folder / "rung", folder / "tools"
        for made in (folder, private, rung, tools):
            made.mkdir(mode=0o711)
        (rung / "plain.so").write_bytes(plain)
        (rung / "checked.so").write_bytes(checked)
        (private / "source.cu").write_bytes(source)
        seconds = max(1, int(min(self.limits["lab_seconds"], most_seconds, budget.left() if budget else float("inf"))))
        begun = time.monotonic()
        # The worker keeps a copy of the rung in memory, which counts as a file.
        busy = times_longer()
        limits = sandbox.Limits(seconds, int(seconds * busy), self.limits["memory_mib"], self.limits["processes"] + (os.cpu_count() or 1),
                                2 * OBJECT_BYTES >> 20, output_kib=self.limits["output_kib"], cores=cores_for(self.jobs))
        request = {
            "file": f"labs/{lab}/{self.labs[lab]}", "rung": str(rung / "plain.so"), "checked": str(rung / "checked.so"), "worker": "build/cpu/worker",
            "seed": self.seed(lab), "without": without, "timed": self.asks[lab].timed,
            # Predictions are counted on our own solution, which needs no sandbox.
            "solution": self.solution_object(lab), "counter": "build/cpu/worker", "counted": str(self.private / f"counted-{lab}"),
            **(more or {}),
        }
        environment = {"BACKEND": "cpu", "SIMT_CORES": str(limits.cores)}
        if self.box.kind != "none":
            mounts = {"/rung": rung}
            worker = self.box.command(["/worker"], self.stage / "run", limits, uid, mounts)
            lines = self.box.command(["/usr/bin/addr2line"], self.stage / "run", limits, uid, mounts)
            write_script(tools / "worker", f'{shlex.join(worker)} /rung/"${{1##*/}}" sealed 1>&2')
            # What addr2line reads is the submission's, so it is run like the submission.
            write_script(tools / "addr2line", f'{shlex.join(lines)} "$@"')
            request |= {"worker": str(tools / "worker"), "course": "/course"}
            environment["LADDER_ADDR2LINE"] = str(tools / "addr2line")
        try:
            return run_tests(self.box, self.course, lab, private, limits, request, environment, str(self.stage))
        finally:
            if budget:
                budget.spend((time.monotonic() - begun) / busy)
            shutil.rmtree(folder, ignore_errors=True)
            shutil.rmtree(private, ignore_errors=True)

    def solution_object(self, lab: str) -> str:
        path = f"build/cpu/checked/solutions/{lab}/{Path(self.labs[lab]).stem}.so"
        return path if (self.course / path).exists() else ""

    # ---- What a lab consists of ------------------------------------------------------------------

    def prepare(self, progress=lambda text: None) -> None:
        """Has the course's own solutions run: what they ran is what is graded. Kept below build/ until the course changes."""
        cache = self.course / "build/grade/plans.json"
        kept = {lab: plan for lab, plan in (store.read_json(cache) or {}).items() if isinstance(plan, dict) and plan.get("course") == self.digests.get(lab)}
        if missing := [lab for lab in self.labs if lab not in kept]:
            progress("running the solutions once, to know what there is to grade")
            with ThreadPoolExecutor(len(missing)) as pool:
                kept |= {lab: {"course": self.digests[lab], **plan} for lab, plan in zip(missing, pool.map(self.plan_of, missing))}
            cache.parent.mkdir(parents=True, exist_ok=True)
            store.write(cache, json.dumps(kept))
        for lab, plan in ((lab, kept[lab]) for lab in self.labs):
            # Variants without points are skipped. (The plan has it: it is kept, and the points may be others the next time.)
            without = self.points.given_variants(lab)
            self.plans[lab] = grading.Plan([tuple(case) for case in plan["cases"] if case[0] not in without],
                                           [variant for variant in plan["variants"] if variant not in without])

    def plan_of(self, lab: str) -> dict:
        path = self.course / "solutions" / lab / self.labs[lab]
        source, uid = path.read_bytes(), self.box.new_user()
        workshop = copy.copy(self.workshop)  # limits are for the others
        workshop.limits = {**self.limits, "compile_seconds": 10 * self.limits["compile_seconds"]}
        built = workshop.build(source, f"labs/{lab}/{path.name}", uid, self.slots, self.asks[lab].products, self.asks[lab].timed)
        if built.error:
            raise JudgeError(f"the course's own solution cannot be built: {built.error}\n{built.details}")
        if built.findings:
            raise JudgeError(f"the rules hold up the course's own solution of {lab}, so nothing can be graded: it {built.findings[0].reason} (rules.py)")
        with self.slots:
            record, ended = self.tested(lab, source, built, uid, [])
        wrong = [entry for entry in record if entry["type"] == "case" and not entry["ok"]]
        if not grading.Results(record).finished or wrong:
            first = f"{wrong[0]['variant']} {wrong[0]['case']}: {wrong[0]['text']}" if wrong else ended.stderr.decode(errors="replace")[-500:]
            busy = " (is the machine busy with something else? try again, or with JOBS=1)" if "timed out" in first else ""
            raise JudgeError(f"the course's own solution of {lab} does not pass here, so nothing can be graded{busy}: {first}")
        plan = grading.Plan.of(record)
        return {"cases": plan.cases, "variants": plan.variants}

    # ---- Grading ---------------------------------------------------------------------------------

    def key(self, lab: str, taken: Taken) -> str:
        """What a lab's grade depends on; kept with it, so that nothing is graded twice and nothing stale is kept."""
        file = hashlib.sha256(taken.source).hexdigest() if taken.source is not None else f"none: {taken.problem}"
        gpu = f" {self.gpu.name}" if self.gpu else ""
        return hashlib.sha256(f"{SCHEMA} {self.digests[lab]}{gpu} {self.points.text_of(lab)} {file} {hashlib.sha256(self.secret).hexdigest()}".encode()).hexdigest()

    def grade(self, submission: Submission, only: list[str] | None = None) -> dict:
        """The grade of all labs, or of those in `only`."""
        begun = time.monotonic()
        uid = self.box.new_user()
        wanted = [lab for lab in self.labs if only is None or lab in only]

        budget = Budget(self.limits["submission_seconds"])

        def one(lab: str) -> dict:
            taken = submission.labs[lab]
            result = self.grade_lab(lab, taken, uid, budget)
            kept = {"key": self.key(lab, taken), "graded": store.now()}
            if taken.source is not None:
                kept |= {"file": file_digest(taken), "path": taken.path, "handed_in": taken.handed_in, "file_time": taken.file_time}
            return {**result, **kept}

        try:
            with ThreadPoolExecutor(max(1, len(wanted))) as pool:
                labs = list(pool.map(one, wanted))
        finally:
            if left := sandbox.kill_user(uid):
                self.warnings.append(f"{submission.name}: {left} processes were left and were ended")
        grade = {"schema": SCHEMA, "student": submission.name, "id": submission.id, "backend": "cpu and cuda" if self.gpu else "cpu",
                 "machine": machine() + (f", {self.gpu.name}" if self.gpu else ""), "graded": store.now(), "seconds": round(time.monotonic() - begun, 2),
                 "labs": labs, **about(submission)}
        return store.totalled(grade)

    def grade_lab(self, lab: str, taken: Taken, uid: int | None, budget: Budget | None = None) -> dict:
        """Of files that are equal byte by byte, as a class has many (the untouched starters), one is graded and the others get the
        same. So it is with one that takes all of a lab's time, too, also in later runs: nobody waits for it twice."""
        if taken.source is None:
            return self.grade_file(lab, taken, uid, budget)[0]
        key = (lab, hashlib.sha256(taken.source).digest())
        with self.memo_lock:
            mine = self.memo.setdefault(key, threading.Lock())
        with mine:
            if key not in self.graded:
                result, limited = self.timed_out.get(self.key(lab, taken)), False
                if result is None:
                    result, limited = self.grade_file(lab, taken, uid, budget)
                if limited:  # by time or memory: of this run, not of the file
                    return result
                self.graded[key] = json.dumps(result)
            return json.loads(self.graded[key])

    def remember(self, key: str, result: dict) -> None:
        """That a file has taken all of a lab's time: whoever hands in the same, in this run or another, gets the same at once."""
        with self.memo_lock:
            self.timed_out[key] = result
            if self.remembered:
                store.write(self.remembered, json.dumps(self.timed_out))

    def grade_file(self, lab: str, taken: Taken, uid: int | None, budget: Budget | None = None) -> tuple[dict, bool]:
        """The lab's part of the record, and whether a limit had a part in it that says nothing of the file: memory, or what its
        submission's other labs have left of the time."""
        label = f"labs/{lab}/{self.labs[lab]}"
        items = grading.blank(self.points, lab, self.plans[lab])

        def failed(reason: str, hint: str = "", details: str = "", limited: bool = False) -> tuple[dict, bool]:
            grading.all_fail(items, reason, hint, details, bool(self.speed))
            return grading.lab_json(lab, self.titles[lab], items), limited

        if taken.source is None:
            return failed(taken.problem, f"hand in {label}")
        built = self.workshop.build(taken.source, label, uid, self.slots, self.asks[lab].products, self.asks[lab].timed)
        if built.error:
            return failed(built.error, f"make {lab.split('_')[0]}", built.details, built.limited)
        for finding in built.findings:
            if finding.level == FAIL:
                return failed(f"not run: the file {finding.reason}")
        for_gpu = None
        if self.speed and not self.workshop.front_end:  # nvcc says itself what it refuses
            for_gpu = self.speed.build(lab, taken.source, uid)
            if for_gpu.error:
                return failed(for_gpu.error, f"make {lab.split('_')[0]}", for_gpu.details, for_gpu.limited)
        if budget and budget.left() <= 0:
            return failed(f"not run: the {self.limits['submission_seconds']} s of the whole submission were over", limited=True)
        with self.slots:
            whole = not budget or budget.left() >= self.limits["lab_seconds"]
            record, ended = self.tested(lab, taken.source, built, uid, self.points.given_variants(lab), budget)
        if not record:  # the tests themselves could not do their work
            return failed("the tests of this lab could not be run on it" if not ended.cause else limit_text(ended.cause, self.limits), limited=True)
        ended_by = limit_text(ended.cause, self.limits) if whole or ended.cause != "time" else "the time of the whole submission was over"
        items = grading.grade(lab, self.points, self.plans[lab], record, ended_by)
        next(item for item in items if item.id == "integrity/source").passes()
        for item in items:
            if built.untimed and item.category == "speed" and item.reason.startswith(grading.NOT_PREDICTED):
                item.details = built.untimed
        if built.untimed:
            grading.not_timed(items, self.plans[lab], built.untimed)
        if self.speed:
            self.speed.grade(lab, taken.source, items, self.points, uid, for_gpu)
        if built.findings:
            reasons = [f"the file {finding.reason}" + (f" (line {finding.line})" if finding.line else "") for finding in built.findings]
            grading.hold_back(items, reasons[0], "\n".join(reasons))
        of_the_file = ended.cause == "time" and whole
        if of_the_file:
            self.remember(self.key(lab, taken), grading.lab_json(lab, self.titles[lab], items))
        return grading.lab_json(lab, self.titles[lab], items), not of_the_file and (bool(ended.cause) or not grading.Results(record).finished)


def file_digest(taken: Taken) -> str:
    """Which file a lab's grade is for; "" if there is none."""
    return hashlib.sha256(taken.source).hexdigest()[:16] if taken.source is not None else ""


def about(submission: Submission) -> dict:
    """What a record says of a submission besides its grade."""
    return {"system": submission.system, "people": [asdict(person) for person in submission.people], "notes": submission.notes,
            "problem": submission.problem}


def limit_text(cause: str, limits: dict[str, int]) -> str:
    return {"": "", "time": f"the lab's {limits['lab_seconds']} s were over", "memory": f"more than {limits['memory_mib']} MiB of memory were used",
            "output": "too much was printed"}[cause]


def submission_of_course(course: Path, folder: str, limits: dict[str, int]) -> Submission:
    """This working copy's labs/ or solutions/ as a submission."""
    submission = Submission(folder, folder, course / folder)
    labs = labs_of(course)
    for lab, kernel in labs.items():
        path = course / folder / lab / kernel
        try:
            submission.labs[lab] = Taken(ingest.checked(path.read_bytes(), limits["source_kib"], f"{folder}/{lab}/{kernel}"), str(path))
        except OSError as error:
            submission.labs[lab] = Taken(problem=f"{folder}/{lab}/{kernel}: {error.strerror}")
        except ingest.IngestError as error:
            submission.labs[lab] = Taken(problem=str(error))
    return submission
