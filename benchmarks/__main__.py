"""`python -m benchmarks [names…]`: measures, prints a table, and ends with 1 when a goal is missed."""

from __future__ import annotations

import argparse
import logging
import sys
import time
from collections.abc import Collection
from pathlib import Path

from benchmarks import wrk
from benchmarks.comparing import share_of_bare
from benchmarks.outcome import Failed
from benchmarks.registry import Benchmark, registered
from benchmarks.stage import BARE, Stage, machine, stage
from benchmarks.table import row, table


def main() -> int:
    """0 when every goal was met, 1 when one was missed, 2 when nothing could be measured."""
    known = registered()
    asked = _arguments(known)
    if not wrk.installed():
        print(wrk.INSTALL, file=sys.stderr)
        return 2
    chosen = [known[name] for name in asked.names or known]
    try:
        with stage(
            seconds=asked.seconds,
            rounds=asked.rounds,
            clients=asked.clients,
            patience=asked.patience,
            before=asked.before,
            neighbour=asked.neighbour,
        ) as here:
            return _measured(here, chosen, asked.markdown)
    except Failed as failure:
        print(f"\nThe measurement is void. {failure}", file=sys.stderr)
        return 2


def _measured(here: Stage, chosen: list[Benchmark], markdown: Path | None) -> int:
    _warm(here)
    rows = []
    for it in chosen:
        began = time.monotonic()
        if it.seed:
            it.seed(here)
        rows.append(row(it, (it.measure or share_of_bare)(here, it)))
        print(f"{it.name}: {rows[-1][4]} ({time.monotonic() - began:.0f} s)", file=sys.stderr)
    shown = f"{machine()}; {here.clients} clients, {here.rounds} rounds of {here.seconds:g} s\n\n{table(rows)}\n"
    print(f"\n{shown}")
    if markdown:
        markdown.write_text(shown, "utf-8")
    return int(any(cells[-1] != "met" for cells in rows))


def _warm(here: Stage) -> None:
    """Lets both applications do beforehand what they do only once."""
    here.run(BARE, on=here.bare)
    here.run(registered()["me"].prepare(here))


def _arguments(known: Collection[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="name", help=", ".join(known) + " (all of them when none is named)")
    parser.add_argument("--seconds", type=float, default=2, help="length of a round")
    parser.add_argument("--rounds", type=int, default=4, help="rounds of each side of a comparison")
    parser.add_argument("--clients", type=int, default=8, help="connections at once")
    parser.add_argument("--patience", type=float, default=0, help="seconds to wait in all for others to be quiet")
    parser.add_argument("--before", type=Path, help="checkout of another version, to take turns with")
    parser.add_argument("--neighbour", action="store_true", help="keep one core and the caches busy")
    parser.add_argument("--markdown", type=Path, help="file to write the table to as well")
    asked = parser.parse_args()
    if unknown := [name for name in asked.names if name not in known]:
        parser.error(f"no benchmark is called {', '.join(unknown)}; there are {', '.join(known)}")
    return asked


if __name__ == "__main__":
    logging.getLogger("alembic").setLevel(logging.WARNING)
    sys.exit(main())
