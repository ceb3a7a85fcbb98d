"""Names and sentences are plain (tests/house/words.py)."""

import ast
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.house import words
from tests.house.sources import FOLDERS, PROGRAMS, ROOT, files, name, trees

OWN = {"tests/house/words.py", "tests/house/test_words.py"}
PAGES = [path for suffix in (".html", ".txt") for path in files("app/templates", suffix=suffix)]
DOCUMENTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md", *files("docs", suffix=".md")]


def text_of(path: Path) -> Iterator[tuple[int, str]]:
    """The comments and strings of a Python file, by line; of a file without a refused word none, which is quicker."""
    if not words.TEXT.search(path.read_text()):
        return
    with path.open("rb") as file:
        for token in tokenize.tokenize(file.readline):
            if token.type in (tokenize.COMMENT, tokenize.STRING):
                yield token.start[0], token.string


@pytest.mark.parametrize("folder", FOLDERS)
def test_comments_and_strings_are_plain(folder: str) -> None:
    unclear = [
        f"{name(path)}:{line}: {match[0]}"
        for path in files(folder)
        if name(path) not in OWN
        for line, text in text_of(path)
        for match in words.TEXT.finditer(text)
    ]
    assert unclear == []


@pytest.mark.parametrize("path", [*PAGES, *DOCUMENTS], ids=name)
def test_pages_and_documents_are_plain(path: Path) -> None:
    unclear = [
        f"{number}: {match[0]}"
        for number, line in enumerate(path.read_text().splitlines(), 1)
        for match in words.TEXT.finditer(line)
    ]
    assert unclear == []


def test_modules_are_named_by_a_topic() -> None:
    assert [name(path) for path in files(*PROGRAMS) if path.stem in words.MODULES] == []


def test_functions_say_what_they_do() -> None:
    unclear = [
        f"{path}:{node.lineno} {node.name}"
        for path, tree in trees(*PROGRAMS, mentioning=rf"def _*({'|'.join(words.FUNCTIONS)})_*\b")
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef) and node.name.strip("_") in words.FUNCTIONS
    ]
    assert unclear == []


def test_variables_are_named_after_what_they_hold() -> None:
    unclear = {
        f"{path}:{node.lineno} {bound}"
        for path, tree in trees(*PROGRAMS, mentioning=rf"\b({'|'.join(words.LOCALS)})\b")
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef)
        for node in ast.walk(function)
        if (bound := _bound(node)) in words.LOCALS
    }
    assert unclear == set()


def _bound(node: ast.AST) -> str:
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        return node.id
    return node.arg if isinstance(node, ast.arg) else ""


def test_bold_terms_of_the_architecture_page_are_in_the_glossary() -> None:
    glossary = {
        term.strip()
        for row in re.findall(r"^\| ([^|]+) \|", (ROOT / "docs" / "glossary.md").read_text(), re.M)
        for term in row.split(",")
    }
    used = set(re.findall(r"\*\*([a-z][a-z -]+)\*\*", (ROOT / "docs" / "architecture.md").read_text()))
    assert used - glossary == set()
