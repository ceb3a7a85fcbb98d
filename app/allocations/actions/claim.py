"""Claiming a place: with a link of one's own, with a code, or on a link for anybody."""

from typing import Any

from sqlalchemy.orm import Session

from app.allocations import books, claiming, giving, links, shown, states
from app.allocations.errors import AlreadyClaimed, NoSlotsLeft
from app.allocations.finding import Key, found
from app.allocations.giving import Person
from app.core.errors import ValidationFailed
from app.core.transaction import transaction

CLAIM = books.sql(
    books.changing(
        f"""touched AS (
            UPDATE allocation_slot s
               SET status = 'claimed', claim_code = s.code, code = :code, name = :name, email = :email,
                   phone = :phone, delivery = :delivery, party_id = s.id, claimed_at = now(), version = s.version + 1
             WHERE s.id = :slot_id AND s.status = 'invited'
               AND s.generation = coalesce(CAST(:generation AS integer), s.generation)
            RETURNING {books.SLOT}, 'invited' AS was, s.status AS became, NULL::text AS gate,
                      s.code, s.claimed_at, s.generation)""",
        "SELECT id, code, claimed_at, generation FROM touched",
    )
)


def claim(token: str, network: str, **sent: Any) -> dict[str, Any]:
    """Gives the bearer of a claim link, a code or an open link his place, and has the ticket mailed.

    Of many at once on the last places as many succeed as there are places. Raises NotFound, Throttled, LinkExpired,
    LinkUsed, NoSlotsLeft, AlreadyClaimed, ValidationFailed.
    """
    person = Person(**sent)
    key = found(token, network, "claim", "open")
    with transaction() as session:
        if key.purpose == "open":
            return _claim_open(session, key, person)
        return _claim_own(session, key, person)


def _claim_own(session: Session, key: Key, person: Person) -> dict[str, Any]:
    if person.quantity != 1:
        raise ValidationFailed.of("quantity", "too_large", "This link is for one place.")
    block = books.locked_behind(session, slot_id=key.id)
    claiming.check_event(block)
    given = {**vars(person), "slot_id": key.id, "generation": key.generation, "code": links.new_code()}
    rows = list(session.execute(CLAIM, {**given, **books.acting(books.GUEST, "claim")}).mappings())
    if not rows:
        raise claiming.death(claiming.slot(session, key.id), key) or NoSlotsLeft()
    giving.send_ticket(key.id, rows[0]["generation"])
    return giving.told(block, person, rows)


def _claim_open(session: Session, key: Key, person: Person) -> dict[str, Any]:
    block = books.locked_behind(session, block_id=key.id)
    claiming.check_block(block, key)
    most = block["open_max_per_claim"]
    if person.quantity > most:
        raise ValidationFailed.of("quantity", "too_large", f"This link gives {most} at a time.")
    left = shown.remaining(block)
    if left < person.quantity:
        raise NoSlotsLeft(remaining=left)
    rows = giving.give(session, key.id, person, via=states.OPEN_LINK, actor=books.GUEST)
    if not rows:
        raise AlreadyClaimed()
    return giving.told(block, person, rows)
