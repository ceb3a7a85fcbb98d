"""What a newcomer does: start everything with one command, follow the README, stop it, start it again."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
OURS = ("DATABASE_URL", "REDIS_URL", "SECRET_KEY", "BOOTSTRAP_SECRET", "PUBLIC_BASE_URL", "RATE_LIMIT_SCALE")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("run")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("", 0))
        return int(probe.getsockname()[1])


@contextmanager
def running(folder: Path) -> Iterator[tuple[str, Path, float]]:
    """The whole service on a port of its own: its address, its log, and the seconds until it was ready."""
    port, log = free_port(), folder / "log"
    environment = {name: value for name, value in os.environ.items() if name not in OURS}
    environment |= {"DATA_DIR": str(folder / "var"), "PORT": str(port)}
    started = time.monotonic()
    with log.open("ab") as output:
        process = subprocess.Popen([sys.executable, "-m", "flask", "--app", "wsgi", "up"], cwd=ROOT, env=environment,
                                   stdout=output, stderr=subprocess.STDOUT, start_new_session=True)
    try:
        base = f"http://localhost:{port}"
        _until_ready(base, process, log)
        yield base, log, time.monotonic() - started
    finally:
        process.send_signal(signal.SIGINT)
        assert process.wait(40) == 0


def _until_ready(base: str, process: "subprocess.Popen[bytes]", log: Path) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and process.poll() is None:
        try:
            report = json.load(urllib.request.urlopen(f"{base}/ready", timeout=2))["data"]
            if report["workers"] and report["relay"] == "up":
                return
        except (OSError, urllib.error.HTTPError):
            pass
        time.sleep(0.1)
    raise AssertionError(log.read_text()[-3000:])


def tour() -> str:
    found = re.search(r"<!-- tour.*?```sh\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    assert found
    return found[1]


def test_the_readmes_tour_works_as_it_stands(folder: Path) -> None:
    with running(folder) as (base, log, _):
        done = subprocess.run(["bash", "-eu", "-c", tour()], env={**os.environ, "BASE": base}, capture_output=True,
                              text=True, timeout=60)
        assert done.returncode == 0, done.stderr
        answers = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
        codes = [each["shortMessage"] for each in answers]
        assert codes == ["SUCCESS"] * 5 + ["VALIDATION_FAILED", "SUCCESS", "SESSION_ENDED"], done.stdout
        assert answers[4]["data"]["emailVerified"] is True
        banner = log.read_text()
        assert "Bootstrap secret" in banner and f"{base}/dev/mail" in banner and "nangula@windhoek-lights" in banner


def test_a_second_start_keeps_the_data_and_is_quick(folder: Path) -> None:
    with running(folder) as (base, log, seconds):
        body = json.dumps({"email": "frieda@example.com", "password": "windhoek-lights-2026"}).encode()
        asked = urllib.request.Request(f"{base}/api/auth/login", body, {"Content-Type": "application/json"})
        assert json.load(urllib.request.urlopen(asked))["data"]["user"]["name"] == "Frieda Amupolo"
        secrets = re.findall(r"Bootstrap secret\s+(\S+)", log.read_text())
        assert len(set(secrets)) == 1
    assert seconds < 15, "five seconds on a quiet machine; others run beside this test"
    assert str(folder) not in subprocess.run(["ps", "axww"], capture_output=True, text=True).stdout
