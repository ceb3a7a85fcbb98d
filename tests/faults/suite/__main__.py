"""`make faults`: FAULTS="F1 F7" SEEDS=20 (or 4-9) SECONDS=120 RATE=50 FULL=1 choose; FAULTS_TABLE names a file for
the table.

Without anything: every fault, three seeds, twenty seconds of load, outages of half a minute.
"""

import logging
import os
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path

from tests.faults.service import kept_open
from tests.faults.suite.fault_run import Outcome, Settings, tried
from tests.faults.suite.load import RATE
from tests.faults.suite.plan import PLAN
from tests.faults.suite.report import table, told
from tests.faults.suite.servers import template


def main() -> int:
    """The exit code: 1 when a run missed a figure or could not be made."""
    logging.disable(logging.CRITICAL)
    names = (os.environ.get("FAULTS") or " ".join(PLAN)).split()
    first, _, last = (os.environ.get("SEEDS") or "3").rpartition("-")
    seeds = range(int(first or 1), int(last) + 1)
    full = os.environ.get("FULL", "") not in ("", "0")
    seconds = float(os.environ.get("SECONDS") or (120 if full else 20))
    settings = Settings(seconds=seconds, full=full, rate=float(os.environ.get("RATE") or RATE))
    outcomes = []
    for outcome in runs(names, seeds, settings):
        outcomes.append(outcome)
        say(told(outcome))
        if path := os.environ.get("FAULTS_TABLE"):
            Path(path).write_text(table(outcomes) + "\n")
    say(table(outcomes))
    return int(any(outcome.missed for outcome in outcomes))


def runs(names: list[str], seeds: range, settings: Settings) -> Iterator[Outcome]:
    with kept_open() as folder, template(folder) as data:
        for name in names:
            for seed in seeds:
                try:
                    yield tried(name, seed, folder, data, settings)
                except Exception:
                    broken = {"the run itself": traceback.format_exc().splitlines()[-5:]}
                    yield Outcome(name, seed, broken=broken, limits={"broken laws": 0})


def say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
