"""On another port, everything that names the service names that port."""

from pathlib import Path

import pytest

from tests.faults.service import UP, call, free_port, kept_open, started, until_ready
from tests.waiting import wait_until


@pytest.mark.parametrize("by_option", [False, True])
def test_links_follow_the_port(by_option: bool) -> None:
    port = free_port()
    base = f"http://localhost:{port}"
    with kept_open() as folder:
        log = folder / "log"
        settings = {"DATA_DIR": str(folder / "var")} | ({} if by_option else {"PORT": str(port)})
        with started([*UP, "--port", str(port)] if by_option else UP, log, settings) as process:
            until_ready(base, process, log, complete=True)
            assert base in log.read_text() and "localhost:8000" not in log.read_text()
            document = call(f"{base}/openapi.json")[1]
            assert document["servers"] == [{"url": base}]
            body = {"email": "frieda@example.com"}
            assert call(f"{base}/api/auth/password-reset/request", body)[0] == 200
            wait_until(lambda: base in mails(folder / "var" / "mail"))
            assert "localhost:8000" not in mails(folder / "var" / "mail")


def mails(folder: Path) -> str:
    return "\n".join(path.read_text() for path in folder.glob("*.json"))
