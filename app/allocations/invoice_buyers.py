"""Who the invoice of a block is for, and until when it is to be paid, as the organiser says before it is issued."""

from datetime import date
from typing import TypedDict, Unpack
from zoneinfo import ZoneInfo

from sqlalchemy import func, or_, select

from app.accounts.caller import Caller
from app.allocations.block_facts import digest_facts
from app.allocations.errors import BlockInvoiced
from app.allocations.invoice_context import lock_block_for_invoice
from app.allocations.models import AllocationBlock
from app.allocations.queries import BlockRow, has_invoice
from app.audit.actions import Action
from app.audit.log import record
from app.core.db import database_now, db
from app.core.errors import NotFound, StaleVersion
from app.core.formatting import HOME
from app.core.transaction import transaction
from app.events import queries as events
from app.events.models import Event
from app.invoicing.transfers import check_pay_by

BUYER_FIELDS = ("buyer_name", "buyer_address", "buyer_vat_number", "buyer_reference", "pay_by")
BUYER_INVOICED_MESSAGE = "The invoice of this block is issued, so its buyer no longer changes."


class BuyerChanges(TypedDict, total=False):
    """Fields to change; None removes one. Without a name the buyer is the holder."""

    buyer_name: str | None
    buyer_address: str | None
    buyer_vat_number: str | None
    buyer_reference: str | None
    pay_by: date | None


class PreviousBuyer(TypedDict):
    """The buyer of an earlier block of the same holder."""

    buyer_name: str | None
    buyer_address: str | None
    buyer_vat_number: str | None


def update_buyer(
    caller: Caller,
    event_id: str,
    block_id: str,
    *,
    expected_version: int | None = None,
    expected_digest: str | None = None,
    **changes: Unpack[BuyerChanges],
) -> None:
    """Change the buyer of a block's invoice, and the day until which it is to be paid.

    The same values again change nothing. Raises NotFound, BlockInvoiced, ValidationFailed for a day before today or in more
    than a year, and StaleVersion if the block has another version, or another buyer, than the expected one.
    """
    with transaction() as session:
        block = lock_block_for_invoice(session, block_id, event_id=event_id, caller=caller)
        if block is None:
            raise NotFound()
        new_values = {name: value or None for name, value in changes.items()}
        changed = sorted(name for name, value in new_values.items() if getattr(block, name) != value)
        if not changed:
            return
        if has_invoice(session, block_id):
            raise BlockInvoiced(BUYER_INVOICED_MESSAGE)
        buyer = {name: getattr(block, name) for name in BUYER_FIELDS}
        is_seen = expected_digest in (None, digest_facts(buyer, BUYER_FIELDS))
        if expected_version not in (None, block.version) or not is_seen:
            raise StaleVersion()
        if "pay_by" in changed and (pay_by := changes["pay_by"]) is not None:
            check_pay_by(pay_by, today=database_now().astimezone(ZoneInfo(HOME)).date())
        for name in changed:
            setattr(block, name, new_values[name])
        block.version, block.updated_at = block.version + 1, func.now()
        data = {"changed": changed}
        record(session, Action.BLOCK_CHANGED, event_id=event_id, subject=block_id, data=data)


def find_previous_buyer(caller: Caller, block: BlockRow) -> PreviousBuyer | None:
    """Return the buyer that was entered last for another block of the same holder, in any event of the organisation.

    The same holder has the same e-mail address or organisation.
    """
    is_same_holder = [
        column == block[column.key]
        for column in (AllocationBlock.holder_email, AllocationBlock.holder_organisation)
        if block[column.key]
    ]
    if not is_same_holder:
        return None
    columns = (AllocationBlock.buyer_name, AllocationBlock.buyer_address, AllocationBlock.buyer_vat_number)
    row = db.session.execute(
        select(*columns)
        .join(Event, Event.id == AllocationBlock.event_id)
        .where(
            Event.organiser_id == select(Event.organiser_id).where(Event.id == block["event_id"]).scalar_subquery(),
            events.owned(caller),
            AllocationBlock.id != block["id"],
            or_(*is_same_holder),
            or_(*(column.is_not(None) for column in columns)),
        )
        .order_by(AllocationBlock.created_at.desc(), AllocationBlock.id.desc())
        .limit(1)
    ).first()
    if row is None:
        return None
    name, address, vat_number = row
    return {"buyer_name": name, "buyer_address": address, "buyer_vat_number": vat_number}
