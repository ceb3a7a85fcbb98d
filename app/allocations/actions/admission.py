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
from app.allocations import slot_changes, states
from app.allocations.errors import AlreadyAdmitted, NotClaimed, PartyTooSmall, SlotRevoked
from app.allocations.models import AllocationSlot
from app.core.db import db
from app.core.errors import NotFound, ValidationFailed
from app.core.transaction import transaction, write_row
from app.events import availability
from app.events.models import Event
from app.events.queries import READS, WRITES, owned
from app.events.time_conversion import to_instant

MAX_AGE, CLOCK_TOLERANCE = timedelta(hours=72), timedelta(minutes=5)
ADMISSION_FIELDS = (
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
ADMIT_UPDATE_SQL = """
    UPDATE allocation_slot s
       SET status = 'admitted', admitted_at = least(coalesce(CAST(:occurred_at AS timestamptz), now()), now()),
           admitted_by = :actor_id, gate = :gate, nonce = :nonce, version = s.version + 1"""
RETURNING_SQL = "RETURNING s.*, 'claimed' AS was, s.status AS became"
RESULT_SQL = f"SELECT {', '.join(ADMISSION_FIELDS)} FROM touched"
ADMIT_SLOT_SQL = slot_changes.slot_event_sql(
    f"""touched AS (
        {ADMIT_UPDATE_SQL} FROM event e
         WHERE s.id = :slot_id AND s.event_id = :event_id AND s.status = 'claimed' AND e.id = s.event_id
           AND (:everybodys OR e.organiser_id = :actor_id) {RETURNING_SQL}), {availability.admitting("touched")}""",
    RESULT_SQL,
)
ADMIT_PARTY_SQL = slot_changes.slot_event_sql(
    f"""touched AS ({ADMIT_UPDATE_SQL} WHERE s.id = ANY(CAST(:ids AS text[])) {RETURNING_SQL}),
        {availability.admitting("touched")}""",
    RESULT_SQL,
)
ADMIT_SLOT, ADMIT_PARTY = text(ADMIT_SLOT_SQL), text(ADMIT_PARTY_SQL)


def admit_slot(
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

    The slot that was scanned decides first: one that is revoked or not claimed admits nobody, no matter who else is in its
    party. `occurred_at` is for scanners that were offline: up to 72 hours back, a naive time in the event's time zone.
    Raises NotFound, ValidationFailed, SlotRevoked, NotClaimed, AlreadyAdmitted, PartyTooSmall.
    """
    params = {
        **slot_changes.actor_params(slot_changes.build_organiser_actor(caller), "admit"),
        "slot_id": slot_id,
        "event_id": event_id,
        "everybodys": caller.has_tier(WRITES),
        "nonce": nonce,
        "gate": gate,
        "occurred_at": _resolve_occurred_at(event_id, occurred_at),
    }
    if count is not None:
        return _admit_party(caller, params, count)
    row = write_row(ADMIT_SLOT, params)
    if row is None:
        return _replay_or_refuse(get_slot(caller, event_id, slot_id), nonce)
    return _serialize_admission([dict(zip(ADMISSION_FIELDS, row, strict=True))], caller.name)


def _admit_party(caller: Caller, params: Mapping[str, Any], count: int) -> dict[str, Any]:
    with transaction() as session:
        slot = get_slot(caller, params["event_id"], params["slot_id"], tier=WRITES)
        party = _lock_party(session, slot)
        scanned_slot = party[0]
        if scanned_slot["status"] not in (states.CLAIMED, states.ADMITTED):
            return _replay_or_refuse(scanned_slot, params["nonce"])
        admitted_before = [
            member for member in party if params["nonce"] is not None and member["nonce"] == params["nonce"]
        ]
        if admitted_before:
            return _serialize_admission(admitted_before, admitted_before[0]["admitted_by_name"])
        remaining_ids = [member["id"] for member in party if member["status"] == states.CLAIMED]
        if not remaining_ids:
            return _replay_or_refuse(scanned_slot, params["nonce"])
        if len(remaining_ids) < count:
            raise PartyTooSmall(remaining=len(remaining_ids), requested=count)
        rows = session.execute(ADMIT_PARTY, {**params, "ids": remaining_ids[:count]}).mappings()
        return _serialize_admission([dict(member) for member in rows], caller.name)


def get_slot(caller: Caller, event_id: str, slot_id: str, *, tier: str = READS) -> RowMapping:
    """A slot of the caller's event, with who admitted it. Raises NotFound."""
    statement = (
        _slots_query()
        .join(Event, Event.id == AllocationSlot.event_id)
        .where(AllocationSlot.id == slot_id, AllocationSlot.event_id == event_id, owned(caller, tier))
    )
    row = db.session.execute(statement).mappings().first()
    if row is None:
        raise NotFound()
    return row


def _lock_party(session: Session, slot: Any) -> list[RowMapping]:
    """The scanned place, and then the places of its party, as they are under the lock.

    A rename may have taken the scanned place out of its party since it was read, so its present row decides which
    party is meant.
    """
    condition = AllocationSlot.id == slot["id"]
    if slot["party_size"] > 1:
        condition |= (AllocationSlot.party_id == slot["party_id"]) & (AllocationSlot.party_size > 1)
    statement = (
        _slots_query().where(condition).order_by(AllocationSlot.id).with_for_update(of=AllocationSlot, key_share=True)
    )
    rows = session.execute(statement).mappings().all()
    scanned_slot = next(row for row in rows if row["id"] == slot["id"])
    return [
        scanned_slot,
        *(row for row in rows if row["party_id"] == scanned_slot["party_id"] and row is not scanned_slot),
    ]


def _slots_query() -> Any:
    columns = [getattr(AllocationSlot, name) for name in (*ADMISSION_FIELDS, "nonce", "ended_at")]
    return select(*columns, Account.name.label("admitted_by_name")).outerjoin(
        Account, Account.id == AllocationSlot.admitted_by
    )


def _replay_or_refuse(slot: Any, nonce: str | None) -> dict[str, Any]:
    """What is said of a slot that cannot be admitted (again): the first answer to whom it was given, else why not."""
    if slot["status"] == states.REVOKED:
        raise SlotRevoked(revokedAt=slot["ended_at"], name=slot["name"])
    if slot["status"] != states.ADMITTED:
        raise NotClaimed(status=slot["status"])
    if nonce is not None and slot["nonce"] == nonce:
        return _serialize_admission([slot], slot["admitted_by_name"])
    raise AlreadyAdmitted(
        admittedAt=slot["admitted_at"], gate=slot["gate"], admittedBy=slot["admitted_by_name"], name=slot["name"]
    )


def _serialize_admission(rows: list[Any], admitted_by: str | None) -> dict[str, Any]:
    slots = sorted(rows, key=lambda row: row["id"])
    first_slot = slots[0]
    return {
        **{name: first_slot[name] for name in ADMISSION_FIELDS},
        "slot_id": first_slot["id"],
        "admitted_by": admitted_by,
        "count": len(rows),
        "slot_ids": [slot["id"] for slot in slots],
    }


def _resolve_occurred_at(event_id: str, occurred_at: datetime | None) -> datetime | None:
    """When it happened, as a moment of the database's clock."""
    if occurred_at is None:
        return None
    timezone_query = select(Event.timezone).where(Event.id == event_id).scalar_subquery()
    now, timezone = db.session.execute(select(func.now(), timezone_query)).one()
    occurred_instant = to_instant(occurred_at, timezone or "UTC")
    if not now - MAX_AGE <= occurred_instant <= now + CLOCK_TOLERANCE:
        raise ValidationFailed.of("occurredAt", "out_of_range", "Must be within the last 72 hours.")
    return occurred_instant
