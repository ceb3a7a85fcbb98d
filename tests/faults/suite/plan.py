"""The plan of faults: what is broken, and the figures that are good enough, in one place.

Every figure is measured so that less is better. `lost`, `unresolved` and `broken laws` are asked of every fault:
acknowledged writes that are gone, answers that stay unknown after asking again, laws of `evidence.py` that speak.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.faults.suite.scenario import Scene

ALWAYS = {"broken laws": 0.0, "unresolved": 0.0}
LEASED = 60 + 15 + 1 + 14
"""Seconds after which work of a killed process is done: its lease, the reaper, the relay, and the work itself."""
PAYOUT = LEASED + 20
"""The same for payouts, which may take 20 s longer than other work and are held for as much longer."""
BUSY = 0.5
"""Percent. Who waits three seconds for a row that a dead or stopped process held is told 503, to come again."""


@dataclass(frozen=True, kw_only=True)
class Fault:
    """A fault and its figures. `long` is for how long something stays away: in a short run, and in a full one.

    `quick` runs with leases of a few seconds: it needs several of them one after the other.
    """

    limits: dict[str, float] = field(default_factory=dict)
    long: tuple[float, float] = (0.0, 0.0)
    quick: bool = False
    relays: int = 1
    manners: bool = False
    audience: int = 40
    fees: int = 0
    patience: float = 180.0


PLAN: dict[str, Fault] = {
    "F0": Fault(limits={"quiet after s": 60}, quick=True, patience=60),
    "F1": Fault(limits={"error rate %": 2, "unanswered per kill": 8, "respawn s": 2, "quiet after s": 30}),
    "F2": Fault(limits={"unanswered GET": 0, "unanswered writes %": 0.1, "TERM s": 30, "quiet after s": 30}),
    "F3": Fault(limits={"error rate %": BUSY, "quiet after s": PAYOUT}),
    "F4": Fault(limits={"late writes": 0, "error rate %": BUSY, "quiet after s": LEASED}, long=(85, 120)),
    "F5": Fault(
        limits={"not ready": 0, "p99 of writes added ms": 20, "codes delivered after s": 30, "quiet after s": 60},
        long=(25, 300),
    ),
    "F6": Fault(limits={"error rate %": BUSY, "quiet after s": 35}),
    "F7": Fault(limits={"told 503 after s": 2, "ready after accepting s": 5, "quiet after s": PAYOUT}),
    "F8": Fault(
        limits={
            "slowest refusal s": 3,
            "writes not refused": 0,
            "health not 200": 0,
            "threads added": 0,
            "ready after accepting s": 5,
            "quiet after s": PAYOUT,
        },
        long=(15, 60),
    ),
    "F9": Fault(
        limits={"error rate %": BUSY, "p99 added ms": 20, "tries without a pause": 0, "quiet after s": 600},
        long=(25, 600),
        patience=700,
    ),
    "F10": Fault(
        limits={
            "error rate %": BUSY,
            "refused for ever, tries": 1,
            "mail held s": 21,
            "dropped, not uncertain": 0,
            "quiet after s": 300,
        },
        manners=True,
        patience=400,
        fees=60,
    ),
    "F11": Fault(limits={"error rate %": BUSY, "failed while unknown": 0, "quiet after s": 60}, patience=400, fees=60),
    "F12": Fault(
        limits={"error rate %": BUSY, "forged ones heard": 0, "not what the rail says": 0, "quiet after s": 900},
        patience=950,
        fees=60,
    ),
    "F13": Fault(
        limits={"uploads answered otherwise": 0, "parts of files left": 0, "not alive": 0, "quiet after s": PAYOUT}
    ),
    "F14": Fault(limits={"turns taken twice": 0, "quiet after s": PAYOUT}),
    "F15": Fault(
        limits={"not cut": 0, "cut after s": 20, "rate lost %": 5, "p99 beside / before": 2, "quiet after s": 30}
    ),
    "F16": Fault(limits={"pills not dead after five": 0, "error rate %": BUSY, "quiet after s": 60}, quick=True),
    "F17": Fault(limits={"turns taken twice": 0, "hourly work begun": 1, "quiet after s": PAYOUT}, relays=2),
    "F18": Fault(
        limits={"no fan-out hit": 0, "half-written files": 0, "quiet after s": 600},
        quick=True,
        audience=10_000,
        patience=700,
    ),
    "F19": Fault(limits={"error rate %": 0.5, "migration failed": 0, "quiet after s": 30}),
    "F20": Fault(limits={"broken laws of the copy": 0, "paid twice": 0, "error rate %": BUSY, "quiet after s": 30}),
}


class Impossible(Exception):
    """This machine cannot play the fault; says why."""


Act = Callable[["Scene"], None]
ACTS: dict[str, Act] = {}


def fault(name: str) -> Callable[[Act], Act]:
    """What does it; its docstring is what the table says."""

    def register(act: Act) -> Act:
        ACTS[name] = act
        return act

    return register
