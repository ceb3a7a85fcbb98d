"""Every command of the guides, typed by somebody who has just started the service with its demo data."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from sqlalchemy import Connection, create_engine, text

from app.embedded import servers
from tests import steps
from tests.docs import guide
from tests.faults.service import Service, everything, kept_open

LINES = range(80, 151)
REFUSED = text("SELECT kind, last_error FROM outbox WHERE last_error LIKE '%no such step%'")
WRONG = 'echo \'{"status": "error", "success": false, "statusCode": "40400", "message": "", "shortMessage": "NO"}\''


@pytest.mark.timeout(300)
def test_the_guides_work() -> None:
    """One start for all of them; they are followed at the same time, as by six people, and the database lets nothing
    take a step that is not drawn."""
    with kept_open() as folder, everything(folder) as service, servers(folder / "var" / "stores") as stores:
        engine = create_engine(stores.database_url)
        with engine.begin() as connection:
            steps.guard(connection)
        went = all_followed(service, folder)
        with engine.begin() as connection:
            assert refused(connection) == []
        engine.dispose()
    for page, how in went.items():
        assert how.code == 0, f"{page.name}: {how.said}"
        assert how.refused == guide.announced(page), f"{page.name}: {how.said}"


def all_followed(service: Service, folder: Path) -> dict[Path, guide.Followed]:
    def followed(page: Path) -> guide.Followed:
        return guide.follow(page, service.base, folder / "var", guide.looks_like_the_project(folder / page.stem))

    with ThreadPoolExecutor(len(guide.GUIDES)) as people:
        return dict(zip(guide.GUIDES, people.map(followed, guide.GUIDES), strict=True))


def refused(connection: Connection) -> list[tuple[str, str]]:
    """Work whose step the database refused, and why. What a request was refused shows in the answer: 500."""
    return [(row.kind, row.last_error) for row in connection.execute(REFUSED)]


def test_a_wrong_guide_is_detected(tmp_path: Path) -> None:
    """The control: a command that fails, and a refusal that nobody announced."""
    page = tmp_path / "wrong.md"
    page.write_text("```sh\nfalse\n```\n")
    assert guide.follow(page, "http://localhost:9", tmp_path, tmp_path).code == 1
    page.write_text(f"```sh\n{WRONG}\n```\n")
    assert guide.follow(page, "http://localhost:9", tmp_path, tmp_path).refused == ["404 NO"]
    assert guide.announced(page) == []


@pytest.mark.parametrize("page", guide.GUIDES, ids=lambda page: page.stem)
def test_a_guide_can_be_read_in_a_few_minutes(page: Path) -> None:
    assert len(page.read_text().splitlines()) in LINES


def test_every_role_has_a_guide() -> None:
    roles = {"organiser", "merchant", "gate-crew", "admin", "integrator", "operator"}
    assert {page.stem for page in guide.GUIDES} == roles
