"""The gate, a claim storm on one block, and codes for a whole block."""

from __future__ import annotations

import json
import time
import urllib.request
from dataclasses import replace
from statistics import median
from typing import Any

import psycopg
from sqlalchemy import make_url

from app.allocations import links
from app.core.ids import NEW_ID_SQL, new_id
from benchmarks.accounts import account, tokens
from benchmarks.outcome import Outcome, Run, of_rounds
from benchmarks.registry import Benchmark, Load, benchmark
from benchmarks.seed_allocations import seed_block, seed_event
from benchmarks.stage import BARE, Stage

EACH_ROUND, AT_THE_GATE, CODES, STORM, GATES, IMPORTED = 8000, 100_000, 5000, 64, 32, 200_000
INSERT_TICKETS = f"""
    INSERT INTO ticket (id, event_id, ticket_type_id, reference, secret, name, price_minor, sold_at, status)
    SELECT {NEW_ID_SQL}, y.event_id, y.id, %(batch)s || '-' || n, %(batch)s || '-' || n, 'Fan ' || n, 100, now(), 'sold'
      FROM (SELECT id, event_id FROM ticket_type WHERE event_id = %(event)s LIMIT 1) y, generate_series(1, %(count)s) n"""
_made: dict[str, dict[str, Any]] = {}


def _event(stage: Stage, name: str) -> dict[str, Any]:
    """An event of an organiser who is signed in, one for each benchmark."""
    if name not in _made:
        owner = account(stage, "organiser")
        with _connected(stage) as connection:
            _made[name] = {**seed_event(connection, owner.id), "token": tokens(owner)["access_token"]}
    return _made[name]


def _block(stage: Stage, made: dict[str, Any], state: str, count: int) -> dict[str, Any]:
    with _connected(stage) as connection:
        return seed_block(connection, made, state, count)


def storm_rate(stage: Stage, it: Benchmark) -> Outcome:
    """Claims a second by 64 at once, and how long the slowest hundredth waited."""
    runs = [stage.run(it.prepare(stage), clients=STORM) for _ in range(stage.rounds)]
    return of_rounds([run.rate for run in runs], "claims/s", runs, f"p99 {median(run.p99 for run in runs):,.0f} ms")


def storm_wait(stage: Stage, it: Benchmark) -> Outcome:
    """What the slowest hundredth of 64 at once waits, in seconds."""
    runs = [stage.run(it.prepare(stage), clients=STORM) for _ in range(stage.rounds)]
    return of_rounds([run.p99 / 1000 for run in runs], "s (p99)", runs)


def against_copy(stage: Stage, it: Benchmark) -> Outcome:
    """The time of the request as a multiple of a COPY of the rows that it writes, indexes and all."""
    values = []
    for _ in range(stage.rounds + 1):
        load = it.prepare(stage)
        taken, body = _timed(stage, load)
        assert len(body["data"]["codes"]) == CODES
        values.append(taken / _copied(stage, load.path.split("/")[5]))
    return of_rounds(values[1:], "× COPY")


@benchmark("admit", goal=0.28)
def admit(stage: Stage, slots: int = EACH_ROUND) -> Load:
    """`POST admit` on distinct slots of one block, without a body."""
    made = _event(stage, "admit")
    found = _block(stage, made, "claimed", slots)
    base = f"/api/events/{made['event']}/allocations/will-call"
    return Load(base, "POST", _bearer(made), paths=[f"{base}/{slot}/admit" for slot in found["slots"]])


@benchmark("scan", goal=0.28)
def scan(stage: Stage, slots: int = EACH_ROUND) -> Load:
    """`POST admissions` with the codes of distinct slots of one block."""
    made = _event(stage, "scan")
    found = _block(stage, made, "claimed", slots)
    with _connected(stage) as connection:
        rows = connection.execute("SELECT code FROM allocation_slot WHERE id = ANY(%s)", (found["slots"],)).fetchall()
    return _scans(made, [code for (code,) in rows])


@benchmark("scan-imported", goal=0.28)
def scan_imported(stage: Stage, tickets: int = EACH_ROUND) -> Load:
    """`POST admissions` with the secrets of distinct imported tickets."""
    made = _event(stage, "scan-imported")
    batch = new_id()
    with _connected(stage) as connection:
        connection.execute(INSERT_TICKETS, {"event": made["event"], "batch": batch, "count": tickets})
    return _scans(made, [f"{batch}-{number}" for number in range(1, tickets + 1)])


def gate_wait(stage: Stage, it: Benchmark) -> Outcome:
    """What the slowest hundredth of scans at 32 gates waits, in ms."""
    runs = [stage.run(it.prepare(stage), clients=GATES) for _ in range(stage.rounds)]
    return of_rounds([run.p99 for run in runs], "ms (p99)", runs)


def cost_of_many_tickets(stage: Stage, it: Benchmark) -> Outcome:
    """The CPU of a scan after 200,000 more tickets were imported, as a multiple of that before; each against bare."""

    def cost() -> tuple[float, Run]:
        bare, run = stage.run(BARE, on=stage.bare), stage.run(it.prepare(stage))
        assert run.cpu and bare.cpu
        return run.cpu / bare.cpu, run

    it.prepare(stage)
    before = median(cost()[0] for _ in range(stage.rounds))
    made = _event(stage, "scan-imported")
    with _connected(stage) as connection:
        connection.execute(INSERT_TICKETS, {"event": made["event"], "batch": new_id(), "count": IMPORTED})
        connection.commit()
        connection.autocommit = True
        connection.execute("VACUUM (ANALYZE) ticket")
    costs = [cost() for _ in range(stage.rounds)]
    return of_rounds([found / before for found, _ in costs], "× CPU before", [run for _, run in costs])


@benchmark("scan-together", goal=50, at_most=True, measure=gate_wait)
def scan_together(stage: Stage) -> Load:
    """The scans of imported tickets, by 32 clients that send the next one at once."""
    return scan_imported(stage)


@benchmark("scan-at-gates", goal=50, at_most=True, measure=gate_wait)
def scan_at_gates(stage: Stage) -> Load:
    """The scans of imported tickets at 32 gates, at each four a second at most: a guest, a quarter of a second, the next."""
    return replace(scan_imported(stage), pause=250)


@benchmark("scan-200k", goal=1.1, at_most=True, measure=cost_of_many_tickets)
def scan_200k(stage: Stage, tickets: int = EACH_ROUND) -> Load:
    """The same scans, with 200,000 more imported tickets at the event."""
    return scan_imported(stage, tickets)


def _scans(made: dict[str, Any], codes: list[str]) -> Load:
    bodies = [{"code": code, "nonce": f"scan {code}", "gate": "North"} for code in codes]
    return Load(f"/api/events/{made['event']}/admissions", "POST", _bearer(made), bodies=bodies)


def seed_gate(stage: Stage) -> None:
    """An event with 100,000 people on its list."""
    made = _event(stage, "gate")
    for _ in range(20):
        _block(stage, made, "claimed", AT_THE_GATE // 20)


@benchmark("will-call", goal=0.25, seed=seed_gate)
def will_call(stage: Stage) -> Load:
    """`GET will-call?q=…` among 100,000 slots: names, parts of addresses, codes."""
    made = _event(stage, "gate")
    base = f"/api/events/{made['event']}/allocations/will-call"
    words = [f"{name}{end}" for end in ("a", "be", "cad", "fe", "gi", "h") for name in ("Frieda+amupolo", "tuli+nel")]
    words += [
        f"{name}{end}" for name in ("grossmann", "shikongo", "hamutenya") for end in ("a", "bc", "dek", "fi", "hh")
    ]
    words += [f"fan{n}." for n in range(1, 4000, 3)] + [f"@mail{n}." for n in range(900)]
    words += [f"{first}+{last}" for first in ("eva", "jan", "zoe") for last in ("bau", "kau", "beukesa", "nango")]
    return Load(base, headers=_bearer(made), paths=[f"{base}?q={word}" for word in words])


@benchmark("claim-storm", goal=200, measure=storm_rate)
def claim_storm(stage: Stage, slots: int = EACH_ROUND) -> Load:
    """`POST claim` on the open link of one block, by 64 at once."""
    found = _block(stage, _event(stage, "storm"), "available", slots)
    path = f"/api/allocations/claim/{links.encode_token('open', found['block'], 1)}"
    people = [{"name": f"Fan {n}", "email": f"fan{n}@example.com"} for n in range(slots)]
    return Load(path, "POST", bodies=people)


@benchmark("claim-wait", goal=2, at_most=True, measure=storm_wait)
def claim_wait(stage: Stage) -> Load:
    """The same storm: how long one waits in it."""
    return claim_storm(stage)


@benchmark("codes", goal=3, at_most=True, measure=against_copy)
def codes(stage: Stage) -> Load:
    """`POST codes` for a block of 5,000, end to end."""
    made = _event(stage, "codes")
    found = _block(stage, made, "available", CODES)
    return Load(f"/api/events/{made['event']}/allocations/{found['block']}/codes", "POST", _bearer(made))


def _timed(stage: Stage, load: Load) -> tuple[float, Any]:
    request = urllib.request.Request(f"{stage.service.address}{load.path}", b"", dict(load.headers), method="POST")
    began = time.perf_counter()
    with urllib.request.urlopen(request, timeout=30) as answer:
        said = answer.read()
    return time.perf_counter() - began, json.loads(said)


def _copied(stage: Stage, block: str) -> float:
    """Seconds to COPY a block's slots and what happened to them into empty twins of their tables."""
    slots = "id, block_id, event_id, ticket_type_id, status, via, generation, code, party_size, given_at, version"
    happened = "slot_id, block_id, event_id, verb, from_status, to_status, actor, actor_id, at"
    with _connected(stage) as connection:
        for table in ("allocation_slot", "allocation_slot_event"):
            connection.execute(f"DROP TABLE IF EXISTS twin_{table}")
            connection.execute(f"CREATE TABLE twin_{table} (LIKE {table} INCLUDING ALL)")
        connection.commit()
        blocks = []
        for table, columns in (("allocation_slot", slots), ("allocation_slot_event", happened)):
            rows = f"COPY (SELECT {columns} FROM {table} WHERE block_id = '{block}') TO STDOUT"
            with connection.cursor().copy(rows) as it:
                blocks.append((table, columns, b"".join(bytes(part) for part in it)))
        began = time.perf_counter()
        for table, columns, rows in blocks:
            with connection.cursor().copy(f"COPY twin_{table} ({columns}) FROM STDIN") as it:
                it.write(rows)
        connection.commit()
        return time.perf_counter() - began


def _bearer(made: dict[str, Any]) -> dict[str, str]:
    return {"Authorization": f"Bearer {made['token']}"}


def _connected(stage: Stage) -> psycopg.Connection[Any]:
    url = make_url(stage.environment["DATABASE_URL"]).set(drivername="postgresql")
    return psycopg.connect(url.render_as_string(hide_password=False))
