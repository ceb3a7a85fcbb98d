"""Claiming a place: with a link of one's own, with a code, or on a link for anybody.

Giving free places of a locked block to one person: what the open link and the holder's link share.

Several places given at once are a party: they share `party_id`, and their tickets go out in one mail.
"""

from dataclasses import dataclass
from typing import Any

from sqlalchemy import RowMapping
from sqlalchemy.orm import Session

from app.allocations import link_tokens, serializers, slot_changes, states
from app.allocations.errors import AlreadyClaimed, NoSlotsLeft
from app.allocations.link_tokens import ResolvedToken, resolve_token
from app.core.errors import ValidationFailed
from app.core.outbox import enqueue
from app.core.transaction import transaction

CLAIM_INVITED_SLOT = slot_changes.build_statement(
    slot_changes.slot_change_sql(
        f"""touched AS (
            UPDATE allocation_slot s
               SET status = 'claimed', claim_code = s.code, code = :code, name = :name, email = :email,
                   phone = :phone, delivery = :delivery, party_id = s.id, claimed_at = now(), version = s.version + 1
             WHERE s.id = :slot_id AND s.status = 'invited'
               AND s.generation = coalesce(CAST(:generation AS integer), s.generation)
            RETURNING {slot_changes.SLOT_COLUMNS_SQL}, 'invited' AS was, s.status AS became, NULL::text AS gate,
                      s.code, s.claimed_at, s.generation)""",
        "SELECT id, code, claimed_at, generation FROM touched",
    )
)


def claim_slot(token: str, network: str, **guest_fields: Any) -> dict[str, Any]:
    """Gives the bearer of a claim link, a code or an open link their place, and has the ticket mailed.

    Of many at once on the last places as many succeed as there are places. Raises NotFound, Throttled, LinkExpired,
    LinkUsed, NoSlotsLeft, AlreadyClaimed, ValidationFailed.
    """
    claimant = Claimant(**guest_fields)
    resolved_token = resolve_token(token, network, "claim", "open")
    with transaction() as session:
        if resolved_token.purpose == "open":
            return _claim_open_slots(session, resolved_token, claimant)
        return _claim_invited_slot(session, resolved_token, claimant)


@dataclass(frozen=True)
class Claimant:
    """Who gets a place, how the ticket reaches them, and how many places."""

    name: str
    email: str
    phone: str | None = None
    delivery: str = states.E_TICKET
    quantity: int = 1


def _claim_invited_slot(session: Session, resolved_token: ResolvedToken, claimant: Claimant) -> dict[str, Any]:
    if claimant.quantity != 1:
        raise ValidationFailed.of("quantity", "too_large", "This link is for one place.")
    block = slot_changes.lock_block_by_id(session, slot_id=resolved_token.id)
    link_tokens.check_block_claimable(block)
    params = {
        **vars(claimant),
        "slot_id": resolved_token.id,
        "generation": resolved_token.generation,
        "code": link_tokens.generate_code(),
    }
    rows = list(
        session.execute(
            CLAIM_INVITED_SLOT, {**params, **slot_changes.actor_params(slot_changes.GUEST_ACTOR, "claim")}
        ).mappings()
    )
    if not rows:
        raise (
            link_tokens.find_link_error(link_tokens.load_slot(session, resolved_token.id), resolved_token)
            or NoSlotsLeft()
        )
    enqueue_ticket_email(resolved_token.id, rows[0]["generation"])
    return serialize_claim(block, claimant, rows)


def _claim_open_slots(session: Session, resolved_token: ResolvedToken, claimant: Claimant) -> dict[str, Any]:
    block = slot_changes.lock_block_by_id(session, block_id=resolved_token.id)
    link_tokens.check_block_link(block, resolved_token)
    max_per_claim = block["open_max_per_claim"]
    if claimant.quantity > max_per_claim:
        raise ValidationFailed.of("quantity", "too_large", f"This link gives {max_per_claim} at a time.")
    remaining = serializers.count_open_link_slots(block)
    if remaining < claimant.quantity:
        raise NoSlotsLeft(remaining=remaining)
    rows = assign_slots(session, resolved_token.id, claimant, via=states.OPEN_LINK, actor=slot_changes.GUEST_ACTOR)
    if not rows:
        raise AlreadyClaimed()
    return serialize_claim(block, claimant, rows)


ASSIGNMENT_CTES = f"""picked AS (
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
        RETURNING {slot_changes.SLOT_COLUMNS_SQL}, 'available' AS was, s.status AS became, NULL::text AS gate,
                  s.code, s.claimed_at, s.generation)"""
ASSIGNED_SLOTS_SQL = "SELECT id, code, claimed_at, generation FROM touched ORDER BY id"
ASSIGN_BY_HOLDER = slot_changes.build_statement(slot_changes.slot_change_sql(ASSIGNMENT_CTES, ASSIGNED_SLOTS_SQL))
ASSIGN_BY_OPEN_LINK = slot_changes.build_statement(
    slot_changes.slot_change_sql(
        ASSIGNMENT_CTES, ASSIGNED_SLOTS_SQL, block_assignments="open_claims = b.open_claims + :quantity"
    )
)


def assign_slots(
    session: Session,
    block_id: str,
    claimant: Claimant,
    *,
    via: str,
    actor: slot_changes.Actor,
    allow_duplicates: bool = False,
) -> list[RowMapping]:
    """The places that they have now, with their codes: none when their address has one on this link already.

    The caller holds the block's lock and knows that there are enough. `again` lets an address have more.
    """
    statement = ASSIGN_BY_OPEN_LINK if via == states.OPEN_LINK else ASSIGN_BY_HOLDER
    params = {
        **vars(claimant),
        "block_id": block_id,
        "via": via,
        "again": allow_duplicates,
        "codes": [link_tokens.generate_code() for _ in range(claimant.quantity)],
        **slot_changes.actor_params(actor, "claim"),
    }
    rows = list(session.execute(statement, params).mappings())
    if rows:
        enqueue_ticket_email(rows[0]["id"], rows[0]["generation"], slots=len(rows))
    return rows


def enqueue_ticket_email(slot_id: str, generation: int, *, slots: int = 1) -> None:
    """Has the ticket mailed, or the confirmation for will call; with `slots` above 1 for the whole party."""
    enqueue("allocations.ticket", slot_id=slot_id, generation=generation, slots=slots)


def serialize_claim(block: Any, claimant: Claimant, rows: list[RowMapping]) -> dict[str, Any]:
    """What the person is told."""
    first_slot = rows[0]
    return {
        "slot_id": first_slot["id"],
        "status": states.CLAIMED,
        "code": first_slot["code"],
        "name": claimant.name,
        "email": claimant.email,
        "phone": claimant.phone,
        "delivery": claimant.delivery,
        "quantity": len(rows),
        "slots": [{"slot_id": row["id"], "code": row["code"]} for row in rows],
        "claimed_at": first_slot["claimed_at"],
        "event_name": block["event_name"],
        "ticket_type_name": block["ticket_type_name"],
    }
