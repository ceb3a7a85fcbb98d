"""One short run of the fault suite. `make faults` runs all of it, for longer."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.deploy.proxy import NGINX
from tests.faults.service import kept_open
from tests.faults.suite.plan import ACTS, PLAN
from tests.faults.suite.report import line, told
from tests.faults.suite.servers import template
from tests.faults.suite.trial import Outcome, Settings, tried

ABSENT = NGINX is None and not os.environ.get("CI")


@pytest.fixture
def folder() -> Iterator[Path]:
    with kept_open() as made:
        yield made


def test_every_fault_of_the_plan_can_be_played() -> None:
    assert set(PLAN) == set(ACTS) == {f"F{number}" for number in range(21)}
    assert all(act.__doc__ for act in ACTS.values())


def test_a_figure_that_is_missed_or_missing_shows() -> None:
    good = Outcome("F1", 1, figures={"respawn s": 1.0}, limits={"respawn s": 2.0})
    slow = Outcome("F1", 2, figures={"respawn s": 3.0}, limits={"respawn s": 2.0})
    none = Outcome("F1", 3, limits={"respawn s": 2.0})
    assert not good.missed and slow.missed and none.missed
    assert "**respawn s 3 (2)**" in line("F1", [good, slow]) and "MISSED respawn s" in told(none)


@pytest.mark.skipif(ABSENT, reason="nginx is not installed (apt-get install nginx)")
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="finds processes in /proc")
@pytest.mark.timeout(240)
def test_a_little_of_everything_breaks_no_promise(folder: Path) -> None:
    with template(folder) as data:
        outcome = tried("F0", 1, folder, data, Settings(seconds=6, rate=25))
    assert not outcome.missed and not outcome.broken, told(outcome)
    assert outcome.asked > 50
