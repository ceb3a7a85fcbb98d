"""The project's own files, for the rules about them."""

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = ("app", "mock_rail")
FOLDERS = (*PROGRAMS, "tests", "benchmarks")


def files(*folders: str, suffix: str = ".py") -> list[Path]:
    """The files of some folders, whole trees of them."""
    found = [path for folder in folders for path in sorted((ROOT / folder).rglob(f"*{suffix}"))]
    assert found, folders
    return found


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def trees(*folders: str) -> Iterator[tuple[str, ast.Module]]:
    """Each Python file's name and syntax tree."""
    for path in files(*folders):
        yield name(path), ast.parse(path.read_text())


def calls(tree: ast.Module) -> Iterator[tuple[str, ast.Call]]:
    """Each call in a file, by the last name of what is called."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            called = node.func
            yield called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", ""), node
