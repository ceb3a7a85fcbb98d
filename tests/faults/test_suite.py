"""The plan and the report of the fault suite, which `make faults` runs."""

from tests.faults.suite.fault_run import Outcome
from tests.faults.suite.plan import ACTS, PLAN
from tests.faults.suite.report import line, told


def test_every_fault_of_the_plan_has_an_implementation() -> None:
    assert set(PLAN) == set(ACTS) == {f"F{number}" for number in range(21)}
    assert all(act.__doc__ for act in ACTS.values())


def test_missed_or_missing_figure_is_reported() -> None:
    good = Outcome("F1", 1, figures={"respawn s": 1.0}, limits={"respawn s": 2.0})
    slow = Outcome("F1", 2, figures={"respawn s": 3.0}, limits={"respawn s": 2.0})
    none = Outcome("F1", 3, limits={"respawn s": 2.0})
    assert not good.missed and slow.missed and none.missed
    assert "**respawn s 3 (2)**" in line("F1", [good, slow]) and "MISSED respawn s" in told(none)
