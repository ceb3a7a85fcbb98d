"""Every rule of the fault suite reports when it is broken, and none does otherwise."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import text

from app.core.db import db, transaction_engine
from tests.factories.allocations import Block, create_block
from tests.factories.campaigns import CampaignEvent
from tests.factories.gate import Gate
from tests.factories.inventory import Stock
from tests.factories.payouts import create_earning_merchant, request_payout, run_all_jobs
from tests.faults.suite import account_rules, gate_rules, inventory_rules, message_rules, money_rules
from tests.faults.suite.evidence import LAWS, Evidence, broken
from tests.faults.suite.request_log import FAIL, OK, UNKNOWN, Journal, Request, RequestRecord
from tests.http import Client

__all__ = ["account_rules", "gate_rules", "inventory_rules", "message_rules", "money_rules"]
NOBODY = "0" * 24
FIRST_PAYOUT = "(SELECT min(id) FROM payout)"


@dataclass
class Case:
    """What breaks a law: statements that no trigger sees, answers that were given, and more that is known."""

    statements: tuple[str, ...] = ()
    asked: tuple[RequestRecord, ...] = ()
    known: dict[str, Any] = field(default_factory=dict)


def yes(kind: str, told: dict[str, Any] | None = None, **about: Any) -> RequestRecord:
    """A write that was acknowledged."""
    asked = RequestRecord(kind, Request("POST", "/"), about, status=200, outcome=OK, data=told or {})
    asked.told.append(asked.data)
    return asked


def answered(kind: str, status: int, outcome: str, **about: Any) -> RequestRecord:
    return RequestRecord(kind, Request("POST", "/"), about, status=status, outcome=outcome)


def scan(nonce: str, told: dict[str, Any] | None = None, **about: Any) -> RequestRecord:
    """A scan that was accepted, of a ticket that enters once."""
    return yes("scan", told, **{"nonce": nonce, "code": "c", "event": "e", "reentry": "none", **about})


def batch(*results: dict[str, Any]) -> RequestRecord:
    """An accepted batch of scans, by their results."""
    scans = [{"code": "c", "nonce": result["nonce"]} for result in results]
    return yes("batch", {"results": list(results)}, scans=scans, event="e", reentry="none")


def result(nonce: str, status: str = "admitted", **more: Any) -> dict[str, Any]:
    return {"nonce": nonce, "status": status, "admissionId": NOBODY, "code": None, **more}


def rail(event: str, reference: str = NOBODY, **more: Any) -> dict[str, Any]:
    return {"event": event, "reference": reference, "amount_minor": 1, "state": "paid", **more}


def payment(id: str, status: str, *, tries: int = 0) -> str:
    """The statement that adds a stall payment of nobody's application."""
    return (
        "INSERT INTO stall_payment (id, application_id, amount_minor, msisdn, status, tries) "
        f"VALUES ('{id}', '{NOBODY}', 1, '+264811234567', '{status}', {tries})"
    )


CASES = {
    "M1 M2 M3 M6 M7 books": Case(("UPDATE ledger_entry SET amount_minor = amount_minor + 1",)),
    "M1 insert-only": Case(),
    "M2 purses": Case(
        (
            "ALTER TABLE ledger_purse DROP CONSTRAINT ck_ledger_purse_available",
            "UPDATE ledger_purse SET available_minor = -1",
        )
    ),
    "M4 one payout a key": Case(asked=(yes("payout", {"id": NOBODY}, key="k"),)),
    "M5 the rail": Case(known={"rail": [rail("transfer")]}),
    "M6 steps": Case(
        (
            f"INSERT INTO payout_event (payout_id, from_status, to_status, actor) "
            f"VALUES ({FIRST_PAYOUT}, 'scheduled', 'requested', 'service')",
        )
    ),
    "M8 stall fees": Case(known={"rail": [rail("charge_ended"), rail("charge_ended")]}),
    "M8 captures": Case(known={"rail": [rail("charge_ended")]}),
    "M8 second captures": Case(
        (payment("a", "paid"), payment("b", "expired")),
        known={"rail": [rail("charge_ended", "a"), rail("charge_ended", "b")]},
    ),
    "M8 outcomes": Case((payment("a", "processing", tries=1),)),
    "M8 ended applications": Case(
        (
            "INSERT INTO merchant_application (id, reference, status, amount_minor, destination, mode) "
            f"VALUES ('{NOBODY}', 'MA-1', 'withdrawn', 1, 'payrail', 'now')",
            payment("a", "paid"),
        )
    ),
    "M8 acknowledged": Case(asked=(yes("stall_fee", application=NOBODY),)),
    "S1 the book": Case(("UPDATE inventory_item SET on_hand = on_hand + 1",)),
    "S1 movements": Case(asked=(yes("adjust", key="never", item=NOBODY, delta=1),)),
    "S2 imports": Case(asked=(yes("import", prefix="Iabc", rows=3),)),
    "S3 round trip": Case(known={"round_trip": {"created": 1, "updated": 0, "errors": []}}),
    "T1 places": Case(("UPDATE allocation_block SET released = released + 1",)),
    "T2 admissions": Case(
        (
            *(
                "INSERT INTO allocation_slot_event (slot_id, block_id, event_id, verb, to_status, actor) "
                "SELECT id, block_id, event_id, 'admit', 'admitted', 'organiser' FROM allocation_slot WHERE status = 'claimed'",
            )
            * 2,
        )
    ),
    "T3 acknowledged": Case(asked=(yes("claim", {"slotId": NOBODY}, email="nobody@example.com"),)),
    "G1 entries": Case(
        (
            "INSERT INTO admission (id, event_id, place_kind, place_id, ticket_type_id, scan_id, actor_kind, actor_id, "
            "actor_name, occurred_at, is_reentry) SELECT reverse(id), event_id, place_kind, place_id, ticket_type_id, "
            "reverse(id), actor_kind, actor_id, actor_name, occurred_at, true FROM admission",
        )
    ),
    "G2 scans": Case(("DELETE FROM admission",), (scan("n1", {"admissionId": NOBODY}),)),
    "G3 tallies": Case(("UPDATE admission_tally SET entries = entries + 1",)),
    "G4 withdrawn places": Case(
        (
            "UPDATE allocation_slot SET status = 'revoked', ended_at = now(), admitted_at = NULL, admitted_by = NULL, "
            "nonce = NULL WHERE status = 'admitted'",
        )
    ),
    "G5 lists": Case(known={"gate_lists": ["Gate 1 has [] instead of None"]}),
    "N1 once each": Case(
        (
            "ALTER TABLE campaign_recipient DROP CONSTRAINT uq_campaign_recipient_campaign_id_person_channel_event_id",
            "INSERT INTO campaign_recipient (id, campaign_id, event_id, channel, person, address, places, variant) "
            "SELECT reverse(id), campaign_id, event_id, channel, person, address, places, variant "
            "FROM campaign_recipient LIMIT 1",
        )
    ),
    "N2 mail": Case(known={"mails": Counter({"<campaign-nobody@localhost>": 1})}),
    "N3 nothing is stuck": Case(("UPDATE outbox SET state = 'ready', run_at = now() - interval '1 hour'",)),
    "N4 uncertain": Case(("UPDATE outbox SET state = 'uncertain'",)),
    "N5 work of a yes": Case(asked=(yes("register", email="nobody@example.com"),)),
    "N6 short transactions": Case(known={"longest_transaction": 20.0}),
    "no errors": Case(asked=(answered("adjust", 500, UNKNOWN, key="k", item=NOBODY, delta=1),)),
    "A1 sessions": Case(asked=(yes("reuse", email="e"),)),
    "A2 codes": Case(asked=(yes("burned", email="e"),)),
    "A3 one account": Case(asked=(yes("register", email="nobody@example.com"),)),
    "A4 one first admin": Case(("UPDATE account SET admin_tier = 'super_admin'",)),
    "A5 no secret is written down": Case(known={"leaks": {"secret": "line"}}),
}


@pytest.fixture
def house(app: Flask, client: Client) -> Iterator[Client]:
    """A little of everything that laws are about, and all its work done."""
    me, _ = create_earning_merchant(client, 5000)
    request_payout(me)
    stock = Stock(client)
    stock.item()
    made: Block = create_block(client, quantity=3)
    made.claimed(1)
    gate = Gate(client)
    for code, nonce in ((gate.claim()["code"], "n1"), (gate.sell().secret, "n2")):
        gate.scan(code, nonce=nonce)
    crowd = CampaignEvent(client)
    crowd.sold("a@example.com")
    crowd.finished(crowd.send())
    run_all_jobs()
    yield client


def test_every_rule_has_a_case() -> None:
    assert set(CASES) == set(LAWS)


def test_no_rule_reports_when_nothing_is_broken(house: Client) -> None:
    found = evidence()
    assert broken(found) == {}


def test_each_rule_reports_when_it_is_broken(house: Client) -> None:
    assert {name: said for name in CASES if not (said := sentences(name, CASES[name]))} == {}


def test_refused_request_with_an_effect_is_reported(house: Client) -> None:
    found = evidence()
    key, item, email = found.rows(
        "SELECT idempotency_key, (SELECT min(item_id) FROM inventory_movement), "
        "(SELECT email FROM allocation_slot WHERE status = 'claimed') FROM payout"
    )[0]
    refused = [
        answered("payout", 409, FAIL, key=key),
        answered("claim", 409, FAIL, email=email),
        answered("import", 422, FAIL, prefix="Iabc", rows=1),
    ]
    said = {}
    with transaction_engine(db.engine).connect() as connection:
        connection.execute(text("UPDATE inventory_item SET sku = 'Iabc-0', on_hand = 5"))
        for asked, name in zip(refused, ("M4 one payout a key", "T3 acknowledged", "S2 imports"), strict=True):
            said[name] = list(LAWS[name](evidence(asked, connection=connection)))
        connection.rollback()
    assert item and all(said.values()), said


def test_each_part_of_the_rules_of_the_gate_reports(house: Client) -> None:
    row = evidence().rows("SELECT scan_id, event_id FROM admission WHERE nonce = 'n1'")[0]
    known = {"admissionId": row.scan_id}
    late = scan("n1", known)
    late.at = 100.0
    cases: dict[str, tuple[str, Case]] = {
        "a place that says nothing of its entry": ("G1 entries", Case(("UPDATE ticket SET admitted_at = NULL",))),
        "two scans of a ticket": (
            "G1 entries",
            Case(asked=(scan("n1", known), batch(result("n2")))),
        ),
        "the people of a scan": ("G2 scans", Case(asked=(scan("n1", known, count=2),))),
        "the id of a scan": ("G2 scans", Case(asked=(scan("n1", {"admissionId": NOBODY}),))),
        "a refused scan": ("G2 scans", Case(asked=(refused_scan("n1"),))),
        "a lost scan of a batch": ("G2 scans", Case(asked=(batch(result("never")),))),
        "a refused scan of a batch": ("G2 scans", Case(asked=(batch(result("n1", "refused", code="NONCE_REUSED")),))),
        "a missing result": (
            "G2 scans",
            Case(asked=(yes("batch", {"results": []}, scans=[{"nonce": "n"}], event="e"),)),
        ),
        "a refused batch": ("G2 scans", Case(asked=(answered("batch", 422, FAIL, scans=[], event="e"),))),
        "an undo": ("G2 scans", Case(asked=(yes("undo", scan_id=row.scan_id),))),
        "a scan of nobody": ("G2 scans", Case(asked=(batch_of_event(row.event_id),))),
        "a scan after the end": ("G4 withdrawn places", Case(asked=(yes("withdraw", code="c"), late))),
    }
    assert {name: said for name, (law, case) in cases.items() if not (said := sentences(law, case))} == {}


def refused_scan(nonce: str) -> RequestRecord:
    return answered("scan", 409, FAIL, nonce=nonce, code="c", event="e", reentry="none")


def batch_of_event(event_id: str) -> RequestRecord:
    return yes("batch", {"results": []}, scans=[], event=event_id, reentry="none")


def evidence(*asked: RequestRecord, **known: Any) -> Evidence:
    """What is known in a house where all is well, and this besides."""
    journal = Journal()
    journal.asked += asked
    with transaction_engine(db.engine).connect() as connection:
        keys = connection.execute(text("SELECT dedupe_key, id, kind FROM outbox WHERE state = 'done'")).all()
        payouts = connection.execute(text("SELECT id, amount_minor FROM payout")).all()
    mails = Counter(
        {f"<{key or f'outbox-{id}'}@localhost>": 1 for key, id, kind in keys if kind in message_rules.ALWAYS}
    )
    sent = [rail("transfer", row.id, amount_minor=row.amount_minor) for row in payouts]
    given = {"journal": journal, "mails": mails, "rail": sent} | known
    return Evidence(**given)


def sentences(name: str, case: Case) -> list[str]:
    """What a law says of a broken house; the house is whole again afterwards."""
    with transaction_engine(db.engine).connect() as connection:
        connection.execute(text("SET LOCAL session_replication_role = replica"))
        for statement in case.statements:
            connection.execute(text(statement))
        found = evidence(*case.asked, **case.known, connection=connection)
        said = list(LAWS[name](found))
        connection.rollback()
    return said
