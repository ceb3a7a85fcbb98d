"""What the holder of a block does by his own link: hands out, renames, takes back."""

from typing import Any

from sqlalchemy import RowMapping, select
from sqlalchemy.orm import Session

from app.allocations import books, claiming, giving, links, states
from app.allocations.actions.revoke import end_slot
from app.allocations.errors import AlreadyAdmitted, AlreadyClaimed, NoSlotsLeft
from app.allocations.finding import Key, found
from app.allocations.giving import Person
from app.allocations.models import AllocationSlot
from app.core.errors import LinkExpired, NotFound
from app.core.ids import new_id
from app.core.transaction import transaction

TOLD = (
    AllocationSlot.id,
    AllocationSlot.status,
    AllocationSlot.name,
    AllocationSlot.email,
    AllocationSlot.phone,
    AllocationSlot.delivery,
    AllocationSlot.code,
    AllocationSlot.generation,
    AllocationSlot.version,
)
RENAME = books.sql(
    books.noting(
        f"""touched AS (
            UPDATE allocation_slot s
               SET name = :name, email = :email, phone = :phone, delivery = :delivery, code = :code,
                   party_id = :party_id, party_size = 1, generation = s.generation + 1, version = s.version + 1
             WHERE s.id = :slot_id AND s.status = 'claimed'
            RETURNING {books.SLOT}, s.status AS was, s.status AS became, NULL::text AS gate, s.generation),
        counted AS (UPDATE allocation_block b SET version = b.version + 1, updated_at = now()
                      FROM touched t WHERE b.id = t.block_id)""",
        "SELECT generation FROM touched",
    )
)


def use_allocator(token: str, network: str, *, action: str, **sent: Any) -> dict[str, Any]:
    """What a holder asks for: `hand_out`, `rename` or `take_back`. Raises what those do."""
    if action == "take_back":
        return take_back(token, network, slot_id=sent["slot_id"])
    if action == "rename":
        return rename(token, network, **sent)
    wanted = {name: value for name, value in sent.items() if name != "slot_id"}
    return hand_out(token, network, **wanted)


def hand_out(token: str, network: str, *, allow_duplicates: bool = False, **sent: Any) -> dict[str, Any]:
    """Gives somebody a place, or a party of several; the ticket goes to him.

    Raises NotFound, Throttled, LinkExpired, NoSlotsLeft, AlreadyClaimed.
    """
    person = Person(**sent)
    key = found(token, network, "allocator")
    with transaction() as session:
        block = _opened(session, key)
        if block["available"] < person.quantity:
            raise NoSlotsLeft("No place of the block is free for that.", remaining=block["available"])
        rows = giving.give(
            session, block["id"], person, via=states.ALLOCATOR, actor=books.HOLDER, again=allow_duplicates
        )
        if not rows:
            raise AlreadyClaimed("This address has a place already; send allowDuplicates to give it another.")
        return giving.told(block, person, rows)


def rename(token: str, network: str, *, slot_id: str, **sent: Any) -> dict[str, Any]:
    """Gives a handed-out place to somebody else: the old ticket dies, a new one goes out. What is not sent stays.

    The place leaves the party that it was handed out with: the guest before cannot enter on it any more.
    Raises NotFound, Throttled, LinkExpired, AlreadyAdmitted.
    """
    key = found(token, network, "allocator")
    with transaction() as session:
        block = _opened(session, key)
        slot = _own(session, block["id"], slot_id)
        if slot["status"] == states.ADMITTED:
            raise AlreadyAdmitted()
        if slot["status"] != states.CLAIMED:
            raise LinkExpired("This place is not with anybody any more; hand out another.")
        wanted = {name: sent.get(name) or slot[name] for name in ("name", "email", "phone", "delivery")}
        if any(wanted[name] != slot[name] for name in wanted):
            secrets = {"code": links.new_code(), "party_id": new_id()}
            given = {**wanted, **secrets, "slot_id": slot_id, **books.acting(books.HOLDER, "rename")}
            generation = session.scalar(RENAME, given)
            if generation is None:
                raise AlreadyAdmitted()
            giving.send_ticket(slot_id, generation)
        return {**_own(session, block["id"], slot_id), "slot_id": slot_id}


def take_back(token: str, network: str, *, slot_id: str) -> dict[str, Any]:
    """Ends a place that was handed out; it is free again, as a new one. Twice changes nothing more.

    Raises NotFound, Throttled, LinkExpired, AlreadyAdmitted.
    """
    key = found(token, network, "allocator")
    with transaction() as session:
        block = _opened(session, key)
        slot = _own(session, block["id"], slot_id)
        end_slot(session, block, slot, actor=books.HOLDER, verb="take_back", to_public=False)
        return {**_own(session, block["id"], slot_id), "slot_id": slot_id}


def _opened(session: Session, key: Key) -> RowMapping:
    """The block behind the holder's link, locked. Raises NotFound, LinkExpired."""
    block = books.locked_behind(session, block_id=key.id)
    claiming.check_block(block, key)
    return block


def _own(session: Session, block_id: str, slot_id: str) -> RowMapping:
    """A place that was handed out by this link: others' guests are not the holder's to move."""
    mine = (AllocationSlot.block_id == block_id, AllocationSlot.via == states.ALLOCATOR)
    row = session.execute(select(*TOLD).where(AllocationSlot.id == slot_id, *mine)).mappings().first()
    if row is None:
        raise NotFound()
    return row
