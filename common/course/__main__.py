"""For those who are no Python: the labs' facts as bash, as make and as C++ have them.

    PYTHONPATH=common python3 -m course shell        arrays for common/commands/common.sh
    PYTHONPATH=common python3 -m course make         for common/build/rules.mk: which lab has which operator
    PYTHONPATH=common python3 -m course header LAB   for labs/LAB/test.cpp: LAB_FACTS
"""

from __future__ import annotations

import shlex
import sys

from . import labs


def shell() -> str:
    """lab_names, and by a lab's name: lab_kernel, lab_operator, lab_next, lab_quadratic, lab_wrong."""
    found = labs.load()
    arrays = {"kernel": lambda lab: lab.kernel, "operator": lambda lab: lab.operator, "next": lambda lab: lab.next,
              "quadratic": lambda lab: " ".join(lab.quadratic), "wrong": lambda lab: " ".join(lab.wrong)}
    lines = [f"lab_names=({' '.join(lab.name for lab in found)})"]
    for name, fact in arrays.items():
        lines.append(f"declare -A lab_{name}=({' '.join(f'[{lab.name}]={shlex.quote(fact(lab))}' for lab in found)})")
    return "\n".join(lines)


def make() -> str:
    found = labs.load()
    operators = {lab.operator: [each.name for each in found if each.operator == lab.operator] for lab in found}
    return "\n".join([f"labs := {' '.join(lab.name for lab in found)}",
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
        else:
            print(__doc__, file=sys.stderr)
            return 2
    except labs.Malformed as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
