"""On another port, everything that names the service names that port."""

from pathlib import Path

from tests.faults.service import UP, call, free_port, kept_open, started, until_ready
from tests.waiting import wait_until


def test_links_follow_the_port_of_the_option() -> None:
    """tests/faults/test_run.py asks the same of the setting PORT."""
    port = free_port()
    base = f"http://localhost:{port}"
    with kept_open() as folder:
        log = folder / "log"
        with started([*UP, "--port", str(port)], log, {"DATA_DIR": str(folder / "var")}) as process:
            until_ready(base, process, log, complete=True)
            assert_links_follow(base, log, folder / "var" / "mail")


def assert_links_follow(base: str, log: Path, mail: Path) -> None:
    """The log, the document and the mails of a running service name its own port and not the usual one."""
    assert base in log.read_text() and "localhost:8000" not in log.read_text()
    document = call(f"{base}/openapi.json")[1]
    assert document["servers"] == [{"url": base}]
    body = {"email": "frieda@example.com"}
    assert call(f"{base}/api/auth/password-reset/request", body)[0] == 200
    wait_until(lambda: base in mails(mail))
    assert "localhost:8000" not in mails(mail)


def mails(folder: Path) -> str:
    return "\n".join(path.read_text() for path in folder.glob("*.json"))
