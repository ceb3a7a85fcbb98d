"""F0 of the fault suite: a few seconds of everything, checked against every rule."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults.service import kept_open
from tests.faults.suite.fault_run import Settings, tried
from tests.faults.suite.report import told
from tests.faults.suite.servers import template

pytestmark = pytest.mark.slow

SEEDS = [int(part) for part in os.environ.get("FAULTS_SEEDS", "1").split(",")]
FEW = Settings(seconds=6, rate=25)


@pytest.fixture(scope="module")
def place() -> Iterator[tuple[Path, Path]]:
    """Where machines are put together, and the database that each of them begins with."""
    with kept_open() as folder, template(folder) as data:
        yield folder, data


@pytest.mark.timeout(240)
@pytest.mark.parametrize("seed", SEEDS)
def test_mixture_of_faults_breaks_no_rule(place: tuple[Path, Path], seed: int) -> None:
    outcome = tried("F0", seed, *place, FEW)
    assert not outcome.impossible and outcome.missed == {}, told(outcome)
