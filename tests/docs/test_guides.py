"""Every command of the guides, typed by somebody who has just started the service with its demo data."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.docs import guide
from tests.faults.service import Service, everything, kept_open

LINES = range(80, 151)


@pytest.mark.timeout(300)
def test_the_guides_work_as_they_stand() -> None:
    """One start for all of them; they are followed at the same time, as by six people."""
    with kept_open() as folder, everything(folder) as service, ThreadPoolExecutor(len(guide.GUIDES)) as people:
        went = dict(
            zip(guide.GUIDES, people.map(lambda page: followed(page, service, folder), guide.GUIDES), strict=True)
        )
    for page, how in went.items():
        assert how.code == 0, f"{page.name}: {how.said}"
        assert how.refused == guide.announced(page), f"{page.name}: {how.said}"


def followed(page: Path, service: Service, folder: Path) -> guide.Followed:
    return guide.follow(page, service.base, folder / "var", guide.looks_like_the_project(folder / page.stem))


def test_a_guide_that_is_wrong_is_found_out(tmp_path: Path) -> None:
    """The control: a command that fails, and a refusal that nobody announced."""
    page = tmp_path / "wrong.md"
    page.write_text("```sh\nfalse\n```\n")
    assert guide.follow(page, "http://localhost:9", tmp_path, tmp_path).code == 1
    page.write_text(
        '```sh\necho \'{"status": "error", "success": false, "statusCode": "40400", "shortMessage": "NO"}\'\n```\n'
    )
    assert guide.follow(page, "http://localhost:9", tmp_path, tmp_path).refused == ["404 NO"]
    assert guide.announced(page) == []


@pytest.mark.parametrize("page", guide.GUIDES, ids=lambda page: page.stem)
def test_a_guide_can_be_read_in_a_few_minutes(page: Path) -> None:
    assert len(page.read_text().splitlines()) in LINES


def test_every_role_has_a_guide() -> None:
    roles = {"organiser", "merchant", "gate-crew", "admin", "integrator", "operator"}
    assert {page.stem for page in guide.GUIDES} == roles
