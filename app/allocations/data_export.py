"""Free tickets, blocks and issued invoices in the copy of a person's data. A ticket's code is a secret and not in it."""

from sqlalchemy import select

from app.accounts.data_export import ExportOwner, export_part, list_rows
from app.accounts.queries import owned_organisations
from app.allocations.models import AllocationBlock, AllocationSlot, Invoice
from app.events.event_rows import belongs_to
from app.events.models import Event


@export_part("free_tickets")
def export_slots(owner: ExportOwner) -> list[dict[str, object]]:
    """Places that were given to the verified address."""
    query = (
        select(
            Event.name.label("event"),
            Event.starts_at.label("event_starts_at"),
            AllocationBlock.name.label("block"),
            AllocationSlot.status,
            AllocationSlot.name,
            AllocationSlot.email,
            AllocationSlot.phone,
            AllocationSlot.delivery,
            AllocationSlot.given_at,
            AllocationSlot.claimed_at,
            AllocationSlot.admitted_at,
            AllocationSlot.ended_at,
        )
        .join(AllocationBlock, AllocationBlock.event_id == Event.id)
        .join(AllocationSlot, belongs_to(AllocationSlot.block_id, AllocationBlock))
        .where(AllocationSlot.email == owner.email)
    )
    return list_rows(query.order_by(Event.starts_at, AllocationSlot.id))


@export_part("blocks")
def export_held_blocks(owner: ExportOwner) -> list[dict[str, object]]:
    """Blocks of places whose holder has the verified address."""
    query = (
        select(
            Event.name.label("event"),
            AllocationBlock.name.label("block"),
            AllocationBlock.kind,
            AllocationBlock.holder_name,
            AllocationBlock.holder_email,
            AllocationBlock.holder_phone,
            AllocationBlock.holder_organisation,
            AllocationBlock.buyer_name,
            AllocationBlock.buyer_address,
            AllocationBlock.buyer_vat_number,
            AllocationBlock.buyer_reference,
            AllocationBlock.notes,
            AllocationBlock.quantity,
            AllocationBlock.unit_price_minor,
            AllocationBlock.status,
            AllocationBlock.created_at,
        )
        .join(Event, Event.id == AllocationBlock.event_id)
        .where(AllocationBlock.holder_email == owner.email)
    )
    return list_rows(query.order_by(AllocationBlock.created_at, AllocationBlock.id))


@export_part("invoices")
def export_invoices(owner: ExportOwner) -> list[dict[str, object]]:
    """Invoices and credit notes that the person has issued as an organiser, without their recipients."""
    query = select(
        Invoice.kind, Invoice.number, Invoice.quantity, Invoice.total_minor, Invoice.event_id, Invoice.issued_at
    ).where(Invoice.organiser_id.in_(owned_organisations(owner.account_id)))
    return list_rows(query.order_by(Invoice.issued_at, Invoice.id))
