"""The package as its reader finds it."""

from __future__ import annotations

import ast
import inspect
import unittest
from pathlib import Path

import signsealship


def undocumented(file: Path) -> list[str]:
    """Classes, their fields and their public methods that have no docstring."""
    found = []
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if not isinstance(node, ast.ClassDef):
            continue
        if not node.name.startswith("_") and ast.get_docstring(node) is None:
            found.append(node.name)
        for each, after in zip(node.body, [*node.body[1:], None], strict=True):
            if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name):
                if not (isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant)):
                    found.append(f"{node.name}.{each.target.id}")
            elif isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef)) and not each.name.startswith("_"):
                if ast.get_docstring(each) is None and not node.name.startswith("_"):
                    found.append(f"{node.name}.{each.name}")
    return found


class PackageTest(unittest.TestCase):
    def test_every_public_name_has_its_words(self) -> None:
        folder = Path(inspect.getfile(signsealship)).parent
        files = [*(folder / "models").glob("*.py"), *(folder / "_async").glob("*.py"), *folder.glob("_e*.py")]
        self.assertGreater(len(files), 10)
        self.assertEqual([name for file in files for name in undocumented(file)], [])

    def test_exports_what_it_names_and_is_typed(self) -> None:
        for name in signsealship.__all__:
            self.assertTrue(hasattr(signsealship, name), name)
        self.assertTrue((Path(inspect.getfile(signsealship)).parent / "py.typed").exists())


if __name__ == "__main__":
    unittest.main()
