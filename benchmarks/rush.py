"""`python -m benchmarks.rush`: the minute after the tickets open, everybody at once.

Fans look for events and at what is left, claim tickets of one block and sign in; gates admit; stalls sell from stock;
four workers mail what was claimed. Nobody pauses, so the machine is full throughout, and the table tells how it is
shared: what each got, and how long they waited. With `--flame FILE` py-spy draws where the web workers spent it.
"""

from __future__ import annotations

import argparse
import logging
import sys
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path

from benchmarks import allocations, events, inventory, wrk
from benchmarks.accounts import login, me
from benchmarks.outbox import workers
from benchmarks.outcome import Failed, Run
from benchmarks.registry import Load
from benchmarks.sampling import sample_stacks
from benchmarks.stage import Stage, machine, stage

SECONDS, PEOPLE = 60, 40_000
WHO: dict[str, tuple[int, Callable[[Stage], Load]]] = {
    "discover": (8, events.discover),
    "ticket inventory": (8, events.inventory),
    "claim": (8, lambda stage: allocations.claim_storm(stage, PEOPLE)),
    "admit": (4, lambda stage: allocations.admit(stage, PEOPLE)),
    "will-call": (2, allocations.will_call),
    "stock adjust": (2, inventory.stock_adjust),
    "sign in": (2, login),
    "me": (2, me),
}
HEAD = "| who | connections | requests/s | p50 / p95 / p99 ms |\n|---|---|---|---|"


def main() -> int:
    """0 when every answer was a good one; 2 when one was not."""
    asked = _arguments()
    try:
        with stage(seconds=asked.seconds, rounds=1, clients=8) as here:
            events.grown_to(100_000)(here)
            inventory.stocked(inventory.THOUSAND)(here)
            allocations.seed_gate(here)
            print(f"{machine()}; {asked.seconds:g} s\n\n{HEAD}")
            for name, connections, run in rush(here, asked.flame):
                print(f"| {name} | {connections} | {run.rate:,.0f} | {run.p50:.0f} / {run.p95:.0f} / {run.p99:.0f} |")
    except Failed as failure:
        print(f"\nThe measurement is void. {failure}", file=sys.stderr)
        return 2
    return 0


def rush(here: Stage, flame: Path | None) -> Iterator[tuple[str, int, Run]]:
    """What each kind of client got. Raises Failed for any answer of 400 or more."""
    loads = {name: (connections, prepare(here)) for name, (connections, prepare) in WHO.items()}
    with workers(here), sample_stacks(here.service, here.seconds, flame) if flame else nullcontext():
        blows = {name: (count, here.blow(load, clients=count)) for name, (count, load) in loads.items()}
        done = [(name, count, blow.finish()[0]) for name, (count, blow) in blows.items()]
    yield from done


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.rush", description=__doc__)
    parser.add_argument("--seconds", type=float, default=SECONDS, help=f"length of the rush, {SECONDS} unless told")
    parser.add_argument("--flame", type=Path, metavar="FILE", help="a flame graph as .svg, or its stacks as .txt")
    asked = parser.parse_args()
    if not wrk.installed():
        parser.error(wrk.INSTALL)
    return asked


if __name__ == "__main__":
    logging.getLogger("alembic").setLevel(logging.WARNING)
    sys.exit(main())
