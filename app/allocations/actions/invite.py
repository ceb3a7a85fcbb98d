"""Inviting people: each gets a claim link by mail."""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy.orm import Session

from app.accounts.caller import Caller
from app.accounts.outgoing_mail import count_mails, sender_of
from app.allocations import books, claiming, links
from app.allocations.actions.codes import check_free
from app.allocations.queries import taken_addresses
from app.core.outbox import enqueue_many
from app.core.transaction import transaction

Recipient = Mapping[str, Any]
INVITE = books.sql(
    books.changing(
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
            RETURNING {books.SLOT}, 'available' AS was, s.status AS became, NULL::text AS gate,
                      s.name, s.email, s.generation)""",
        "SELECT id, name, email, generation FROM touched ORDER BY id",
    )
)


def invite(
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
        block = books.locked(session, caller, event_id, block_id)
        claiming.check_giving(block)
        taken = (
            set() if allow_duplicates else taken_addresses(session, block_id, [each["email"] for each in recipients])
        )
        wanted, duplicates = _sorted_out(recipients, taken, allow_duplicates)
        check_free(block, len(wanted))
        made = [] if dry_run or not wanted else _invited(session, block_id, wanted, books.organiser(caller))
        count_mails(session, sender_of(block), [each["email"] for each in made])
    return {
        "invited": made if not dry_run else [_told(each) for each in wanted],
        "duplicates": duplicates,
        "available": block["available"] - len(wanted),
        "dry_run": dry_run,
    }


def _sorted_out(
    recipients: Sequence[Recipient], taken: set[str], allow_duplicates: bool
) -> tuple[list[Recipient], list[dict[str, Any]]]:
    wanted: list[Recipient] = []
    duplicates: list[dict[str, Any]] = []
    listed: set[str] = set()
    for each in recipients:
        email = each["email"]
        reason = "ALREADY_INVITED" if email in taken else "LISTED_TWICE" if email in listed else None
        if reason is None or allow_duplicates:
            wanted.append(each)
        else:
            duplicates.append({**_told(each), "reason": reason})
        listed.add(email)
    return wanted, duplicates


def _told(recipient: Recipient) -> dict[str, Any]:
    return {"name": recipient["name"], "email": recipient["email"]}


def _invited(session: Session, block_id: str, wanted: Sequence[Recipient], actor: books.Actor) -> list[dict[str, Any]]:
    columns = {f"{name}s": [each.get(name) for each in wanted] for name in ("name", "email", "phone")}
    given = {"block_id": block_id, "count": len(wanted), **columns, **books.acting(actor, "invite")}
    rows = session.execute(INVITE, given).all()
    enqueue_many(
        "allocations.invite",
        [(None, {"slot_id": row.id, "generation": row.generation}) for row in rows],
        aggregate=block_id,
    )
    return [
        {"slot_id": row.id, "name": row.name, "email": row.email, "url": links.url_of("claim", row.id, row.generation)}
        for row in rows
    ]
