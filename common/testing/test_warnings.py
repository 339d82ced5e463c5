"""Every "beware" and "must" of handouts, hints and starters is tested: the list below says by what. A line with such a word that no
entry fits, an entry that fits no line, and a test that is not there fail. Under a heading with such a word each item is a warning."""

from __future__ import annotations

import fnmatch
import re
import unittest
from pathlib import Path

import broken
import broken_program
from course import labs

ROOT = Path(__file__).resolve().parents[2]
WORDS = re.compile(r"\bbeware\b|\bmust\b|\bcareful\b(?!\.h)|\bpitfalls?\b|\boverflows?\b|\bexceed\b", re.IGNORECASE)

# (labs, words of the line or of those beside it, what fails where the rule is broken): wrong kernels of the shelf, wrong programs
# of lab 09, "case NAME" of cases.cpp, "predict NAME" of the lab's test.cpp; or "-" where nothing is asked of the student, and why.
RULES = [
    ("*", r"[Aa]ll (threads|32 lanes|lanes of a warp|lanes)\b.{0,30}\bmust\s+(//\s*)?call it", ["lab02_smem/barrier_for_some", "lab03_online/shuffle_in_a_branch",
                                                                                    "lab05_topk/insertion_in_a_branch"]),
    ("lab01", r"explains why it overflows", ["lab01_naive/no_max"]),
    ("lab01", r"expf overflows and inf / inf", ["lab01_naive/no_max", "lab01_naive/max_from_zero"]),
    ("lab01", r"compute the same function and must pass the same tests", ["-", "says how the course goes"]),
    ("lab01", r"must the remaining 168 threads do", ["lab01_naive/no_bounds_check"]),
    ("lab01", r"What must the threads do that have no element or row", ["lab01_naive/no_bounds_check"]),
    ("lab02", r"which result of the whole block must be known before it begins", ["lab02_smem/tree_without_barrier"]),
    ("lab02", r"must be asked before a launch with more than 48 KB", ["lab02_smem/refuses_wide_rows", "lab02_smem/no_room_for_scratch"]),
    ("lab02", r"Between\s+(// )?which of these steps must the whole block wait", ["lab02_smem/tree_without_barrier"]),
    ("lab02", r"limit must be raised", ["lab02_smem/refuses_wide_rows"]),
    ("lab03", r"limit must be raised", ["lab03_online/shared_memory_not_allowed"]),
    ("lab03", r"maximum must not start at -infinity", ["lab03_online/max_from_infinity"]),
    ("lab03", r"least that DRAM must move", ["predict online_distinct_bytes"]),
    ("lab03", r"must refuse a row that does not fit", ["lab03_online/shared_memory_not_allowed"]),
    ("lab03", r"must write to it, and what must happen", ["lab03_online/no_barrier_after_warps", "lab03_online/only_lane_0_has_it"]),
    ("lab03", r"masked element\), which must not give NaN", ["lab03_online/max_from_infinity", "lab03_online/infinity_not_spread"]),
    ("lab04", r"bytes in flight|B x L bytes must be in", ["-", "explains Little's law"]),
    ("lab04", r"Which property must the two matrices have", ["lab04_f16x8/misaligned_rows"]),
    ("lab04", r"address must be a multiple of the bytes moved", ["lab04_f16x8/misaligned_rows"]),
    ("lab04", r"A softmax must read each element once", ["-", "says where the course goes"]),
    ("lab05", r"columns must be exactly right", ["lab05_topk/ties_in_the_wrong_order", "lab05_topk/merge_not_sorted"]),
    ("lab05", r"lower half must be larger for the lower column", ["lab05_topk/ties_in_the_wrong_order"]),
    ("lab05", r"beware of -0\.0f and 0\.0f", ["lab05_topk/zeros_not_equal", "case signed_zeros"]),
    ("lab05", r"how must the comparison be written", ["lab05_topk/threshold_too_high"]),
    ("lab05", r"All lanes\s+// must return together", ["lab05_topk/insertion_in_a_branch"]),
    ("lab06b", r"Everything else must be counted too", ["-", "explains the cost of the arithmetic"]),
    ("lab06b", r"at least K candidates must be at or above", ["lab06b_topk/guess_not_checked"]),
    ("lab06b", r"L1 must have room", ["-", "explains the size of the lists"]),
    ("lab06b", r"columns must be exactly right", ["lab06b_topk/ties_in_the_wrong_order", "lab06b_topk/unsorted"]),
    ("lab06b", r"What must the function write, and where", ["lab06b_topk/slot_without_atomic", "lab06b_topk/count_not_cleared"]),
    ("lab06b", r"All threads must make the same decision", ["lab06b_topk/barrier_in_a_branch"]),
    ("lab06b", r"overflow\.\)", ["-", "explains the given code's order of operations"]),
    ("lab06b", r"a barrier must follow before they do so again", ["-", "given code, outside of the TODOs"]),
    ("lab06b", r"All threads(\s+(//\s*)?must call it| of the block must call those)", ["lab06b_topk/barrier_in_a_branch"]),
    ("lab06", r"All .{0,60}\s*(//\s*)?must call it", ["lab06_limit/fold_of_the_whole_warp", "lab06_limit/no_barrier_after_warps"]),
    ("lab06", r"pairs must be stored in global memory", ["-", "given code, outside of the TODOs"]),
    ("lab06", r"Nothing here may need the value", ["-", "about speed: the judge measures it on a GPU"]),
    ("lab06", r"two blocks must be resident", ["-", "about speed: given code, outside of the TODOs"]),
    ("lab08", r"warps must add up those floats", ["lab08_rms_norm/no_barrier", "lab08_rms_norm/last_warp_left_out"]),
    ("lab08*", r"may exceed 2\^31", ["lab08_rms_norm/offset_overflows", "lab08b_cross_entropy/offset_overflows",
                                      "lab08c_layer_norm/offset_overflows"]),
    ("lab08c", r"variance must stay exact when the mean is large", ["lab08c_layer_norm/squares_minus_square", "case plus_1e4"]),
    ("lab07", r"so all blocks must be resident at once", ["lab07_fusion/more_blocks_than_sms"]),
    ("lab07", r"what must be true of all of them, if they wait", ["lab07_fusion/more_blocks_than_sms"]),
    ("lab09", r"every device must have the K largest", ["lab09_sharded/no_offset"]),
    ("lab09", r"What must happen to a sum when its maximum is not the larger one", ["lab09_sharded/sums_not_rescaled"]),
    ("lab09", r"A shard may have fewer than K columns, or none", ["lab09_sharded/k_of_a_narrow_shard", "lab09_sharded/equal_shards"]),
    ("lab09", r"A row may be masked on one device, or on all", ["lab09_sharded/masked_is_minus_infinity"]),
    ("lab09", r"results must still be written", ["lab09_sharded/nothing_with_one_device"]),
    ("lab09", r"the lower column of the whole row comes first", ["lab09_sharded/higher_column_first"]),
    ("lab09", r"a fast device begins the next call", ["lab09_sharded/one_buffer", "lab09_sharded/same_round_again"]),
    ("lab09", r"Two calls in a row must not use the same half", ["lab09_sharded/one_buffer"]),
    ("lab09", r"A flag must not be seen before its message", ["lab09_sharded/flag_without_release", "lab09_sharded/flag_for_its_own_device"]),
    ("lab09", r"What must come between the last store of another thread and the flag", ["lab09_sharded/flag_without_barrier"]),
    ("lab09", r"All devices call the same collectives", ["lab09_sharded/not_all_ranks_call"]),
]


def texts() -> list[Path]:
    starters = [ROOT / lab.starter for lab in (*labs.load(), *labs.programs())]
    return [path for starter in starters for path in (starter.with_name("README.md"), starter.with_name("hints.md"), starter)]


def warnings() -> list[tuple[str, str, str]]:
    """(lab, where, the line with those beside it)"""
    found = []
    for path in texts():
        lines = path.read_text(encoding="utf-8").splitlines()
        listed = False  # under a heading that warns
        for i, line in enumerate(lines):
            if line.startswith("#") and path.suffix == ".md":
                listed = bool(WORDS.search(line))
                continue
            item = listed and line.startswith("- ")
            if item or WORDS.search(line):
                beside = " ".join(lines[max(0, i - (not item)):i + 2 - (item and lines[i + 1].startswith("- "))])
                found.append((path.parent.name.partition("_")[0], f"{path.relative_to(ROOT)}:{i + 1}", re.sub(r"\s+", " ", beside)))
    return found


class Warnings(unittest.TestCase):
    def test_each_has_a_test(self):
        for lab, where, text in warnings():
            fits = any(fnmatch.fnmatch(lab, labs) and re.search(words, text) for labs, words, _ in RULES)
            self.assertTrue(fits, f"{where}: what tests this? An entry of RULES in {Path(__file__).name} must say so:\n{text}")

    def test_no_entry_is_left_over(self):
        found = warnings()
        for labs, words, _ in RULES:
            fits = any(fnmatch.fnmatch(lab, labs) and re.search(words, text) for lab, _, text in found)
            self.assertTrue(fits, f"no line of {labs} holds {words!r}")

    def test_the_tests_are_there(self):
        cases = "".join(path.read_text() for path in sorted(ROOT.glob("common/ops/*/*.cpp")))
        for labs, words, tests in RULES:
            if tests[0] == "-":
                self.assertTrue(len(tests) == 2 and tests[1], f"{words!r}: why is nothing tested?")
                continue
            for test in tests:
                if test.startswith("case "):
                    self.assertIn(f'"{test[5:]}"', cases)
                elif test.startswith("predict "):
                    self.assertIn(f'"{test[8:]}"', (next(ROOT.glob(f"labs/{labs}_*")) / "test.cpp").read_text())
                else:
                    lab, kernel = test.split("/")
                    known = broken_program.load() if lab == broken_program.LAB.parent.name else broken.load(lab, ROOT)
                    self.assertIn(kernel, known, f"{words!r}: there is no wrong kernel {test}")


if __name__ == "__main__":
    unittest.main()
