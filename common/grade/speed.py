"""Speed beside our solution, on a GPU: a submission's kernels are compiled with nvcc in the sandbox, held against a part of the
lab's cases on the GPU, and then measured by speed/speed.cpp, which holds clock, inputs and comparison outside of the sandbox.

Right or wrong is graded on the CPU, where every machine says the same. What is right there and wrong on a GPU has no speed,
and the points of that variant wait for a person.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import shlex
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import items as grading
import sandbox
from boxed import run_tests, write_script
from build import Built
from gpu import CudaWorkshop, Gpu, make_run_root
from items import PASS, PERSON, Item
from points import Points
from rules import FAIL as RULE_FAIL

if TYPE_CHECKING:
    from judge import Judge

SAMPLES = 9
MEMORY_MIB = 12288  # that inputs and outputs take on the device, or a sixth of it
PREPARES_SLOWER = 2.0  # than the solution, besides a few milliseconds: where it has nothing to do


@dataclass
class Sizes:
    """Shapes that are measured, by the operation of a variant: those that everybody knows, and a hidden neighbour. elements: of a matrix,
    for the neighbour's rows. Widths are multiples of 8, as the known ones nearly are: the neighbour is not to be harder."""

    softmax: tuple[int, int] = (4096, 4096)
    topk: tuple[int, int, int] = (512, 50257, 50)
    near: tuple[int, int] = (440, 600)  # times 8: columns of softmax's neighbour
    near_topk: tuple[int, int] = (5400, 6900)

    def shapes(self, secret: bytes, lab: str) -> dict[str, list[dict[str, int]]]:
        drawn = int.from_bytes(hmac.digest(secret, f"speed {lab}".encode(), hashlib.sha256)[:8], "big")

        def neighbour(rows: int, cols: int, near: tuple[int, int]) -> tuple[int, int]:
            width = 8 * (near[0] + drawn % (near[1] - near[0]))
            return max(1, rows * cols // width), width

        rows, cols = self.softmax
        rows_k, cols_k, k = self.topk
        softmax = [self.softmax, neighbour(rows, cols, self.near)]
        topk = [(rows_k, cols_k), neighbour(rows_k, cols_k, self.near_topk)]
        return {"softmax": [{"rows": r, "cols": c, "k": 0} for r, c in softmax],
                "softmax_topk": [{"rows": r, "cols": c, "k": k} for r, c in topk]}


class SpeedJudge:
    """Grades the speed items of a lab. judge: lends the sandbox, its folders and limits."""

    def __init__(self, judge: Judge, gpu: Gpu, workshop: CudaWorkshop | None = None, sizes: Sizes = Sizes()):
        self.judge, self.gpu, self.sizes = judge, gpu, sizes
        self.workshop = workshop or CudaWorkshop(judge.course, judge.stage, judge.box, judge.limits, gpu)
        self.root = judge.stage / "run-gpu"
        if judge.box.kind != "none":
            make_run_root(self.root, judge.course, gpu, judge.box.helpers())

    def build(self, lab: str, source: bytes, uid: int | None) -> Built:
        with self.judge.slots:
            return self.workshop.build(source, f"labs/{lab}/{self.judge.labs[lab]}", uid)

    def grade(self, lab: str, source: bytes, items: list[Item], points: Points, uid: int | None, built: Built | None = None) -> None:
        """Fills in the speed items. The others have been graded. built: for the GPU, if it has been compiled already."""
        if self.judge.plans[lab].times:
            return
        mine = [item for item in items if item.category == "speed" and item.out_of]
        ready = []
        for item in mine:
            right = grading.share_right(items, item.variant)
            done = next((other for other in items if other.id == f"integrity/{item.variant}"), None)
            if right < points.need["speed"]:
                item.fails(f"counts once {points.need['speed']:.0%} of {item.variant}'s cases are right; {right:.0%} are")
            elif done and done.verdict != PASS:
                item.fails("counts once it is seen that the variant's kernels do the work")
            else:
                ready.append(item)
        if not ready:
            return
        built = built or self.build(lab, source, uid)
        if built.error:
            for item in ready:
                item.fails(built.error, "", built.details)
            return
        for finding in built.findings:
            if finding.level == RULE_FAIL:
                for item in ready:
                    item.fails(f"not run on the GPU: the file {finding.reason}")
                return
        with self.gpu.lock:
            wrong = self.wrong_cases(lab, source, built.plain, uid)
            for item in ready:
                if item.variant in wrong:
                    self.wrong_on_the_gpu(item, items, wrong[item.variant])
            ready = [item for item in ready if item.variant not in wrong]
            with self.quiet():
                measured, problem = self.measure(lab, ready, built.plain, uid) if ready else ({}, "")
        if problem:
            self.judge.warnings.append(f"speed of {lab}: {problem}")
        self.judge_speed(ready, measured, points, problem)
        if built.findings:
            for item in ready:
                if item.points:
                    item.waits(f"the file {built.findings[0].reason}")

    @staticmethod
    def wrong_on_the_gpu(item: Item, items: list[Item], text: str) -> None:
        item.fails(f"right on a CPU, wrong on the GPU: {grading.first_line(text)}", "", text)
        for other in items:
            if other.variant == item.variant and other.points > 0:
                other.waits("its results on a GPU are others than on a CPU")

    @contextmanager
    def quiet(self) -> Iterator[None]:
        """Two of the judge's slots are left empty meanwhile: one for the clock, one for what is timed."""
        taken = min(2, self.judge.jobs)
        for _ in range(taken):
            self.judge.slots.acquire()
        try:
            yield
        finally:
            for _ in range(taken):
                self.judge.slots.release()

    # ---- Running ---------------------------------------------------------------------------------

    def limits(self) -> sandbox.Limits:
        limits = self.judge.limits
        # The driver of a GPU starts threads and maps files of its own.
        return sandbox.Limits(limits["gpu_seconds"], limits["gpu_seconds"], 4 * limits["memory_mib"],
                              limits["processes"] + 4 * (os.cpu_count() or 1), file_mib=1024, output_kib=limits["output_kib"],
                              devices=self.gpu.devices)

    def boxed_worker(self, folder: Path, uid: int | None) -> str:
        """The worker as a command that runs it in the sandbox, on the rung in folder/rung."""
        if self.judge.box.kind == "none":
            return str(self.judge.course / self.gpu.worker)
        name = Path(self.gpu.worker).name
        command = self.judge.box.command([f"/{name}"], self.root, self.limits(), uid, {"/rung": folder / "rung"})
        write_script(folder / name, f'{shlex.join(command)} /rung/"${{1##*/}}" 1>&2')
        return str(folder / name)

    def folder(self, rung: bytes) -> Path:
        folder = self.judge.stage / f"{next(self.judge.numbers)}"
        for made in (folder, folder / "rung"):
            made.mkdir(mode=0o711)
        (folder / "rung/gpu.so").write_bytes(rung)
        return folder

    def wrong_cases(self, lab: str, source: bytes, rung: bytes, uid: int | None) -> dict[str, str]:
        """Variant -> what is wrong with the first of the lab's small cases that is wrong on the GPU."""
        folder, private = self.folder(rung), self.judge.private / f"{next(self.judge.numbers)}"
        private.mkdir(mode=0o700)
        (private / "source.cu").write_bytes(source)
        request = {
            "file": f"labs/{lab}/{self.judge.labs[lab]}", "rung": str(folder / "rung/gpu.so"), "cases": "small",
            "worker": self.boxed_worker(folder, uid), "seed": self.judge.seed(lab), "course": "/course",
        }
        environment = {"BACKEND": self.gpu.backend}
        for name in ("LD_LIBRARY_PATH",):  # where some machines have the driver
            if name in os.environ:
                environment[name] = os.environ[name]
        try:
            record, ended = run_tests(self.judge.box, self.judge.course, lab, private, self.limits(), request, environment)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
            shutil.rmtree(private, ignore_errors=True)
        wrong: dict[str, str] = {}
        for entry in record:
            if entry["type"] == "case" and entry["ok"] is not True and entry["group"] not in ("predict", "move", "integrity"):
                wrong.setdefault(entry["variant"], f"{entry['case']}: {entry['text'].strip()}")
        results = grading.Results(record)
        if not results.finished:
            text = results.problem or f"its cases did not come to an end on the GPU{': ' + ended.cause if ended.cause else ''}"
            for variant in self.judge.plans[lab].variants:
                wrong.setdefault(variant, text)
        return wrong

    def measure(self, lab: str, wanted: list[Item], rung: bytes, uid: int | None) -> tuple[dict[str, dict], str]:
        """Variant -> its line of the result of build/cpu/speed; and why there is none, if the machine is to blame."""
        folder = self.folder(rung)
        solution = self.judge.course / self.gpu.solutions / lab / Path(self.judge.labs[lab]).with_suffix(".so")
        memory = min(MEMORY_MIB, self.gpu.memory_mib // 6) if self.gpu.memory_mib else MEMORY_MIB
        plan = {
            "solution": {"worker": str(self.judge.course / self.gpu.worker), "rung": str(solution)},
            "submission": {"worker": self.boxed_worker(folder, uid), "rung": str(folder / "rung/gpu.so")},
            "memory_mib": memory, "samples": SAMPLES, "shapes": self.sizes.shapes(self.judge.secret, lab),
            "variants": [dict(zip(("name", "dtype"), item.variant.rsplit(" ", 1))) for item in wanted],
        }
        environment = {name: os.environ[name] for name in ("LD_LIBRARY_PATH",) if name in os.environ}
        try:
            ended = self.judge.box.run(sandbox.ends_with_this_process([str(self.judge.course / "build/cpu/speed")]), self.limits(), json.dumps(plan).encode(),
                                {"PATH": "/usr/bin:/bin", "LC_ALL": "C", **environment}, str(self.judge.course))
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        try:
            lines = json.loads(ended.stdout)["variants"]
        except (ValueError, KeyError, TypeError):
            return {}, ended.cause or ended.stderr.decode(errors="replace").strip().split("\n")[-1][-300:] or f"exit status {ended.status}"
        return {f"{line['name']} {line['dtype']}": line for line in lines}, ""

    # ---- Points ----------------------------------------------------------------------------------

    def judge_speed(self, ready: list[Item], measured: dict[str, dict], points: Points, problem: str) -> None:
        ours = [shape["solution_seconds"] / shape["bytes"] for line in measured.values() for shape in line["shapes"]]
        for item in ready:
            line = measured.get(item.variant)
            if not line and problem == "time":  # ours takes seconds in the same program
                item.fails("its speed could not be measured within the time limit: it takes far longer than our solution")
            elif not line:
                item.reason = f"could not be measured here: {problem or 'nothing came back'}"
            elif line["problem"] and line["blame"] == "grader":
                item.reason = line["problem"]
            elif line["problem"]:
                item.fails(line["problem"])
            else:
                self.judge_variant(item, line["shapes"], min(ours), points)

    def judge_variant(self, item: Item, shapes: list[dict], fastest: float, points: Points) -> None:
        """shapes: as measured. fastest: seconds per byte of the solution's fastest variant of those measured."""
        speed = points.speed
        ratio = min(shape["solution_seconds"] / shape["seconds"] for shape in shapes)
        item.details = "\n".join(self.told(number, shape) for number, shape in enumerate(shapes))
        for shape in shapes:
            gbs = shape["bytes"] / shape["seconds"] / 1e9
            roof = max(self.gpu.roofs.values()) if shape["k"] else self.gpu.roofs["copy_gbs"]
            why = ""
            if gbs > speed["above_roof"] * roof:
                why = f"{gbs:.0f} GB/s are more than this GPU's memory gives ({roof:.0f} GB/s)"
            elif shape["seconds"] * speed["above_solution"] < fastest * shape["bytes"]:
                why = f"more than {speed['above_solution']:g} times as fast as the fastest variant of our solution"
            elif shape["aside_seconds"] > PREPARES_SLOWER * shape["solution_aside_seconds"] + 0.01:
                why = "its process is busy while its inputs are made or its results are fetched"
            if why:
                item.verdict, item.points, item.waiting, item.reason = PERSON, 0.0, item.out_of, f"a person must look: {why}"
                return
        share = (ratio - speed["none"]) / (speed["full"] - speed["none"])
        reason = f"{ratio:.2f} of our solution's speed"
        if ratio >= speed["full"]:
            item.passes()
            item.reason = reason
        else:
            details = item.details
            item.fails(f"{reason}; points begin at {speed['none']:g} and are full at {speed['full']:g}", "", details)
            item.points = round(item.out_of * max(0.0, share), 2)

    @staticmethod
    def told(number: int, shape: dict) -> str:
        name = "a hidden shape near it" if number else f"{shape['rows']} x {shape['cols']}" + (f", K {shape['k']}" if shape["k"] else "")
        times = f"{shape['seconds'] * 1e6:.4g} us, our solution {shape['solution_seconds'] * 1e6:.4g} us"
        text = f"{name}: {times}, {shape['bytes'] / shape['seconds'] / 1e9:.0f} GB/s"
        return text + (f" (the GPU had lowered its clock: {shape['throttled']})" if shape["throttled"] else "")
