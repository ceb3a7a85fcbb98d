"""A model of eight gates, some of them offline, with clocks that are wrong and answers that are lost.

Afterwards each place is admitted as often as it may be, once or once a day, or its surplus is in the list of conflicts;
and every scan that let somebody in is in the log, unless it was undone. MODEL_EXAMPLES and MODEL_STEPS set how long it runs.
"""

from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from itertools import count
from typing import Any

import pytest
from flask import Flask
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule, run_state_machine_as_test
from sqlalchemy import text

from app.core.db import db, release_connection
from app.events.reentry import DAILY_REENTRY, NO_REENTRY, get_entry_day
from app.ledger.commands import list_differences
from tests.conftest import empty
from tests.factories.events import create_organiser_client
from tests.factories.gate import Gate
from tests.http import Client, data, read_error
from tests.models.profile import model_settings

GATES, TICKETS = 8, 6
gates, tickets = st.integers(0, GATES - 1), st.integers(0, TICKETS - 1)
clocks = st.integers(-5, 4)
TIMEZONE = "Africa/Windhoek"
Entry = tuple[str, date | None]
"""The code of a place, and the day where it enters once a day."""


@dataclass
class OfflineGate:
    """A device: its client, the error of its clock in minutes, what it believes, and what it has not sent yet."""

    client: Client
    clock_error: int
    is_online: bool = True
    admitted: set[Entry] = field(default_factory=set)
    waiting: list[dict[str, Any]] = field(default_factory=list)


class Gates(RuleBasedStateMachine):
    """Eight paired devices at one event with imported tickets and claimed slots."""

    client: Client
    reentry = NO_REENTRY

    @initialize(errors=st.lists(clocks, min_size=GATES, max_size=GATES))
    def begin(self, errors: list[int]) -> None:
        empty(self.client.flask.application)
        self.gate = Gate(self.client, owner=create_organiser_client(self.client), reentry=self.reentry)
        self.codes = [self.gate.sell().secret or "" for _ in range(TICKETS // 2)]
        self.codes += [self.gate.claim()["code"] for _ in range(TICKETS // 2)]
        self.gates = [OfflineGate(self._pair(number), error) for number, error in enumerate(errors)]
        self.entered: Counter[Entry] = Counter()
        self.scanned: dict[str, Entry] = {}
        self.admission_ids: dict[str, str] = {}
        self.nonces = count(1)

    def _pair(self, number: int) -> Client:
        path = f"/api/events/{self.gate.event_id}/devices"
        device = data(self.gate.owner.post(path, {"kind": "gate", "name": f"Gate {number}"}), 201)
        token = data(self.client.post("/api/devices/pair", {"code": device["pairingCode"]}))["deviceToken"]
        return self.client.as_(token)

    @rule(number=gates)
    def lose_the_network(self, number: int) -> None:
        self.gates[number].is_online = False

    @rule(number=gates, ticket=tickets, is_answer_lost=st.booleans(), days_ago=st.integers(0, 2))
    def scan(self, number: int, ticket: int, is_answer_lost: bool, days_ago: int) -> None:
        """Scan; offline the device decides by what it admitted itself, and a lost answer is a scan offline."""
        gate, code = self.gates[number], self.codes[ticket]
        is_daily = self.reentry == DAILY_REENTRY
        occurred_at = datetime.now(UTC) + timedelta(minutes=gate.clock_error, days=-days_ago if is_daily else 0)
        entry = (code, get_entry_day(occurred_at, TIMEZONE) if is_daily else None)
        if entry in gate.admitted:
            return
        scan = {"code": code, "nonce": f"{number}-{next(self.nonces)}", "occurredAt": occurred_at.isoformat()}
        if gate.is_online:
            now = {} if is_daily else {"occurredAt": None}
            response = gate.client.post(self.gate.path, {name: it for name, it in {**scan, **now}.items() if it})
            if not is_answer_lost:
                assert response.status_code == 200 or read_error(response)[1] == "ALREADY_ADMITTED"
                if response.status_code == 200:
                    self._let_in(gate, entry, scan["nonce"])
                    self.admission_ids[scan["nonce"]] = data(response)["admissionId"]
                return
        self._let_in(gate, entry, scan["nonce"])
        gate.waiting.append(scan)

    def _let_in(self, gate: OfflineGate, entry: Entry, nonce: str) -> None:
        gate.admitted.add(entry)
        self.entered[entry] += 1
        self.scanned[nonce] = entry

    @rule(choice=st.integers(0, 1000))
    def undo(self, choice: int) -> None:
        if self.admission_ids:
            nonce = sorted(self.admission_ids)[choice % len(self.admission_ids)]
            data(self.gate.undo(self.admission_ids.pop(nonce)))
            self.entered[self.scanned.pop(nonce)] -= 1

    @rule(number=gates, is_answer_lost=st.booleans(), size=st.integers(1, 5))
    def send_what_waits(self, number: int, is_answer_lost: bool, size: int) -> None:
        gate = self.gates[number]
        gate.is_online = True
        batch, rest = gate.waiting[-size:], gate.waiting[:-size]
        if batch:
            results = data(gate.client.post(f"{self.gate.path}/batch", {"admissions": batch}))["results"]
            assert {result["status"] for result in results} <= {"admitted", "repeated", "conflict"}
            ids = {result["nonce"]: result["admissionId"] for result in results}
            self.admission_ids |= {nonce: id for nonce, id in ids.items() if nonce in self.scanned}
            if not is_answer_lost:
                gate.waiting = rest

    def teardown(self) -> None:
        if not hasattr(self, "gates"):
            return
        for number, gate in enumerate(self.gates):
            while gate.waiting:
                self.send_what_waits(number, False, 5)
        self._check()

    def _check(self) -> None:
        release_connection()
        rows = db.session.execute(
            text("""
                SELECT coalesce(t.secret, s.code) AS code, a.nonce, a.occurred_at, a.conflict,
                       coalesce(t.admitted_at, s.admitted_at) AS first_at
                  FROM admission a LEFT JOIN ticket t ON t.id = a.place_id LEFT JOIN allocation_slot s ON s.id = a.place_id
                 WHERE a.undone_at IS NULL""")
        ).all()
        is_daily = self.reentry == DAILY_REENTRY
        entries, conflicts = Counter[Entry](), Counter[Entry]()
        for row in rows:
            entry = (row.code, get_entry_day(row.occurred_at, TIMEZONE) if is_daily else None)
            entries[entry] += 1
            conflicts[entry] += row.conflict is not None
        assert entries == +self.entered, "every entry is in the log, once"
        assert all(conflicts[entry] == number - 1 for entry, number in entries.items()), "the surplus is a conflict"
        assert {row.nonce for row in rows} == set(self.scanned)
        first = {code: min(row.occurred_at for row in rows if row.code == code) for code in {row.code for row in rows}}
        assert all(row.first_at == first[row.code] for row in rows), "the first entry is the earliest"
        assert list(list_differences(lambda _: None)) == []


class DailyGates(Gates):
    """The same where a ticket enters once a day, with scans of the last three days."""

    reentry = DAILY_REENTRY


@pytest.mark.timeout(900)
@pytest.mark.parametrize("machine", [Gates, DailyGates])
def test_gates_lose_nothing_and_hide_nothing(app: Flask, client: Client, machine: type[Gates]) -> None:
    machine.client = client
    run_state_machine_as_test(machine, settings=model_settings())  # type: ignore[no-untyped-call]
