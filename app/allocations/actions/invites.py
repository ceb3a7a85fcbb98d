"""Inviting people: each gets a claim link by mail.

Reminding those who were invited and have not claimed: the same link again, once a day at most.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.accounts.caller import Caller
from app.accounts.outgoing_mail import build_sender, count_mails
from app.allocations import link_tokens, slot_changes, states
from app.allocations.actions.claim_codes import check_free_slots
from app.allocations.models import AllocationSlot
from app.allocations.queries import find_taken_emails
from app.core.outbox import enqueue_many
from app.core.transaction import transaction

Recipient = Mapping[str, Any]
INVITE_SLOTS = slot_changes.build_statement(
    slot_changes.slot_change_sql(
        f"""picked AS (
            SELECT id, row_number() OVER (ORDER BY id) AS number FROM allocation_slot
             WHERE block_id = :block_id AND given_at IS NULL AND ended_at IS NULL ORDER BY id LIMIT :count),
        touched AS (
            UPDATE allocation_slot s
               SET status = 'invited', via = 'invite', name = r.name, email = r.email, phone = r.phone,
                   given_at = now(), version = s.version + 1
              FROM picked p
              JOIN unnest(CAST(:names AS text[]), CAST(:emails AS text[]), CAST(:phones AS text[]))
                   WITH ORDINALITY r (name, email, phone, number) USING (number)
             WHERE s.id = p.id
            RETURNING {slot_changes.SLOT_COLUMNS_SQL}, 'available' AS was, s.status AS became, NULL::text AS gate,
                      s.name, s.email, s.generation)""",
        "SELECT id, name, email, generation FROM touched ORDER BY id",
    )
)


def invite_recipients(
    caller: Caller,
    event_id: str,
    block_id: str,
    *,
    recipients: Sequence[Recipient],
    allow_duplicates: bool,
    dry_run: bool,
) -> dict[str, Any]:
    """Invites everybody who has no place in the block yet, or nobody when there are too few places.

    An address that occurs twice, or has a living slot in the block, is reported, unless `allow_duplicates`. With
    `dry_run` nothing is written, and the answer is what it would be. Raises NotFound, EventClosed,
    ReleaseTimePassed, InsufficientSlots, SenderNotVerified, MailLimitReached.
    """
    with transaction() as session:
        block = slot_changes.lock_block(session, caller, event_id, block_id)
        link_tokens.check_block_open(block)
        taken_emails = (
            set()
            if allow_duplicates
            else find_taken_emails(session, block_id, [recipient["email"] for recipient in recipients])
        )
        accepted, duplicates = _split_duplicates(recipients, taken_emails, allow_duplicates)
        check_free_slots(block, len(accepted))
        invited = (
            []
            if dry_run or not accepted
            else _invite_slots(session, block_id, accepted, slot_changes.build_organiser_actor(caller))
        )
        count_mails(session, build_sender(block), [recipient["email"] for recipient in invited])
    return {
        "invited": invited if not dry_run else [_serialize_recipient(recipient) for recipient in accepted],
        "duplicates": duplicates,
        "available": block["available"] - len(accepted),
        "dry_run": dry_run,
    }


def _split_duplicates(
    recipients: Sequence[Recipient], taken_emails: set[str], allow_duplicates: bool
) -> tuple[list[Recipient], list[dict[str, Any]]]:
    accepted: list[Recipient] = []
    duplicates: list[dict[str, Any]] = []
    seen_emails: set[str] = set()
    for recipient in recipients:
        email = recipient["email"]
        reason = "ALREADY_INVITED" if email in taken_emails else "LISTED_TWICE" if email in seen_emails else None
        if reason is None or allow_duplicates:
            accepted.append(recipient)
        else:
            duplicates.append({**_serialize_recipient(recipient), "reason": reason})
        seen_emails.add(email)
    return accepted, duplicates


def _serialize_recipient(recipient: Recipient) -> dict[str, Any]:
    return {"name": recipient["name"], "email": recipient["email"]}


def _invite_slots(
    session: Session, block_id: str, recipients: Sequence[Recipient], actor: slot_changes.Actor
) -> list[dict[str, Any]]:
    columns = {f"{name}s": [recipient.get(name) for recipient in recipients] for name in ("name", "email", "phone")}
    params = {"block_id": block_id, "count": len(recipients), **columns, **slot_changes.actor_params(actor, "invite")}
    rows = session.execute(INVITE_SLOTS, params).all()
    enqueue_many(
        "allocations.invite",
        [(None, {"slot_id": row.id, "generation": row.generation}) for row in rows],
        aggregate=block_id,
    )
    return [
        {
            "slot_id": row.id,
            "name": row.name,
            "email": row.email,
            "url": link_tokens.build_link_url("claim", row.id, row.generation),
        }
        for row in rows
    ]


REMIND_SLOTS = slot_changes.build_statement(
    slot_changes.slot_event_sql(
        f"""touched AS (
            UPDATE allocation_slot s SET reminded_at = now(), version = s.version + 1
             WHERE s.block_id = :block_id AND s.status = 'invited' AND s.email IS NOT NULL
               AND (s.reminded_at IS NULL OR s.reminded_at <= now() - interval '24 hours')
               AND (CAST(:slot_ids AS text[]) IS NULL OR s.id = ANY(CAST(:slot_ids AS text[])))
            RETURNING {slot_changes.SLOT_COLUMNS_SQL}, s.status AS was, s.status AS became, NULL::text AS gate,
                      s.name, s.email, s.generation, s.reminded_at)""",
        "SELECT id, name, email, generation, reminded_at FROM touched ORDER BY id",
    )
)


def remind_recipients(
    caller: Caller, event_id: str, block_id: str, *, slot_ids: Sequence[str] | None = None
) -> dict[str, list[dict[str, Any]]]:
    """Mails everybody (or those named) who is invited by mail and has not claimed; the others with the reason why not.

    Raises NotFound, EventClosed, ReleaseTimePassed, SenderNotVerified, MailLimitReached.
    """
    requested_ids = None if slot_ids is None else list(slot_ids)
    with transaction() as session:
        block = slot_changes.lock_block(session, caller, event_id, block_id)
        link_tokens.check_block_open(block)
        params = {
            "block_id": block_id,
            "slot_ids": requested_ids,
            **slot_changes.actor_params(slot_changes.build_organiser_actor(caller), "remind"),
        }
        rows = session.execute(REMIND_SLOTS, params).all()
        count_mails(session, build_sender(block), [row.email for row in rows])
        enqueue_many(
            "allocations.remind",
            [(None, {"slot_id": row.id, "generation": row.generation}) for row in rows],
            aggregate=block_id,
        )
        skipped = _list_skipped(session, block_id, requested_ids, {row.id for row in rows})
    reminded = [{"slot_id": row.id, "name": row.name, "email": row.email} for row in rows]
    return {"reminded": reminded, "skipped": skipped}


def _list_skipped(
    session: Session, block_id: str, requested_ids: list[str] | None, reminded_ids: set[str]
) -> list[dict[str, Any]]:
    columns = (
        AllocationSlot.id,
        AllocationSlot.name,
        AllocationSlot.email,
        AllocationSlot.status,
        AllocationSlot.reminded_at,
    )
    condition = (
        AllocationSlot.id.in_(requested_ids)
        if requested_ids is not None
        else AllocationSlot.via.in_((states.INVITE, states.CODE)) & AllocationSlot.ended_at.is_(None)
    )
    rows = session.execute(
        select(*columns).where(AllocationSlot.block_id == block_id, condition).order_by(AllocationSlot.id)
    )
    skipped = [_serialize_skipped(row) for row in rows if row.id not in reminded_ids]
    known_ids = {slot["slot_id"] for slot in skipped} | reminded_ids
    return skipped + [
        {"slot_id": id, "reason": "NOT_FOUND"} for id in dict.fromkeys(requested_ids or ()) if id not in known_ids
    ]


def _serialize_skipped(row: Any) -> dict[str, Any]:
    slot: dict[str, Any] = {"slot_id": row.id, "name": row.name, "email": row.email}
    if row.status in (states.CLAIMED, states.ADMITTED):
        return {**slot, "reason": "ALREADY_CLAIMED"}
    if row.status != states.INVITED:
        return {**slot, "reason": "NOT_INVITED"}
    if row.email is None:
        return {**slot, "reason": "NO_ADDRESS"}
    return {**slot, "reason": "REMINDED_RECENTLY", "reminded_at": row.reminded_at}
