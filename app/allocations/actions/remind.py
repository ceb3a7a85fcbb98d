"""Reminding those who were invited and have not claimed: the same link again, once a day at most."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.accounts.caller import Caller
from app.accounts.outgoing_mail import count_mails, sender_of
from app.allocations import books, claiming, states
from app.allocations.models import AllocationSlot
from app.core.outbox import enqueue_many
from app.core.transaction import transaction

REMIND = books.sql(
    books.noting(
        f"""touched AS (
            UPDATE allocation_slot s SET reminded_at = now(), version = s.version + 1
             WHERE s.block_id = :block_id AND s.status = 'invited' AND s.email IS NOT NULL
               AND (s.reminded_at IS NULL OR s.reminded_at <= now() - interval '24 hours')
               AND (CAST(:slot_ids AS text[]) IS NULL OR s.id = ANY(CAST(:slot_ids AS text[])))
            RETURNING {books.SLOT}, s.status AS was, s.status AS became, NULL::text AS gate,
                      s.name, s.email, s.generation, s.reminded_at)""",
        "SELECT id, name, email, generation, reminded_at FROM touched ORDER BY id",
    )
)


def remind(
    caller: Caller, event_id: str, block_id: str, *, slot_ids: Sequence[str] | None = None
) -> dict[str, list[dict[str, Any]]]:
    """Mails everybody (or those named) who is invited by mail and has not claimed; the others with the reason why not.

    Raises NotFound, EventClosed, ReleaseTimePassed, SenderNotVerified, MailLimitReached.
    """
    wanted = None if slot_ids is None else list(slot_ids)
    with transaction() as session:
        block = books.locked(session, caller, event_id, block_id)
        claiming.check_giving(block)
        given = {"block_id": block_id, "slot_ids": wanted, **books.acting(books.organiser(caller), "remind")}
        rows = session.execute(REMIND, given).all()
        count_mails(session, sender_of(block), [row.email for row in rows])
        enqueue_many(
            "allocations.remind",
            [(None, {"slot_id": row.id, "generation": row.generation}) for row in rows],
            aggregate=block_id,
        )
        skipped = _skipped(session, block_id, wanted, {row.id for row in rows})
    told = [{"slot_id": row.id, "name": row.name, "email": row.email} for row in rows]
    return {"reminded": told, "skipped": skipped}


def _skipped(session: Session, block_id: str, wanted: list[str] | None, reminded: set[str]) -> list[dict[str, Any]]:
    columns = (
        AllocationSlot.id,
        AllocationSlot.name,
        AllocationSlot.email,
        AllocationSlot.status,
        AllocationSlot.reminded_at,
    )
    chosen = (
        AllocationSlot.id.in_(wanted)
        if wanted is not None
        else AllocationSlot.via.in_((states.INVITE, states.CODE)) & AllocationSlot.ended_at.is_(None)
    )
    rows = session.execute(
        select(*columns).where(AllocationSlot.block_id == block_id, chosen).order_by(AllocationSlot.id)
    )
    found = [_because(row) for row in rows if row.id not in reminded]
    known = {each["slot_id"] for each in found} | reminded
    return found + [{"slot_id": id, "reason": "NOT_FOUND"} for id in dict.fromkeys(wanted or ()) if id not in known]


def _because(row: Any) -> dict[str, Any]:
    said: dict[str, Any] = {"slot_id": row.id, "name": row.name, "email": row.email}
    if row.status in (states.CLAIMED, states.ADMITTED):
        return {**said, "reason": "ALREADY_CLAIMED"}
    if row.status != states.INVITED:
        return {**said, "reason": "NOT_INVITED"}
    if row.email is None:
        return {**said, "reason": "NO_ADDRESS"}
    return {**said, "reason": "REMINDED_RECENTLY", "reminded_at": row.reminded_at}
