"""Giving free places of a locked block to one person: what the open link and the holder's link share.

Several places given at once are a party: they share `party_id`, and their tickets go out in one mail.
"""

from dataclasses import dataclass
from typing import Any

from sqlalchemy import RowMapping
from sqlalchemy.orm import Session

from app.allocations import books, links, states
from app.core.outbox import enqueue

PLACES = f"""picked AS (
        SELECT id, row_number() OVER (ORDER BY id) AS number, min(id) OVER () AS party FROM (
            SELECT id FROM allocation_slot
             WHERE block_id = :block_id AND given_at IS NULL AND ended_at IS NULL
               AND (:again OR NOT EXISTS (
                   SELECT FROM allocation_slot t WHERE t.block_id = :block_id AND t.email = :email
                      AND t.via = :via AND t.ended_at IS NULL))
             ORDER BY id LIMIT :quantity) free),
    touched AS (
        UPDATE allocation_slot s
           SET status = 'claimed', via = :via, code = c.code, name = :name, email = :email, phone = :phone,
               delivery = :delivery, party_id = p.party, party_size = :quantity, given_at = now(),
               claimed_at = now(), version = s.version + 1
          FROM picked p JOIN unnest(CAST(:codes AS text[])) WITH ORDINALITY c (code, number) USING (number)
         WHERE s.id = p.id
        RETURNING {books.SLOT}, 'available' AS was, s.status AS became, NULL::text AS gate,
                  s.code, s.claimed_at, s.generation)"""
ANSWER = "SELECT id, code, claimed_at, generation FROM touched ORDER BY id"
BY_HOLDER = books.sql(books.changing(PLACES, ANSWER))
BY_OPEN_LINK = books.sql(books.changing(PLACES, ANSWER, also="open_claims = b.open_claims + :quantity"))


@dataclass(frozen=True)
class Person:
    """Who gets a place, how the ticket reaches him, and how many places."""

    name: str
    email: str
    phone: str | None = None
    delivery: str = states.E_TICKET
    quantity: int = 1


def give(
    session: Session, block_id: str, person: Person, *, via: str, actor: books.Actor, again: bool = False
) -> list[RowMapping]:
    """The places that he has now, with their codes: none when his address has one on this link already.

    The caller holds the block's lock and knows that there are enough. `again` lets an address have more.
    """
    statement = BY_OPEN_LINK if via == states.OPEN_LINK else BY_HOLDER
    given = {
        **vars(person),
        "block_id": block_id,
        "via": via,
        "again": again,
        "codes": [links.new_code() for _ in range(person.quantity)],
        **books.acting(actor, "claim"),
    }
    rows = list(session.execute(statement, given).mappings())
    if rows:
        send_ticket(rows[0]["id"], rows[0]["generation"], slots=len(rows))
    return rows


def send_ticket(slot_id: str, generation: int, *, slots: int = 1) -> None:
    """Has the ticket mailed, or the confirmation for will call; with `slots` above 1 for the whole party."""
    enqueue("allocations.ticket", slot_id=slot_id, generation=generation, slots=slots)


def told(block: Any, person: Person, rows: list[RowMapping]) -> dict[str, Any]:
    """What the person is told."""
    first = rows[0]
    return {
        "slot_id": first["id"],
        "status": states.CLAIMED,
        "code": first["code"],
        "name": person.name,
        "email": person.email,
        "phone": person.phone,
        "delivery": person.delivery,
        "quantity": len(rows),
        "slots": [{"slot_id": each["id"], "code": each["code"]} for each in rows],
        "claimed_at": first["claimed_at"],
        "event_name": block["event_name"],
        "ticket_type_name": block["ticket_type_name"],
    }
