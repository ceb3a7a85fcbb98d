"""Every command of the documents works as written, against a service with its demo data."""

import re
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from flask import Flask
from sqlalchemy import Connection, create_engine, text

from app.embedded import servers
from tests import steps
from tests.docs import commands
from tests.faults.service import Service, everything, kept_open
from tests.house.sources import ROOT

GUIDE_LINES = range(80, 221)
READERS = 6
REFUSED_STEPS = text("SELECT kind, last_error FROM outbox WHERE last_error LIKE '%no such step%'")
ERROR_LINE = (
    'echo \'{"status": "error", "success": false, "statusCode": "40400", "message": "", "shortMessage": "NO"}\''
)
CLI_COMMAND = re.compile(
    r"^(?:\$ )?(?:event-commerce|ec|flask --app wsgi|flask) ([a-z][a-z-]*(?: [a-z][a-z-]*)?)", re.MULTILINE
)
MAKE_TARGET = re.compile(r"^(?:[A-Z]+=\S+ )*make ([a-z]+)\b", re.MULTILINE)
SCRIPT = re.compile(r"\bdeploy/[\w./-]+\.sh\b")


@pytest.mark.timeout(480)
def test_the_commands_of_all_pages_work() -> None:
    """One service for all pages, which run at the same time; the database refuses steps that no state machine has."""
    with kept_open() as folder, everything(folder) as service, servers(folder / "var" / "stores") as stores:
        engine = create_engine(stores.database_url)
        with engine.begin() as connection:
            steps.guard(connection)
        outcomes = run_all_pages(service, folder)
        with engine.begin() as connection:
            assert list_refused_steps(connection) == []
        engine.dispose()
    for page, outcome in outcomes.items():
        assert outcome.code == 0, f"{page.name}: {outcome.output}"
        assert outcome.errors == commands.list_expected_errors(page), f"{page.name}: {outcome.output}"


def run_all_pages(service: Service, folder: Path) -> dict[Path, commands.Outcome]:
    def run(page: Path) -> commands.Outcome:
        project = commands.create_project_folder(folder / "pages" / page.relative_to(ROOT).with_suffix(""))
        return commands.run_page(page, service.base, folder / "var", project)

    pages = commands.list_pages_to_run()
    with ThreadPoolExecutor(READERS) as readers:
        return dict(zip(pages, readers.map(run, pages), strict=True))


def list_refused_steps(connection: Connection) -> list[tuple[str, str]]:
    """Jobs whose step the database refused, and why. A request with such a step fails with 500."""
    return [(row.kind, row.last_error) for row in connection.execute(REFUSED_STEPS)]


@pytest.mark.control
def test_a_failing_command_and_an_unexpected_error_are_found(tmp_path: Path) -> None:
    page = tmp_path / "wrong.md"
    page.write_text("```sh\nfalse\n```\n")
    assert commands.run_page(page, "http://localhost:9", tmp_path, tmp_path).code == 1
    page.write_text(f"```sh\n{ERROR_LINE}\n```\n")
    assert commands.run_page(page, "http://localhost:9", tmp_path, tmp_path).errors == ["404 NO"]
    assert commands.list_expected_errors(page) == []


@pytest.mark.parametrize("page", commands.SERVER_PAGES, ids=lambda page: page.stem)
def test_commands_for_servers_can_be_read_by_a_shell(page: Path) -> None:
    for block in commands.BLOCK.findall(page.read_text()):
        if "<" not in block and "[Service]" not in block:
            subprocess.run(["bash", "-n", "-c", block], check=True)


def test_every_command_target_and_script_in_the_documents_exists(app: Flask) -> None:
    targets = re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    for page in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        for block in re.findall(r"^```\w*\n(.*?)^```$", page.read_text(), re.DOTALL | re.MULTILINE):
            for line in re.findall(CLI_COMMAND, block):
                assert is_command(app, line.split()), f"{page.name}: {line}"
            for target in re.findall(MAKE_TARGET, block):
                assert target in targets, f"{page.name}: make {target}"
            for script in re.findall(SCRIPT, block):
                assert (ROOT / script).exists(), f"{page.name}: {script}"


def is_command(app: Flask, words: list[str]) -> bool:
    """Whether the first word is a command, and the second one of its group."""
    command = app.cli.commands.get(words[0])
    subcommands = getattr(command, "commands", None)
    return command is not None and (subcommands is None or words[1] in subcommands)


@pytest.mark.parametrize("page", commands.GUIDES, ids=lambda page: page.stem)
def test_a_guide_can_be_read_in_a_few_minutes(page: Path) -> None:
    assert len(page.read_text().splitlines()) in GUIDE_LINES


def test_every_role_has_a_guide() -> None:
    roles = {"desk", "organiser", "merchant", "gate-crew", "admin", "integrator", "operator"}
    assert {page.stem for page in commands.GUIDES} == roles
