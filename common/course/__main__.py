"""For those who are no Python: the labs' facts as bash, as make and as C++ have them, and requests for the labs' tests.

    PYTHONPATH=common python3 -m course shell        arrays for common/commands/common.sh
    PYTHONPATH=common python3 -m course make         for common/build/rules.mk: which lab has which operator
    PYTHONPATH=common python3 -m course header LAB   for labs/LAB/test.cpp: LAB_FACTS
    PYTHONPATH=common python3 -m course request NAME=TEXT ... NAME:=JSON ...   for build/cpu/tests/LAB (common/testing/request.h)
"""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Sequence

from . import labs, runs


def shell() -> str:
    """lab_names, and by a lab's name: lab_kernel, lab_operator, lab_next, lab_quadratic, lab_wrong. program_names, which are no
    rungs, and by a program's name: lab_kernel, lab_next, program_variants. shape_cols, the widths that are measured, and by a width:
    shape_cuda and shape_cpu, "ROWS QUADRATIC"."""
    found, programs = labs.load(), labs.programs()
    arrays = {"lab_kernel": ("kernel", [*found, *programs]), "lab_operator": ("operator", found), "lab_next": ("next", [*found, *programs]),
              "lab_quadratic": ("quadratic", found), "lab_wrong": ("wrong", found), "program_variants": ("variants", programs)}

    def word(fact: str | Sequence[str]) -> str:
        return shlex.quote(fact if isinstance(fact, str) else " ".join(fact))

    lines = [f"lab_names=({' '.join(lab.name for lab in found)})", f"program_names=({' '.join(each.name for each in programs)})"]
    for name, (fact, of) in arrays.items():
        lines.append(f"declare -A {name}=({' '.join(f'[{each.name}]={word(getattr(each, fact))}' for each in of)})")
    shapes = labs.shapes()
    lines.append(f"shape_cols=({' '.join(str(shape.cols) for shape in shapes)})")
    for backend, where in (("cuda", "gpu"), ("cpu", "cpu")):
        rows = [(shape.cols, getattr(shape, where)) for shape in shapes]
        lines.append(f"declare -A shape_{backend}=({' '.join(f'[{cols}]={word((str(each.rows), str(each.quadratic)))}' for cols, each in rows)})")
    return "\n".join(lines)


def make() -> str:
    found = labs.load()
    operators = {lab.operator: [each.name for each in found if each.operator == lab.operator] for lab in found}
    return "\n".join([f"labs := {' '.join(lab.name for lab in found)}",
                      f"rungs_in_parts := {' '.join(str(path.with_suffix('')) for lab in found if lab.in_parts for path in (lab.starter, lab.solution))}",
                      *(f"solution_of_{lab.name} := {lab.solution.with_suffix('')}" for lab in found),
                      *(f"labs_of_{operator} := {' '.join(names)}" for operator, names in operators.items())])


def header(name: str) -> str:
    """The first members of testing_::Lab."""
    lab = labs.lab(name)
    rows = [f'{{"{variant.name}", rung::Dtype::{dtype}, Width::{variant.width}, Cost::{variant.cost}, {variant.most_k}}}'
            for variant in lab.variants for dtype in variant.types]
    table, wrong = ", \\\n   ".join(rows), ", ".join(f'"{each}"' for each in lab.wrong)
    return f'// Made from {labs.MANIFEST}.\n#define LAB_FACTS "{lab.name}", "{lab.kernel}", rung::Op::{lab.operator}, \\\n  {{{table}}}, \\\n  {{{wrong}}}'


def main(argv: list[str]) -> int:
    try:
        if argv == ["shell"]:
            print(shell())
        elif argv == ["make"]:
            print(make())
        elif len(argv) == 2 and argv[0] == "header":
            print(header(argv[1]))
        elif argv and argv[0] == "request":
            print(json.dumps(runs.request_of(argv[1:])))
        else:
            print(__doc__, file=sys.stderr)
            return 2
    except (labs.Malformed, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
