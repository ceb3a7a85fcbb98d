"""Ticket packs: unnamed tickets of a block, claimed together and printed as one PDF by a worker.

A slot is in one pack at most. To print a pack again, its stored PDF is downloaded again.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import chain
from tempfile import TemporaryFile

from sqlalchemy import select, update

from app.accounts.caller import Caller
from app.allocations import sql
from app.allocations.actions.guest_lists import check_free_slots
from app.allocations.errors import PackNotReady
from app.allocations.links import check_event_open, generate_code
from app.allocations.models import AllocationBlock, AllocationSlot, TicketPack, TicketPackSlot
from app.allocations.queries import lock_block, owned_block
from app.allocations.sql import build_organiser_actor
from app.allocations.states import DONE, QUEUED, RUNNING
from app.allocations.ticket_data import Ticket, load_tickets
from app.allocations.ticket_pdf import draw_pack_pdf
from app.audit.actions import Action
from app.audit.log import record, record_export
from app.clients import storage
from app.core.db import db, release_connection
from app.core.errors import NotFound
from app.core.formatting import format_count
from app.core.ids import new_id
from app.core.jobs import Run
from app.core.outbox import enqueue
from app.core.transaction import transaction
from app.events.event_rows import belongs_to
from app.events.models import Event

BATCH_SIZE = 400
PACK_COLUMNS = (
    TicketPack.id,
    TicketPack.count,
    TicketPack.status,
    TicketPack.drawn,
    TicketPack.created_at,
)


@dataclass(frozen=True)
class PackStatus:
    """A pack, and how many of its tickets are drawn."""

    id: str
    count: int
    status: str
    drawn: int
    created_at: datetime | None = None

    @property
    def progress(self) -> int:
        """Per cent of the tickets that are drawn."""
        return 100 * self.drawn // self.count


def create_pack(caller: Caller, event_id: str, block_id: str, *, count: int) -> PackStatus:
    """Claim free places as unnamed tickets, all or none, and enqueue the drawing of their PDF.

    Raises NotFound, InsufficientSlots, EventClosed.
    """
    with transaction() as session:
        block = lock_block(session, caller, event_id, block_id)
        check_event_open(block)
        check_free_slots(block, count)
        pack_id = new_id()
        params = {
            **build_organiser_actor(caller).build_params("print"),
            "pack_id": pack_id,
            "block_id": block_id,
            "event_id": event_id,
            "count": count,
            "codes": [generate_code() for _ in range(count)],
        }
        session.execute(sql.CLAIM_PACK, params)
        data = {"block": block_id, "count": count}
        record(session, Action.PACK_CREATED, event_id=event_id, subject=pack_id, data=data)
        enqueue("allocations.print_pack", aggregate=block_id, pack_id=pack_id)
    return PackStatus(pack_id, count, QUEUED, drawn=0)


def get_pack(caller: Caller, event_id: str, block_id: str, pack_id: str) -> PackStatus:
    """Return a pack. Raises NotFound."""
    row = db.session.execute(
        select(*PACK_COLUMNS)
        .join(AllocationBlock, belongs_to(TicketPack.block_id, AllocationBlock))
        .join(Event, Event.id == AllocationBlock.event_id)
        .where(TicketPack.id == pack_id, owned_block(caller, event_id, block_id))
    ).first()
    if row is None:
        raise NotFound()
    return PackStatus(*row)


def list_packs(caller: Caller, event_id: str, block_id: str) -> list[PackStatus]:
    """Return the newest hundred packs of a block, the newest first. Raises NotFound."""
    rows = db.session.execute(
        select(*PACK_COLUMNS)
        .select_from(AllocationBlock)
        .join(Event, Event.id == AllocationBlock.event_id)
        .outerjoin(TicketPack, belongs_to(TicketPack.block_id, AllocationBlock))
        .where(owned_block(caller, event_id, block_id))
        .order_by(TicketPack.created_at.desc(), TicketPack.id.desc())
        .limit(100)
    ).all()
    if not rows:
        raise NotFound()
    return [PackStatus(*row) for row in rows if row.id is not None]


def get_pack_pdf(caller: Caller, event_id: str, block_id: str, pack_id: str) -> bytes:
    """Return the PDF of a pack. Raises NotFound, PackNotReady, StorageUnavailable."""
    pack = get_pack(caller, event_id, block_id, pack_id)
    release_connection()
    if pack.status != DONE:
        raise PackNotReady(retry_after=2, progress=pack.progress)
    data = storage.get(build_pack_file_name(pack_id))
    if data is None:
        raise NotFound()
    record_export(Action.TICKETS_EXPORTED, event_id=event_id, subject=pack_id, data={"block": block_id})
    return data


def draw_and_store_pack(run: Run, pack_id: str) -> None:
    """Draw a pack sheet by sheet, record the progress, and store the PDF. A second run does nothing."""
    pack = db.session.get(TicketPack, pack_id)
    release_connection()
    if pack is None or pack.status == DONE:
        return
    with TemporaryFile() as file:
        tickets = _iterate_tickets(pack_id, pack.count)
        first_ticket = next(tickets)
        title = f"{format_count(pack.count, 'ticket')} for {first_ticket.event}"
        all_tickets = chain([first_ticket], tickets)
        for drawn in draw_pack_pdf(file, all_tickets, title=title, organiser=first_ticket.organiser):
            if drawn % BATCH_SIZE == 0:
                _store_progress(run, pack_id, drawn, RUNNING)
        file.seek(0)
        storage.put(build_pack_file_name(pack_id), file.read(), content_type="application/pdf")
    _store_progress(run, pack_id, pack.count, DONE)


def _iterate_tickets(pack_id: str, count: int) -> Iterator[Ticket]:
    """Yield the tickets of a pack in the order of their numbers, loading 400 at a time."""
    for first_number in range(1, count + 1, BATCH_SIZE):
        slot_ids_query = select(TicketPackSlot.slot_id).where(
            TicketPackSlot.pack_id == pack_id,
            TicketPackSlot.number.between(first_number, first_number + BATCH_SIZE - 1),
        )
        tickets = load_tickets(AllocationSlot.id.in_(slot_ids_query))
        release_connection()
        yield from tickets


def _store_progress(run: Run, pack_id: str, drawn: int, status: str) -> None:
    with transaction() as session:
        run.hold_in(session)
        statement = (
            update(TicketPack)
            .where(TicketPack.id == pack_id, TicketPack.status != DONE)
            .values(drawn=drawn, status=status)
        )
        session.execute(statement.execution_options(synchronize_session=False))


def build_pack_file_name(pack_id: str) -> str:
    return f"ticket-packs/{pack_id}.pdf"
