"""The first steps of the README: start everything with one command, follow the tour, stop, start again."""

import json
import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.clients.rail import journal_of
from tests.factories.payouts import PATH
from tests.faults.cluster import wait_until
from tests.faults.service import ROOT, call, everything, kept_open
from tests.startup.test_port import assert_links_follow
from tests.timing import assert_in_time


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    with kept_open() as made:
        yield made


def tour() -> str:
    found = re.search(r"<!-- tour.*?```sh\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    assert found
    return found[1]


def test_tour_of_the_readme_works(folder: Path) -> None:
    with everything(folder) as service:
        done = subprocess.run(
            ["bash", "-eu", "-c", tour()],
            env={**os.environ, "BASE": service.base},
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert done.returncode == 0, done.stderr
        answers = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
        codes = [response["shortMessage"] for response in answers]
        assert codes == ["SUCCESS"] * 5 + ["VALIDATION_FAILED", "SUCCESS", "SESSION_ENDED"], done.stdout
        assert answers[4]["data"]["emailVerified"] is True
        banner = service.log.read_text()
        assert f"{service.rail}   (mock: no money moves)" in banner
        assert (
            "Bootstrap secret" in banner
            and f"{service.base}/dev/mail" in banner
            and "nangula@windhoek-lights" in banner
        )
        assert_links_follow(service.base, service.log, folder / "var" / "mail")


def test_second_start_keeps_the_data_is_quick_and_sends_no_payout_again(folder: Path) -> None:
    """The demo's payouts are sent once over both starts, and the mock rail calls back."""
    journal = folder / "var" / "mock_rail.jsonl"
    with everything(folder) as service:
        body = {"email": "frieda@example.com", "password": "windhoek-lights-2026"}
        assert call(f"{service.base}/api/auth/login", body)[1]["data"]["user"]["name"] == "Frieda Amupolo"
        secrets = re.findall(r"Bootstrap secret\s+(\S+)", service.log.read_text())
        assert len(set(secrets)) == 1
        wait_until(lambda: len(journal_of(journal, "callback")) >= 3, 20)
        body = {"email": "tuli@kapana-corner.example", "password": "windhoek-lights-2026"}
        token = call(f"{service.base}/api/auth/login", body)[1]["data"]["accessToken"]
        answer = httpx.get(f"{service.base}{PATH}", headers={"Authorization": f"Bearer {token}"}).json()
        statuses = sorted(payout["status"] for payout in answer["data"]["payoutRequests"])
        assert statuses == ["failed", "paid", "scheduled"]
    references = [line["reference"] for line in journal_of(journal)]
    assert len(references) == len(set(references)) == 3
    assert {line["status"] for line in journal_of(journal, "callback")} == {200}
    assert str(folder) not in subprocess.run(["ps", "axww"], capture_output=True, text=True).stdout
    assert_in_time(service.seconds < 40, "five seconds on a quiet machine; half the suite runs beside this test")
