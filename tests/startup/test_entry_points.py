"""Every process prints each wrong setting in a sentence and exits with 2, whichever way it is started."""

import os
import subprocess
import sys
from pathlib import Path

import click
import pytest
from flask import Flask, has_app_context

from app import run_all
from app.startup import create_app_or_exit
from tests.faults.service import free_port
from tests.settings import app_for

ROOT = Path(__file__).resolve().parents[2]
FLASK = [sys.executable, "-m", "flask", "--app", "wsgi"]
ENTRY_POINTS = {
    "flask help": [*FLASK, "--help"],
    "flask up": [*FLASK, "up"],
    "flask doctor": [*FLASK, "doctor"],
    "flask relay": [*FLASK, "relay"],
    "flask worker": [*FLASK, "worker"],
    "flask db": [*FLASK, "db", "upgrade"],
    "flask demo": [*FLASK, "demo", "seed"],
    "worker": [sys.executable, "-m", "app.worker"],
    "gunicorn": [sys.executable, "-m", "gunicorn", "-c", "gunicorn.conf.py"],
}
PRODUCTION = {
    "APP_ENV": "production",
    "DATABASE_URL": "postgresql://nowhere.invalid/x",
    "REDIS_URL": "redis://nowhere.invalid",
    "PAYRAIL_MODE": "disabled",
    "PUBLIC_BASE_URL": "https://festival.example",
}
WRONG = [
    ({"PAYRAIL_MODE": "x"}, ["PAYRAIL_MODE"]),
    ({"APP_ENV": "x"}, ["APP_ENV"]),
    ({"VAT_PERCENT": "x"}, ["VAT_PERCENT"]),
    ({"PORT": "x"}, ["PORT"]),
    ({"WEB_WORKERS": "many", "WEB_THREADS": "0"}, ["WEB_WORKERS", "WEB_THREADS"]),
    ({"PUBLIC_BASE_URL": "http://[broken"}, ["PUBLIC_BASE_URL"]),
    ({"DATABASE_URL": "mysql://x", "DATABASE_POOL": "0"}, ["DATABASE_URL", "DATABASE_POOL"]),
    (PRODUCTION, ["SECRET_KEY"]),
    (
        {**PRODUCTION, "SECRET_KEY": "a" * 64, "BOOTSTRAP_SECRET": "a", "PUBLIC_BASE_URL": "http://festival.example"},
        ["SECRET_KEY", "BOOTSTRAP_SECRET", "PUBLIC_BASE_URL"],
    ),
]


def run_with(command: list[str], settings: dict[str, str], folder: Path) -> subprocess.CompletedProcess[str]:
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    return subprocess.run(
        command, cwd=ROOT, env={**kept, "DATA_DIR": str(folder), **settings}, capture_output=True, text=True, timeout=90
    )


def assert_explains(run: subprocess.CompletedProcess[str], names: list[str]) -> None:
    assert run.returncode == 2, run.stderr
    assert "Traceback" not in run.stdout + run.stderr
    lines = run.stderr.splitlines()
    for name in names:
        assert [line for line in lines if line.startswith(f"{name}: ") and line.endswith(".")], run.stderr
    assert len(lines) == len(names) + 1, run.stderr


@pytest.mark.parametrize("entry_point", ENTRY_POINTS)
def test_entry_point_explains_wrong_settings(entry_point: str, tmp_path: Path) -> None:
    wrong = {"PAYRAIL_MODE": "x", "APP_ENV": "x", "VAT_PERCENT": "x", "PORT": "x", "SMTP_URL": "https://x"}
    wrong |= {"WEB_WORKERS": "many", "WEB_THREADS": "0"}
    assert_explains(run_with(ENTRY_POINTS[entry_point], wrong, tmp_path), sorted(wrong))
    assert not list(tmp_path.iterdir()), "nothing is started"


@pytest.mark.parametrize(("settings", "names"), WRONG)
def test_wrong_setting_is_explained(
    settings: dict[str, str],
    names: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """In this process: each entry point calls the same function, as the test before shows."""
    for name in os.environ:
        if name not in ("PATH", "HOME", "LANG", "FLASK_SKIP_DOTENV"):
            monkeypatch.delenv(name)
    for name, value in {"DATA_DIR": str(tmp_path), **settings}.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(SystemExit) as ended:
        create_app_or_exit()
    said = capfd.readouterr()
    assert_explains(subprocess.CompletedProcess([], int(str(ended.value.code)), said.out, said.err), names)
    assert not list(tmp_path.iterdir()), "nothing is started"


def test_missing_library_is_explained(tmp_path: Path) -> None:
    dsn = {"SENTRY_DSN": "https://key@sentry.example/1", "DATABASE_URL": "postgresql:///x", "REDIS_URL": "redis://r"}
    run = run_with(ENTRY_POINTS["flask doctor"], dsn, tmp_path)
    assert run.returncode == 2 and "SENTRY_DSN: needs sentry_sdk" in run.stderr and "Traceback" not in run.stderr


def test_data_folder_that_cannot_be_made_is_explained(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    run = run_with(ENTRY_POINTS["flask doctor"], {}, tmp_path / "file" / "data")
    assert run.returncode == 1 and "Traceback" not in run.stderr
    assert run.stderr.strip().endswith(".") and str(tmp_path / "file") in run.stderr


AWAY = {"database_url": "postgresql://nobody:word@127.0.0.1:1/x", "redis_url": "redis://127.0.0.1:1"}


@pytest.fixture(scope="module")
def away(tmp_path_factory: pytest.TempPathFactory) -> Flask:
    """The application of a database and a Redis that do not answer."""
    folder = tmp_path_factory.mktemp("data")
    return app_for(**AWAY, data_dir=folder, PAYRAIL_MODE="disabled", PORT=str(free_port()))


@pytest.mark.parametrize("command", ["up", "db current", "demo seed", "outbox list", "payouts review"])
def test_database_that_does_not_answer_is_explained(away: Flask, command: str) -> None:
    assert not has_app_context(), "a command would run in the application of another test"
    ended = away.test_cli_runner().invoke(args=command.split())
    assert ended.exit_code == 1 and isinstance(ended.exception, SystemExit), ended.exception
    assert "Traceback" not in ended.output
    assert "DATABASE_URL" in ended.stderr and "word" not in ended.stderr


def test_a_process_explains_a_database_that_does_not_answer(tmp_path: Path) -> None:
    environ = {name.upper(): value for name, value in AWAY.items()}
    run = run_with([*FLASK, "db", "current"], environ, tmp_path)
    assert run.returncode == 1 and "Traceback" not in run.stdout + run.stderr
    assert "DATABASE_URL" in run.stderr and "word" not in run.stderr


def test_data_folder_that_is_a_file_is_explained(tmp_path: Path) -> None:
    """Where the servers are elsewhere, `flask up` is the first to need the folder."""
    (tmp_path / "file").write_text("")
    with pytest.raises(click.ClickException, match=r"DATA_DIR: .* cannot be used: .*\.$"):
        run_all._load_secret(tmp_path / "file")
