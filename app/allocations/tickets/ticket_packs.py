"""Packs: tickets without names for the door. A pack claims its places at once, and is printed as one document.

No ticket is ever in two packs (a slot stands in one at most), so anyone who wants to print again fetches the pack that
they have. The document is drawn by a worker and kept in the file store.
"""

from collections.abc import Iterator
from tempfile import TemporaryFile
from typing import Any

from sqlalchemy import RowMapping, select, update
from sqlalchemy.orm import Session

from app.accounts.caller import Caller
from app.allocations import link_tokens, slot_changes
from app.allocations.actions.claim_codes import check_free_slots
from app.allocations.models import AllocationBlock, AllocationSlot
from app.allocations.tickets.errors import PackNotReady
from app.allocations.tickets.models import DONE, QUEUED, RUNNING, TicketPack, TicketPackSlot
from app.allocations.tickets.ticket_data import Ticket, load_tickets_where
from app.allocations.tickets.ticket_pdf import draw_pack_pdf
from app.clients import storage
from app.core.db import db, release_connection
from app.core.errors import NotFound
from app.core.ids import new_id
from app.core.jobs import Run
from app.core.outbox import enqueue
from app.core.transaction import transaction
from app.events.models import Event
from app.events.queries import READS, owned

BATCH_SIZE = 400
CREATE_PACK = slot_changes.build_statement(
    slot_changes.slot_change_sql(
        f"""made AS (
            INSERT INTO ticket_pack (id, block_id, count, status, created_by)
            VALUES (:pack_id, :block_id, :count, 'queued', :actor_id) RETURNING id),
        picked AS (
            SELECT id, row_number() OVER (ORDER BY id) AS number FROM allocation_slot
             WHERE block_id = :block_id AND given_at IS NULL AND ended_at IS NULL ORDER BY id LIMIT :count),
        printed AS (
            INSERT INTO ticket_pack_slot (slot_id, pack_id, number)
            SELECT p.id, made.id, p.number FROM picked p, made RETURNING slot_id),
        touched AS (
            UPDATE allocation_slot s
               SET status = 'claimed', via = 'pack', code = c.code, delivery = 'e_ticket', party_id = s.id,
                   given_at = now(), claimed_at = now(), version = s.version + 1
              FROM picked p JOIN unnest(CAST(:codes AS text[])) WITH ORDINALITY c (code, number) USING (number)
             WHERE s.id = p.id
            RETURNING {slot_changes.SLOT_COLUMNS_SQL}, 'available' AS was, s.status AS became, NULL::text AS gate)""",
        "SELECT count(*) FROM touched",
    )
)
PACK_COLUMNS = (
    TicketPack.id,
    TicketPack.block_id,
    TicketPack.count,
    TicketPack.status,
    TicketPack.drawn,
    TicketPack.created_at,
)


def create_pack(caller: Caller, event_id: str, block_id: str, *, count: int) -> dict[str, Any]:
    """Claims so many free places as unnamed tickets, all or none, and has them printed.

    Raises NotFound, InsufficientSlots, EventClosed.
    """
    with transaction() as session:
        block = slot_changes.lock_block(session, caller, event_id, block_id)
        link_tokens.check_event_open(block)
        check_free_slots(block, count)
        pack_id = new_id()
        codes = [link_tokens.generate_code() for _ in range(count)]
        params = {"pack_id": pack_id, "block_id": block_id, "count": count, "codes": codes}
        session.execute(
            CREATE_PACK, {**params, **slot_changes.actor_params(slot_changes.build_organiser_actor(caller), "print")}
        )
        enqueue("allocations.print_pack", aggregate=block_id, pack_id=pack_id)
    return {"id": pack_id, "count": count, "status": QUEUED, "progress": 0}


def get_pack(caller: Caller, event_id: str, block_id: str, pack_id: str) -> dict[str, Any]:
    """How far a pack is. Raises NotFound."""
    row = _get_pack_row(caller, event_id, block_id, pack_id)
    return {**row, "progress": 100 * row["drawn"] // row["count"]}


def list_packs(caller: Caller, event_id: str, block_id: str) -> list[dict[str, Any]]:
    """The packs of a block, the newest first, a hundred at most. Raises NotFound."""
    rows = (
        db.session.execute(
            select(AllocationBlock.id.label("of"), *PACK_COLUMNS)
            .join(Event, Event.id == AllocationBlock.event_id)
            .outerjoin(TicketPack, TicketPack.block_id == AllocationBlock.id)
            .where(AllocationBlock.id == block_id, Event.id == event_id, owned(caller, READS))
            .order_by(TicketPack.created_at.desc(), TicketPack.id.desc())
            .limit(100)
        )
        .mappings()
        .all()
    )
    if not rows:
        raise NotFound()
    return [{**row, "progress": 100 * row["drawn"] // row["count"]} for row in rows if row["id"] is not None]


def get_pack_pdf(caller: Caller, event_id: str, block_id: str, pack_id: str) -> bytes:
    """A pack's document. Raises NotFound, PackNotReady, StorageUnavailable."""
    row = _get_pack_row(caller, event_id, block_id, pack_id)
    release_connection()
    if row["status"] != DONE:
        raise PackNotReady(retry_after=2, progress=100 * row["drawn"] // row["count"])
    data = storage.get(_build_file_name(pack_id))
    if data is None:
        raise NotFound()
    return data


def draw_and_store_pack(run: Run, pack_id: str) -> None:
    """Draws a pack sheet by sheet, stores the document, and says how far it is. Done twice, it gives the same."""
    pack = db.session.get(TicketPack, pack_id)
    release_connection()
    if pack is None or pack.status == DONE:
        return
    with TemporaryFile() as file:
        tickets = _iterate_tickets(pack_id, pack.count)
        first_ticket = next(tickets)
        title = f"{pack.count} tickets for {first_ticket.event}"
        for drawn in draw_pack_pdf(
            file, _prepend_ticket(first_ticket, tickets), title=title, organiser=first_ticket.organiser
        ):
            if drawn % BATCH_SIZE == 0:
                _store_progress(run, pack_id, drawn, RUNNING)
        file.seek(0)
        storage.put(_build_file_name(pack_id), file.read(), content_type="application/pdf")
    _store_progress(run, pack_id, pack.count, DONE)


def _iterate_tickets(pack_id: str, count: int) -> Iterator[Ticket]:
    """The tickets of a pack in the order of their numbers, some hundred at a time."""
    for first_number in range(1, count + 1, BATCH_SIZE):
        slot_ids_query = select(TicketPackSlot.slot_id).where(
            TicketPackSlot.pack_id == pack_id,
            TicketPackSlot.number.between(first_number, first_number + BATCH_SIZE - 1),
        )
        tickets = load_tickets_where(db.session(), AllocationSlot.id.in_(slot_ids_query))
        release_connection()
        yield from tickets


def _prepend_ticket(first_ticket: Ticket, tickets: Iterator[Ticket]) -> Iterator[Ticket]:
    yield first_ticket
    yield from tickets


def _store_progress(run: Run, pack_id: str, drawn: int, status: str) -> None:
    with transaction() as session:
        run.hold_in(session)
        _update_pack(session, pack_id, drawn=drawn, status=status)


def _update_pack(session: Session, pack_id: str, **values: Any) -> None:
    statement = update(TicketPack).where(TicketPack.id == pack_id, TicketPack.status != DONE).values(**values)
    session.execute(statement.execution_options(synchronize_session=False))


def _get_pack_row(caller: Caller, event_id: str, block_id: str, pack_id: str) -> RowMapping:
    row = (
        db.session.execute(
            select(*PACK_COLUMNS)
            .join(AllocationBlock, AllocationBlock.id == TicketPack.block_id)
            .join(Event, Event.id == AllocationBlock.event_id)
            .where(TicketPack.id == pack_id, AllocationBlock.id == block_id, Event.id == event_id, owned(caller, READS))
        )
        .mappings()
        .first()
    )
    if row is None:
        raise NotFound()
    return row


def _build_file_name(pack_id: str) -> str:
    return f"ticket-packs/{pack_id}.pdf"
