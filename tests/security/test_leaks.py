"""The reader of logs finds what must not stand there; else its silence would mean nothing."""

import logging
import os
import subprocess
import sys
from pathlib import Path

import pytest
import structlog
from flask import Flask

from tests.core.logging import logged
from tests.house.sources import ROOT
from tests.leaks import watch
from tests.leaks.ledger import Ledger

TOKEN = "6565a1f0c3d2e1b0a9f8e7d6.0.kQ3vPmR8x"
PASSWORD = "a quiet evening at Sossusvlei"


@pytest.mark.parametrize(
    "sent",
    [
        f'{{"refreshToken": "{TOKEN}"}}',
        f'{{"url":"https://x.example/claim/{TOKEN}"}}',
        '{"code":"918273"}',
        f'{{"password": "{PASSWORD}"}}',
        '{"shiftCode":"918273"}',
        '{"code": "ABCDEFGH23"}',
    ],
)
@pytest.mark.parametrize(
    "line", ["said {}", '{{"event": "said {}, so"}}', '{{"deep": [{{"x": "{}"}}]}}', "GET /x/{}?y=1"]
)
def test_a_planted_secret_is_found(sent: str, line: str) -> None:
    book = Ledger()
    book.learn(sent)
    secret = next(iter(book.secrets | book.phrases))
    book.note(line.format("nothing"))
    assert book.leaks() == {}
    book.note(line.format(secret))
    assert list(book.leaks()) == [secret]


def test_what_only_looks_like_a_code_is_none() -> None:
    book = Ledger()
    book.learn('{"code":"918273", "errors": [{"code":"too_small"}]}')
    book.note('{"pid": 918273, "at": "2026-11-21T09:00:00.918273Z", "request_id": "ab918273cd", "event": "too_small"}')
    assert book.leaks() == {}


def test_the_lines_of_the_service_itself_are_read(app: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the service masks is not found, what it cannot know to be secret is."""
    book = Ledger()
    monkeypatch.setattr(watch, "RUN", book)
    book.add("ABCDEFGH23", "refresh-me-not-0123456789")
    with logged():
        structlog.get_logger("t").info("said", token="refresh-me-not-0123456789")
        assert book.lines >= 1 and book.leaks() == {}
        logging.getLogger("t").warning("the code is ABCDEFGH23")
    assert list(book.leaks()) == ["ABCDEFGH23"]


def test_a_leak_fails_the_run(tmp_path: Path) -> None:
    """Found by a worker, told by the process that leads it."""
    planted = tmp_path / "test_planted.py"
    (tmp_path / "conftest.py").write_text(
        "from tests.leaks.watch import Watch\ndef pytest_configure(config):\n"
        "    config.pluginmanager.register(Watch(), 'leaks')\n"
    )
    environment = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    for said, code in (("nothing", 0), ("ABCDEFGH23", 1)):
        planted.write_text(
            f"from tests.leaks.ledger import RUN\ndef test_it():\n    RUN.add('ABCDEFGH23')\n    RUN.note('{said}')\n"
        )
        argv = [
            sys.executable,
            "-m",
            "pytest",
            str(tmp_path),
            "-q",
            "-p",
            "xdist",
            "-n",
            "1",
            "--rootdir",
            str(tmp_path),
            "-c",
            "/dev/null",
        ]
        run = subprocess.run(argv, cwd=ROOT, env=environment, capture_output=True, text=True)
        assert run.returncode == code, run.stdout + run.stderr
        assert ("A secret stands in the log" in run.stdout) == bool(code)
