"""The project's own files, for the rules about them."""

import ast
import re
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


def trees(*folders: str, mentioning: str = "") -> Iterator[tuple[str, ast.Module]]:
    """Each Python file's name and syntax tree; only of files whose text has a match of `mentioning`, which is quicker."""
    for path in files(*folders):
        source = path.read_text()
        if re.search(mentioning, source):
            yield name(path), ast.parse(source)


def calls(tree: ast.Module) -> Iterator[tuple[str, ast.Call]]:
    """Each call in a file, by the last name of what is called."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            called = node.func
            yield called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", ""), node
