#!/usr/bin/env python3
"""Measures this repository beside its peers on a GPU and writes one JSON file:
    measure.py --output FILE [--ops softmax,topk,...] [--dtypes f32,f16] [--shapes 4096x4096,...] [--values normal,masked,...]
               [--variants lab04.f16x8,...] [--peers none]
One process and one timer for everybody; each is checked first, in the configuration that is timed."""

from __future__ import annotations

import argparse
import datetime
import gc
import itertools
import json
import os
import sys
import time
import warnings
from pathlib import Path

from shapes import FLOOR, OURS, SELECTION, Case, UserError, cases

PARTS = ("ops", "dtypes", "shapes", "values", "variants", "peers")  # as the command's options are called

os.environ.pop("TRITON_INTERPRET", None)
try:
    import torch
except ImportError:
    torch = None


def problem_of(case: Case, name: str, x, result) -> str:
    import check
    import floors
    from contenders import bias_of, target_of, weight_of

    if name == FLOOR[case.op]:
        return floors.problem(name, x, result)
    if name in SELECTION:
        return check.selection_problem(x, result, case.k)
    if case.op == "softmax":
        return check.softmax_problem(x, result)
    if case.op == "rms_norm":
        return check.rms_norm_problem(x, weight_of(case.cols, x.dtype), result)
    if case.op == "layer_norm":
        return check.layer_norm_problem(x, weight_of(case.cols, x.dtype), bias_of(case.cols, x.dtype), result)
    if case.op.startswith("cross_entropy"):
        both = result if isinstance(result, tuple) else (result,)
        # PyTorch's own takes the gradient from the logarithm, rounded.
        return check.cross_entropy_problem(x, target_of(case.rows, case.cols, case.values), *both, scale=1 / case.rows, by_logsumexp=name == "torch")
    return check.topk_problem(x, *result, case.k, by_logsumexp="logsumexp" in name, lower_first=name == OURS or name.startswith("lab"))


def sentence(error: BaseException) -> str:
    return (f"{type(error).__name__}: " + " ".join(str(error).split()))[:200]


def prepare(case: Case, buffers, options: argparse.Namespace, floor, problems: dict[str, str]) -> dict:
    """Everybody who gets the case right, in a graph; the floor last."""
    from contenders import contenders
    from timing import capture

    ready = {}
    names = tuple(name for name in options.variants.split(",") if name)
    everybody = contenders(case, buffers.inputs[0], buffers.outputs[0], names, options.peers)
    for name, function in itertools.chain(everybody, [(FLOOR[case.op], floor)]):  # each is made when it is its turn: compile() starts afresh
        try:
            timed = capture(function, buffers)
        except Exception as error:  # a peer that cannot do it must not end the run
            problems[name] = sentence(error)
            torch.cuda.synchronize()  # raises again if the device is lost, and then nothing can go on
            continue
        buffers.poison()
        timed.graph.replay()
        torch.cuda.synchronize()
        wrong = [problem for i in {0, len(buffers.inputs) - 1}
                 for problem in [problem_of(case, name, buffers.inputs[i], timed.result(i))] if problem]
        if wrong:
            problems[name] = "wrong: " + wrong[0]
        else:
            ready[name] = timed
    return ready


def measure(case: Case, options: argparse.Namespace, watch, seed: int) -> dict:
    import floors
    from clocks import retry
    from timing import Buffers, interleaved, summary, warm_up

    buffers, problems = Buffers(case, seed), {}
    floor, chosen = floors.fastest(case, buffers)
    ready = prepare(case, buffers, options, floor, problems)
    timed = list(ready.values())
    rounds = warm_up(timed)
    watch.clocks.clear()
    seconds, discarded, reasons = retry(lambda: interleaved(timed, buffers.calls, rounds), watch)
    entry = {**case._asdict(), "sets": len(buffers.inputs), "calls": buffers.calls, "rounds": rounds,
             "seconds": {name: summary(times) for name, times in zip(ready, seconds)}, "floor": chosen}
    if watch.clocks:
        entry["sm_clock_mhz"] = [min(watch.clocks), max(watch.clocks)]
    if discarded:
        entry["throttled"] = {"attempts_thrown_away": discarded, "why": sorted(reasons)}
    if problems:
        entry["not_measured"] = problems
    return entry


def variant_names() -> dict[str, str]:
    """Which variant "ladder" stands for, by operation and dtype."""
    from contenders import ladder

    names = {}
    for op in ("softmax", "softmax_topk", "rms_norm", "layer_norm", "cross_entropy"):
        for dtype in ("float32", "float16", "bfloat16"):
            try:
                names[f"{op.removeprefix('softmax_')} {dtype}"] = ladder.choice.resolve(None, op, dtype, True).name
            except TypeError:
                continue
    return names


def versions() -> dict[str, str]:
    import contenders

    found = {"torch": torch.__version__, "cudnn": str(torch.backends.cudnn.version())}
    for name in ("triton", "flashinfer"):
        module = contenders.optional(name, lambda: __import__(name))
        if module:
            found[name] = getattr(module, "__version__", "?")
    return found


def clock_watch():
    from clocks import Nvml, Watch

    properties = torch.cuda.get_device_properties(0)
    bus = f"{properties.pci_domain_id:08x}:{properties.pci_bus_id:02x}:{properties.pci_device_id:02x}.0"
    try:
        return Watch(Nvml(bus))
    except (OSError, AttributeError) as error:
        print(f"the clocks are not watched: {error}", file=sys.stderr)
        return Watch(None)


def show(entry: dict) -> None:
    times = "  ".join(f"{name} {1e6 * each['median']:.4g}" for name, each in entry["seconds"].items())
    print(f"{Case(*(entry[field] for field in Case._fields)).name}, us: {times} ({entry['floor']['way']})", flush=True)
    for name, why in entry.get("not_measured", {}).items():
        print(f"    {name} is not measured: {why}", flush=True)


def run(options: argparse.Namespace) -> dict:
    if torch is None:
        raise UserError("PyTorch is not installed: the peers need it, with CUDA; see https://pytorch.org")
    if not torch.cuda.is_available():
        raise UserError("PyTorch finds no CUDA device, and peers are measured on one")
    wanted = cases(options.ops, options.dtypes, options.shapes, options.values)
    if not wanted:
        raise UserError("no case is left: each operation has shapes and values of its own (common/peers/shapes.py)")
    if options.peers not in ("", "none"):
        raise UserError(f"PEERS={options.peers}: it can be none, which leaves all out but this repository and the floor")
    warnings.filterwarnings("ignore", message="(?s).*Online softmax is disabled.*")
    torch.set_grad_enabled(False)
    import contenders

    parts = "".join(f" {name.upper()}={getattr(options, name)}" for name in PARTS if getattr(options, name))
    seed = options.seed if options.seed is not None else int.from_bytes(os.urandom(4), "little")
    result = {"machine": torch.cuda.get_device_name(0), "date": datetime.date.today().isoformat(), "command": "make peers" + parts,
              "versions": versions(), "ladder": variant_names(), "seed": seed, "missing": contenders.missing, "cases": []}
    watch = clock_watch()
    for number, case in enumerate(wanted):
        begun = time.monotonic()
        entry = measure(case, options, watch, seed + number)
        result["cases"].append(entry)
        print(f"[{number + 1}/{len(wanted)}, {time.monotonic() - begun:.1f} s] ", end="")
        show(entry)
        Path(options.output).write_text(json.dumps(result, indent=1) + "\n")  # what there is, if the run is cut short
        gc.collect()
        torch.cuda.empty_cache()
    return result


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(description="Measure this repository beside its peers.")
    parser.add_argument("--output", required=True)
    parser.add_argument("--seed", type=int)
    for name in PARTS:
        parser.add_argument(f"--{name}", default="")
    options = parser.parse_args(argv)
    try:
        run(options)
    except UserError as error:
        print(f"peers: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
