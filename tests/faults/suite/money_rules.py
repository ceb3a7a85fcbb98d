"""Rules of money: M1 to M8."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import Any

from app.ledger.commands import list_checks
from app.payouts import reviews as laws_of_payouts
from app.payouts.states import STEPS
from tests.faults.suite.evidence import Evidence, law
from tests.faults.suite.request_log import FAIL, OK

__all__ = ["laws_of_payouts"]
TOUCHED = (
    "UPDATE ledger_entry SET amount_minor = amount_minor + 1",
    "DELETE FROM ledger_entry",
    "UPDATE ledger_transaction SET amount_minor = amount_minor + 1",
    "DELETE FROM payout_event",
)


@law("M1 M2 M3 M6 M7 books")
def books(found: Evidence) -> Iterator[str]:
    """What `flask ledger verify` says: sums, balances, holds, how each payout is booked, its history, its age."""
    for check in list_checks():
        yield from (f"{check.rule}: {row[0]}" for row in found.rows(check.differences_sql))


@law("M1 insert-only")
def insert_only(found: Evidence) -> Iterator[str]:
    """Nobody changes or removes what was booked."""
    yield from (f"the database allowed: {statement}" for statement in TOUCHED if found.allows(statement))


@law("M2 purses")
def purses(found: Evidence) -> Iterator[str]:
    query = "SELECT owner_id FROM ledger_purse WHERE available_minor < 0 OR held_minor < 0"
    yield from (f"merchant {row.owner_id} has less than nothing" for row in found.rows(query))


@law("M4 one payout a key")
def one_payout_a_key(found: Evidence) -> Iterator[str]:
    """A yes names one payout, which is there; a no has made none."""
    by_key: dict[str, list[Any]] = defaultdict(list)
    for row in found.rows("SELECT id, idempotency_key, account_id, amount_minor FROM payout"):
        by_key[row.idempotency_key].append(row)
    for asked in found.journal.of("payout"):
        rows, named = by_key[asked.about["key"]], {told["id"] for told in asked.told}
        if len(rows) > 1 or len(named) > 1:
            yield f"key {asked.about['key']} has made {len(rows)} payouts, answers named {len(named)}"
        if asked.outcome == OK and {row.id for row in rows} != named:
            yield f"payout {named} was acknowledged and is not there"
        if asked.outcome == FAIL and rows:
            yield f"payout {rows[0].id} was refused and is there"


@law("M5 the rail")
def the_rail(found: Evidence) -> Iterator[str]:
    """One transfer at most for a payout; one exactly when it is paid or came back, of that amount; none when not."""
    sent = [line for line in found.rail if line["event"] == "transfer"]
    count = Counter(line["reference"] for line in sent)
    amounts = {line["reference"]: line["amount_minor"] for line in sent}
    state = {line["reference"]: line["state"] for line in sent}
    known = set()
    for row in found.rows("SELECT id, status, amount_minor FROM payout"):
        known.add(row.id)
        if count[row.id] > 1:
            yield f"payout {row.id} was carried out {count[row.id]} times"
        if row.status in ("paid", "returned") and (count[row.id] != 1 or amounts[row.id] != row.amount_minor):
            yield f"payout {row.id} is {row.status}, the rail has {count[row.id]} transfers of it"
        if row.status in ("cancelled", "scheduled", "requested") and count[row.id]:
            yield f"payout {row.id} is {row.status}, but the rail has carried it out"
        if row.status == "failed" and state.get(row.id) == "paid":
            yield f"payout {row.id} failed here and was paid there"
    yield from (f"the rail knows {reference}, we do not" for reference in count.keys() - known)


@law("M6 steps")
def steps(found: Evidence) -> Iterator[str]:
    """Only allowed steps, each from where the one before it led."""
    query = """
        SELECT payout_id, coalesce(from_status, '') AS came, to_status,
               coalesce(lag(to_status) OVER (PARTITION BY payout_id ORDER BY id), '') AS was FROM payout_event"""
    for row in found.rows(query):
        if row.to_status not in STEPS.get(row.came, ()) or row.came != row.was:
            yield f"payout {row.payout_id} went from {row.was!r} ({row.came!r}) to {row.to_status}"


@law("M8 stall fees")
def stall_fees(found: Evidence) -> Iterator[str]:
    """A fee is taken once, and as much as was quoted."""
    query = """
        SELECT a.id, count(*) AS taken, bool_or(p.amount_minor <> a.amount_minor) AS other
          FROM stall_payment p JOIN merchant_application a ON a.id = p.application_id
         WHERE p.status = 'paid' GROUP BY a.id"""
    for row in found.rows(query):
        if row.taken > 1 or row.other:
            yield f"application {row.id} was paid {row.taken} times, or another amount"
    taken = Counter(
        line["reference"] for line in found.rail if line["event"] == "charge_ended" and line["state"] == "paid"
    )
    paid = {row.id for row in found.rows("SELECT id FROM stall_payment WHERE status = 'paid'")}
    yield from (f"charge {reference} was taken {count} times" for reference, count in taken.items() if count > 1)
    yield from (f"charge {reference} is paid here and was not taken there" for reference in paid - taken.keys())


@law("M8 captures")
def captures(found: Evidence) -> Iterator[str]:
    """What the rail has taken and not given back is in the books, or in a review: of each charge, to the cent."""
    state = {line["reference"]: line for line in found.rail if line["event"] == "charge_ended"}
    rows = found.rows("SELECT id, amount_minor FROM stall_payment WHERE status = 'paid'")
    paid = {row.id: row.amount_minor for row in rows}
    reviewed = {row.reference for row in found.rows("SELECT reference FROM stall_payment_review")}
    for reference, line in state.items():
        if line["state"] == "paid" and paid.get(reference) != line["amount_minor"] and reference not in reviewed:
            yield f"charge {reference} was taken, and nobody knows"


@law("M8 second captures")
def second_captures(found: Evidence) -> Iterator[str]:
    """Of one application a second fee is taken only where the rail broke its word, and then there is a review."""
    taken = {line["reference"] for line in found.rail if line["event"] == "charge_ended" and line["state"] == "paid"}
    reviewed = {row.reference for row in found.rows("SELECT reference FROM stall_payment_review")}
    by_application: dict[str, list[str]] = defaultdict(list)
    for row in found.rows("SELECT id, application_id FROM stall_payment"):
        if row.id in taken:
            by_application[row.application_id].append(row.id)
    for application, references in by_application.items():
        if len(references) > 1 + len(reviewed.intersection(references)):
            yield f"the fee of application {application} was taken {len(references)} times"


@law("M8 outcomes")
def outcomes(found: Evidence) -> Iterator[str]:
    """When it is quiet, no payment waits for an outcome without a review."""
    query = """
        SELECT id, status FROM stall_payment p WHERE tries > answered AND status <> 'paid'
           AND NOT EXISTS (SELECT FROM stall_payment_review r WHERE r.reference = p.id)"""
    yield from (f"payment {row.id} is {row.status} and waits for an outcome" for row in found.rows(query))


@law("M8 ended applications")
def ended_applications(found: Evidence) -> Iterator[str]:
    """Nobody withdraws while money may be taken: what is paid and withdrawn has a review."""
    query = """
        SELECT a.id FROM merchant_application a JOIN stall_payment p ON p.application_id = a.id
         WHERE a.status = 'withdrawn' AND p.status = 'paid'
           AND NOT EXISTS (SELECT FROM stall_payment_review r WHERE r.reference = p.id)"""
    yield from (f"application {row.id} is withdrawn and paid" for row in found.rows(query))


@law("M8 acknowledged")
def acknowledged_fees(found: Evidence) -> Iterator[str]:
    """Anyone who was told that the fee is paid has paid it."""
    paid = {row.application_id for row in found.rows("SELECT application_id FROM stall_payment WHERE status = 'paid'")}
    for asked in found.said_yes("stall_fee"):
        if asked.about["application"] not in paid:
            yield f"application {asked.about['application']} was told that it is paid"
