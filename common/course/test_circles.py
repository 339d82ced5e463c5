"""No circles: a module of a folder needs none that needs it, so that each can be read, tested and changed by itself."""

import ast
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def imports(text: str, names: set[str]) -> set[str]:
    """Which of these modules a module imports, in a function too; what only a type checker sees does not count."""

    def of(node: ast.AST) -> set[str]:
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            return set()
        if isinstance(node, ast.Import):
            found = {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found = {node.module.partition(".")[0]} if node.module else {alias.name for alias in node.names}
        else:
            found = set()
        return found.union(*(of(child) for child in ast.iter_child_nodes(node)))

    return of(ast.parse(text)) & names


def circle(needs: dict[str, set[str]]) -> list[str]:
    """One circle, the module that closes it last; none: an empty list."""
    done: set[str] = set()

    def search(name: str, path: list[str]) -> list[str]:
        if name in path:
            return [*path[path.index(name):], name]
        if name not in done:
            for other in sorted(needs[name]):
                if found := search(other, [*path, name]):
                    return found
            done.add(name)
        return []

    return next(filter(None, (search(name, []) for name in sorted(needs))), [])


class Circles(unittest.TestCase):
    def test_modules(self):
        folders = {path.parent for path in ROOT.glob("common/**/*.py")} | {ROOT / "plots", ROOT / "theory"}
        self.assertGreater(len(folders), 10)
        for folder in sorted(folders):
            names = {path.stem for path in folder.glob("*.py")} - {"__init__"}
            needs = {name: imports((folder / f"{name}.py").read_text(encoding="utf-8"), names) for name in names}
            with self.subTest(str(folder.relative_to(ROOT))):
                self.assertEqual(circle(needs), [])

    def test_a_circle_is_found(self):
        self.assertEqual(circle({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": set()}), ["b", "c", "b"])
        self.assertEqual(circle({"a": {"b", "c"}, "b": {"c"}, "c": set()}), [])
        self.assertEqual(imports("import a.b\ndef f():\n    from . import c\n    from d import e\nif TYPE_CHECKING:\n    import g\n", set("abcdeg")), {"a", "c", "d"})


if __name__ == "__main__":
    unittest.main()
