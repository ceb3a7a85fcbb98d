"""Admitting somebody at the gate: exactly once, under any number of scanners.

One ticket is one statement: the slot, its audit row, and the count in a stripe of the connection's own. It takes the
slot's row and nothing that others need, so scanners wait for one another only over the same ticket; who has waited
finds it admitted and changes nothing. Several of a party are locked first, in the order of their ids, because who is
left is only known then.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import RowMapping, func, select, text
from sqlalchemy.orm import Session

from app.accounts.caller import Caller
from app.accounts.models import Account
from app.allocations import books, states
from app.allocations.errors import AlreadyAdmitted, NotClaimed, PartyTooSmall, SlotRevoked
from app.allocations.models import AllocationSlot
from app.core.db import compiled, db
from app.core.errors import NotFound, ValidationFailed
from app.core.transaction import transaction, write_row
from app.events import availability
from app.events.models import Event
from app.events.queries import READS, WRITES, owned
from app.events.times import instant

EARLIEST, FAST_CLOCK = timedelta(hours=72), timedelta(minutes=5)
TOLD = (
    "id",
    "status",
    "name",
    "email",
    "phone",
    "code",
    "ticket_type_id",
    "block_id",
    "party_id",
    "party_size",
    "version",
    "admitted_at",
    "gate",
)
ADMITTED = """
    UPDATE allocation_slot s
       SET status = 'admitted', admitted_at = least(coalesce(CAST(:occurred_at AS timestamptz), now()), now()),
           admitted_by = :actor_id, gate = :gate, nonce = :nonce, version = s.version + 1"""
RETURNED = "RETURNING s.*, 'claimed' AS was, s.status AS became"
ANSWER = f"SELECT {', '.join(TOLD)} FROM touched"
ONE = books.noting(
    f"""touched AS (
        {ADMITTED} FROM event e
         WHERE s.id = :slot_id AND s.event_id = :event_id AND s.status = 'claimed' AND e.id = s.event_id
           AND (:everybodys OR e.organiser_id = :actor_id) {RETURNED}), {availability.admitting("touched")}""",
    ANSWER,
)
SEVERAL = books.noting(
    f"""touched AS ({ADMITTED} WHERE s.id = ANY(CAST(:ids AS text[])) {RETURNED}),
        {availability.admitting("touched")}""",
    ANSWER,
)
ONE_BY_DRIVER, SEVERAL_IN_SESSION = compiled(text(ONE)), text(SEVERAL)


def admit(
    caller: Caller,
    event_id: str,
    slot_id: str,
    *,
    nonce: str | None = None,
    gate: str | None = None,
    occurred_at: datetime | None = None,
    count: int | None = None,
) -> dict[str, Any]:
    """Admits a claimed slot, or `count` of its party. The same nonce again is answered as the first time.

    The slot that was scanned decides first: one that is revoked or not claimed admits nobody, whoever else is in its
    party. `occurred_at` is for scanners that were offline: up to 72 hours back, a naive time in the event's time zone.
    Raises NotFound, ValidationFailed, SlotRevoked, NotClaimed, AlreadyAdmitted, PartyTooSmall.
    """
    given = {
        **books.acting(books.organiser(caller), "admit"),
        "slot_id": slot_id,
        "event_id": event_id,
        "everybodys": caller.has_tier(WRITES),
        "nonce": nonce,
        "gate": gate,
        "occurred_at": _moment(event_id, occurred_at),
    }
    if count is not None:
        return _admit_party(caller, given, count)
    row = write_row(ONE_BY_DRIVER, given)
    if row is None:
        return _refused(standing(caller, event_id, slot_id), nonce)
    return _told([dict(zip(TOLD, row, strict=True))], caller.name)


def _admit_party(caller: Caller, given: Mapping[str, Any], count: int) -> dict[str, Any]:
    with transaction() as session:
        slot = standing(caller, given["event_id"], given["slot_id"], tier=WRITES)
        party = _party(session, slot)
        scanned = party[0]
        if scanned["status"] not in (states.CLAIMED, states.ADMITTED):
            return _refused(scanned, given["nonce"])
        earlier = [each for each in party if given["nonce"] is not None and each["nonce"] == given["nonce"]]
        if earlier:
            return _told(earlier, earlier[0]["admitted_by_name"])
        left = [each["id"] for each in party if each["status"] == states.CLAIMED]
        if not left:
            return _refused(scanned, given["nonce"])
        if len(left) < count:
            raise PartyTooSmall(remaining=len(left), requested=count)
        rows = session.execute(SEVERAL_IN_SESSION, {**given, "ids": left[:count]}).mappings()
        return _told([dict(each) for each in rows], caller.name)


def standing(caller: Caller, event_id: str, slot_id: str, *, tier: str = READS) -> RowMapping:
    """A slot of the caller's event, with who admitted it. Raises NotFound."""
    statement = (
        _slots()
        .join(Event, Event.id == AllocationSlot.event_id)
        .where(AllocationSlot.id == slot_id, AllocationSlot.event_id == event_id, owned(caller, tier))
    )
    row = db.session.execute(statement).mappings().first()
    if row is None:
        raise NotFound()
    return row


def _party(session: Session, slot: Any) -> list[RowMapping]:
    """The scanned place, and then the places of its party, as they are under the lock.

    A rename may have taken the scanned place out of its party since it was read, so its present row decides which
    party is meant.
    """
    wanted = AllocationSlot.id == slot["id"]
    if slot["party_size"] > 1:
        wanted |= (AllocationSlot.party_id == slot["party_id"]) & (AllocationSlot.party_size > 1)
    statement = _slots().where(wanted).order_by(AllocationSlot.id).with_for_update(of=AllocationSlot, key_share=True)
    rows = session.execute(statement).mappings().all()
    scanned = next(row for row in rows if row["id"] == slot["id"])
    return [scanned, *(row for row in rows if row["party_id"] == scanned["party_id"] and row is not scanned)]


def _slots() -> Any:
    columns = [getattr(AllocationSlot, name) for name in (*TOLD, "nonce", "ended_at")]
    return select(*columns, Account.name.label("admitted_by_name")).outerjoin(
        Account, Account.id == AllocationSlot.admitted_by
    )


def _refused(slot: Any, nonce: str | None) -> dict[str, Any]:
    """What is said of a slot that cannot be admitted (again): the first answer to whom it was given, else why not."""
    if slot["status"] == states.REVOKED:
        raise SlotRevoked(revokedAt=slot["ended_at"], name=slot["name"])
    if slot["status"] != states.ADMITTED:
        raise NotClaimed(status=slot["status"])
    if nonce is not None and slot["nonce"] == nonce:
        return _told([slot], slot["admitted_by_name"])
    raise AlreadyAdmitted(
        admittedAt=slot["admitted_at"], gate=slot["gate"], admittedBy=slot["admitted_by_name"], name=slot["name"]
    )


def _told(rows: list[Any], by: str | None) -> dict[str, Any]:
    ordered = sorted(rows, key=lambda row: row["id"])
    first = ordered[0]
    return {
        **{name: first[name] for name in TOLD},
        "slot_id": first["id"],
        "admitted_by": by,
        "count": len(rows),
        "slot_ids": [each["id"] for each in ordered],
    }


def _moment(event_id: str, moment: datetime | None) -> datetime | None:
    """When it happened, as a moment of the database's clock."""
    if moment is None:
        return None
    zone = select(Event.timezone).where(Event.id == event_id).scalar_subquery()
    now, timezone = db.session.execute(select(func.now(), zone)).one()
    found = instant(moment, timezone or "UTC")
    if not now - EARLIEST <= found <= now + FAST_CLOCK:
        raise ValidationFailed.of("occurredAt", "out_of_range", "Must be within the last 72 hours.")
    return found
