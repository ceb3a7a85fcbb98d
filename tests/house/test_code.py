"""How the code is written."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from tests.house.sources import FOLDERS, PROGRAMS, ROOT, calls, files, name, trees

SQL_STATEMENT = re.compile(r"(^|\n|\()\s*(SELECT\b|INSERT INTO |UPDATE \w|DELETE FROM |WITH \w+ )")
# core, doctor, embedded and web have statements of their own tables and of the server.
SQL_FOLDERS = ("app/core/", "app/doctor/", "app/embedded/", "app/web/")
SQL_FILES = (
    "app/allocations/queries.py",  # one expression for the audience of a campaign
    "app/campaigns/queries.py",  # two columns of an ORM query
    "app/events/availability.py",  # the counters of ticket types: rules and their SQL together
    "app/events/ticket_holders.py",  # expressions of a generated column
    "app/inventory/export.py",  # a statement made from the list of fields
    "app/inventory/reports/definitions.py",  # as above
    "app/inventory/reports/report_queries.py",  # as above
    "app/ledger/commands.py",  # a limit around a statement
)
UNFINISHED = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b|pytest\.mark\.(skip\b|xfail)|pytest\.(skip|xfail)\(")


def test_imports_go_downwards_only() -> None:
    """The contracts stand in setup.cfg."""
    linter = Path(sys.executable).with_name("lint-imports")
    run = subprocess.run([linter, "--no-cache"], cwd=ROOT, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout[-3000:] + run.stderr


def test_the_program_commits_in_one_place() -> None:
    found = [
        path for path, tree in trees("app", mentioning="commit") for called, _ in calls(tree) if called == "commit"
    ]
    assert found == ["app/core/transaction.py"]


def test_no_code_is_unfinished_and_no_test_is_skipped() -> None:
    own = name(Path(__file__))
    found = [name(path) for path in files(*FOLDERS) if UNFINISHED.search(path.read_text()) and name(path) != own]
    assert found == []


def test_a_test_that_cannot_run_somewhere_says_why() -> None:
    for path, tree in trees("tests", mentioning="skipif"):
        for called, call in calls(tree):
            if called == "skipif":
                assert any(keyword.arg == "reason" for keyword in call.keywords), f"{path}:{call.lineno}"


def test_the_program_prints_nothing() -> None:
    found = [
        f"{path}:{call.lineno}"
        for path, tree in trees(*PROGRAMS, mentioning="print")
        for called, call in calls(tree)
        if called == "print"
    ]
    assert found == []


def test_every_module_says_what_it_is() -> None:
    without_docstring = r'\A(?!""")'
    silent = [
        path
        for path, tree in trees(*PROGRAMS, "tests", mentioning=without_docstring)
        if tree.body and not ast.get_docstring(tree)
    ]
    assert silent == []


def test_no_name_says_nothing() -> None:
    empty = re.compile(r"(?i)^(utils?|helpers?|common|misc|managers?|base|tools?)(\.py)?$")
    found = [name(path) for path in files(*FOLDERS) if any(map(empty.match, path.relative_to(ROOT).parts))]
    assert found == []


def test_the_clock_of_the_process_is_compared_with_nothing() -> None:
    """Moments are compared by the clock of the database. These modules show the time, or make demo data."""
    allowed = {
        "app/web/envelope.py",
        "app/clients/dev_mailbox.py",
        "app/clients/mime.py",
        "app/blueprints/pages/ops.py",
        "app/allocations/demo.py",
        "app/applications/demo.py",
        "app/events/demo.py",
        "app/gate/demo.py",
        "app/inventory/demo.py",
        "app/payouts/demo.py",
        "app/retention/orphaned_files.py",  # It compares with the clock of the storage.
        "app/gate/early_scans.py",  # A note on a page; no scan depends on it.
        "app/blueprints/pages/desk/event_form.py",  # It suggests today.
        "app/blueprints/pages/desk/guest_block_form.py",  # It suggests the price of now; the block is priced when it is made.
        "app/events/discovery.py",  # It chooses an index; the statement compares.
        "app/payouts/statement.py",
    }
    read = {path for path, tree in trees("app", mentioning="utcnow") for called, _ in calls(tree) if called == "utcnow"}
    assert read - allowed == set()
    wall_clock = {("datetime", "now"), ("datetime", "utcnow"), ("datetime", "today"), ("date", "today")}
    named = [
        f"{path}:{call.lineno}"
        for path, tree in trees("app", mentioning="now|today")
        for called, call in calls(tree)
        if path != "app/core/clock.py"
        and isinstance(call.func, ast.Attribute)
        and (getattr(call.func.value, "id", ""), called) in wall_clock
    ]
    assert named == []


def test_sql_text_stands_in_files_for_sql() -> None:
    found = {
        path
        for path, tree in trees("app", mentioning="SELECT|INSERT|UPDATE|DELETE|WITH")
        if not path.endswith("sql.py") and not path.startswith(SQL_FOLDERS)
        for text in _strings_but_docstrings(tree)
        if SQL_STATEMENT.search(text)
    }
    assert found == set(SQL_FILES)


def _strings_but_docstrings(tree: ast.Module) -> Iterator[str]:
    docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            yield node.value
