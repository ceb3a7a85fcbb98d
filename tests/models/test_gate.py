"""A model of eight gates, some of them offline, with clocks that are wrong and answers that are lost.

Afterwards each place is admitted as often as it may be, or its surplus is in the list of conflicts; and every scan that
let somebody in is in the log. MODEL_EXAMPLES and MODEL_STEPS set how long it runs.
"""

from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

import pytest
from flask import Flask
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule, run_state_machine_as_test
from sqlalchemy import text

from app.core.db import db, release_connection
from tests.conftest import empty
from tests.factories.events import create_organiser_client
from tests.factories.gate import Gate
from tests.http import Client, data, read_error
from tests.models.profile import model_settings

GATES, TICKETS = 8, 6
gates, tickets = st.integers(0, GATES - 1), st.integers(0, TICKETS - 1)
clocks = st.integers(-5, 4)


@dataclass
class OfflineGate:
    """A device: its client, the error of its clock in minutes, what it believes, and what it has not sent yet."""

    client: Client
    clock_error: int
    is_online: bool = True
    admitted: set[str] = field(default_factory=set)
    waiting: list[dict[str, Any]] = field(default_factory=list)


class Gates(RuleBasedStateMachine):
    """Eight paired devices at one event with imported tickets and claimed slots."""

    client: Client

    @initialize(errors=st.lists(clocks, min_size=GATES, max_size=GATES))
    def begin(self, errors: list[int]) -> None:
        empty(self.client.flask.application)
        self.gate = Gate(self.client, owner=create_organiser_client(self.client))
        self.codes = [self.gate.sell().secret or "" for _ in range(TICKETS // 2)]
        self.codes += [self.gate.claim()["code"] for _ in range(TICKETS // 2)]
        self.gates = [OfflineGate(self._pair(number), error) for number, error in enumerate(errors)]
        self.entered: Counter[str] = Counter()
        self.nonces = count(1)
        self.sent_nonces: set[str] = set()

    def _pair(self, number: int) -> Client:
        path = f"/api/events/{self.gate.event_id}/devices"
        device = data(self.gate.owner.post(path, {"kind": "gate", "name": f"Gate {number}"}), 201)
        token = data(self.client.post("/api/devices/pair", {"code": device["pairingCode"]}))["deviceToken"]
        return self.client.as_(token)

    @rule(number=gates)
    def lose_the_network(self, number: int) -> None:
        self.gates[number].is_online = False

    @rule(number=gates, ticket=tickets, is_answer_lost=st.booleans())
    def scan(self, number: int, ticket: int, is_answer_lost: bool) -> None:
        """Scan; offline the device decides by what it admitted itself, and a lost answer is a scan offline."""
        gate, code = self.gates[number], self.codes[ticket]
        if code in gate.admitted:
            return
        occurred_at = datetime.now(UTC) + timedelta(minutes=gate.clock_error)
        scan = {"code": code, "nonce": f"{number}-{next(self.nonces)}", "occurredAt": occurred_at.isoformat()}
        if gate.is_online:
            response = gate.client.post(self.gate.path, {"code": code, "nonce": scan["nonce"]})
            if not is_answer_lost:
                assert response.status_code == 200 or read_error(response)[1] == "ALREADY_ADMITTED"
                if response.status_code == 200:
                    self._let_in(gate, code, scan["nonce"])
                return
        self._let_in(gate, code, scan["nonce"])
        gate.waiting.append(scan)

    def _let_in(self, gate: OfflineGate, code: str, nonce: str) -> None:
        gate.admitted.add(code)
        self.entered[code] += 1
        self.sent_nonces.add(nonce)

    @rule(number=gates, is_answer_lost=st.booleans(), size=st.integers(1, 5))
    def send_what_waits(self, number: int, is_answer_lost: bool, size: int) -> None:
        gate = self.gates[number]
        gate.is_online = True
        batch, rest = gate.waiting[-size:], gate.waiting[:-size]
        if batch:
            results = data(gate.client.post(f"{self.gate.path}/batch", {"admissions": batch}))["results"]
            assert {result["status"] for result in results} <= {"admitted", "repeated", "conflict"}
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
                SELECT coalesce(t.secret, s.code) AS code, count(*) AS entries, count(a.conflict) AS conflicts,
                       array_agg(a.nonce) AS nonces,
                       min(a.occurred_at) = coalesce(min(t.admitted_at), min(s.admitted_at)) AS is_earliest
                  FROM admission a LEFT JOIN ticket t ON t.id = a.place_id LEFT JOIN allocation_slot s ON s.id = a.place_id
                 GROUP BY 1""")
        ).all()
        assert {row.code: row.entries for row in rows} == dict(self.entered), "every entry is in the log, once"
        assert {row.code for row in rows if row.conflicts != row.entries - 1} == set(), "the surplus is a conflict"
        assert all(row.is_earliest for row in rows), "the first entry is the earliest"
        assert {nonce for row in rows for nonce in row.nonces} == self.sent_nonces


@pytest.mark.timeout(900)
def test_gates_lose_nothing_and_hide_nothing(app: Flask, client: Client) -> None:
    Gates.client = client
    run_state_machine_as_test(Gates, settings=model_settings())  # type: ignore[no-untyped-call]
