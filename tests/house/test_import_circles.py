"""No module of the program imports itself through others, imports for type checkers included."""

import ast
from graphlib import CycleError, TopologicalSorter

from tests.house.sources import PROGRAMS, trees


def test_there_is_no_circle_of_imports() -> None:
    graph = import_graph()
    assert len(graph) > 300
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        raise AssertionError(" → ".join(error.args[1])) from None


def import_graph() -> dict[str, set[str]]:
    """The modules of the program, each with those that it imports anywhere in its code."""
    modules = {
        path.removesuffix(".py").removesuffix("/__init__").replace("/", "."): tree for path, tree in trees(*PROGRAMS)
    }
    return {name: imported(tree, modules) - {name} for name, tree in modules.items()}


def imported(tree: ast.AST, modules: dict[str, ast.AST]) -> set[str]:
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            below = {f"{node.module}.{alias.name}" for alias in node.names}
            names |= (below & modules.keys()) or {node.module}
    return names & modules.keys()
