"""Which personal data of guests is erased after an event, and how.

Rows, states, times and amounts stay, so counters, charts and reports do not change. Refused scans and failed mails are in
none of them and are deleted.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Delete,
    Select,
    Update,
    case,
    delete,
    func,
    inspect,
    literal,
    or_,
    select,
    true,
    tuple_,
    update,
)
from sqlalchemy.orm import InstrumentedAttribute
from sqlalchemy.orm import Session as OrmSession

from app.admissions.models import Admission, RefusedScan
from app.allocations.models import AllocationBlock, AllocationSlot
from app.campaigns.models import Campaign, Recipient
from app.core.db import db
from app.events.failed_mails import FailedMail
from app.events.models import Event, Ticket, TicketImport, TicketImportChange
from app.invitations.models import InviteLink

BATCH_SIZE, EVENT_PAGE_SIZE = 1000, 100


def _ended_events(days: int) -> Select[str]:
    return select(Event.id).where(Event.ends_at < func.now() - timedelta(days=days))


@dataclass(frozen=True)
class ErasureTarget:
    """Rows with personal data of events: the values that erase it, and the condition of rows that still have some.

    Without values the rows are deleted.
    """

    name: str
    model: type[Any]
    values: Mapping[str, object] | None
    has_personal_data: ColumnElement[bool]

    def count_rows(self, days: int) -> int:
        """How many rows of events that ended more than `days` ago still have personal data."""
        query = select(func.count()).select_from(self.model)
        return db.session.scalar(query.where(self._belongs_to(_ended_events(days)), self.has_personal_data)) or 0

    def erase_batch(self, session: OrmSession, event_id: str) -> int:
        """Erases at most BATCH_SIZE rows of an event and returns how many. Rows locked by others are skipped."""
        keys = inspect(self.model).primary_key
        batch = (
            select(*keys)
            .where(self._belongs_to([event_id]), self.has_personal_data)
            .order_by(*keys)
            .limit(BATCH_SIZE)
            .with_for_update(skip_locked=True)
        )
        statement: Update | Delete = delete(self.model)
        if self.values is not None:
            statement = update(self.model).values(self.values)
        statement = statement.where(tuple_(*keys).in_(batch)).returning(*keys)
        return len(session.execute(statement, execution_options={"synchronize_session": False}).all())

    def _belongs_to(self, event_ids: Select[str] | list[str]) -> ColumnElement[bool]:
        if self.model is Recipient:  # Its index begins with the campaign.
            return Recipient.campaign_id.in_(select(Campaign.id).where(Campaign.event_id.in_(event_ids)))
        event_id: ColumnElement[str] = self.model.event_id
        return event_id.in_(event_ids)


def _erasing(*columns: InstrumentedAttribute[Any]) -> tuple[dict[str, None], ColumnElement[bool]]:
    """The values that empty these columns, and whether one of them is filled."""
    return {column.key: None for column in columns}, or_(*(column.is_not(None) for column in columns))


ERASED_NAME = literal("erased:").concat(Recipient.id)
ERASED_REASON = case((Admission.undo_reason.is_not(None), ""))
"""An undone admission keeps a reason, because a constraint of the log needs one."""
ERASURE_TARGETS = (
    ErasureTarget("tickets", Ticket, *_erasing(Ticket.name, Ticket.email, Ticket.order_number)),
    ErasureTarget(
        "ticket imports",
        TicketImport,
        *_erasing(TicketImport.file_name, TicketImport.imported_by, TicketImport.undone_by),
    ),
    ErasureTarget(
        "earlier values of tickets",
        TicketImportChange,
        *_erasing(TicketImportChange.name, TicketImportChange.email, TicketImportChange.order_number),
    ),
    ErasureTarget(
        "admissions",
        Admission,
        {"actor_name": None, "code": None, "undone_by": None, "undo_reason": ERASED_REASON},
        or_(
            Admission.actor_name.is_not(None),
            Admission.code.is_not(None),
            Admission.undone_by.is_not(None),
            Admission.undo_reason != "",
        ),
    ),
    ErasureTarget("refused scans", RefusedScan, None, true()),
    ErasureTarget("failed mails", FailedMail, None, true()),
    ErasureTarget(
        "slots",
        AllocationSlot,
        *_erasing(AllocationSlot.name, AllocationSlot.email, AllocationSlot.phone, AllocationSlot.language),
    ),
    ErasureTarget(
        "block holders",
        AllocationBlock,
        *_erasing(
            AllocationBlock.holder_name,
            AllocationBlock.holder_email,
            AllocationBlock.holder_phone,
            AllocationBlock.buyer_name,
            AllocationBlock.buyer_address,
            AllocationBlock.buyer_vat_number,
            AllocationBlock.buyer_reference,
            AllocationBlock.notes,
        ),
    ),
    ErasureTarget(
        "campaign recipients",
        Recipient,
        {"person": ERASED_NAME, "address": ERASED_NAME, "name": None, "reason": None},
        Recipient.person.not_like("erased:%") & (Recipient.state != "pending"),
    ),
    ErasureTarget(
        "campaign positions",
        Campaign,
        {"after": None},
        Campaign.after.is_not(None) & Campaign.finished_at.is_not(None),
    ),
    ErasureTarget(
        "invitation links",
        InviteLink,
        *_erasing(InviteLink.email, InviteLink.invited_address, InviteLink.business_name, InviteLink.message),
    ),
)


def delete_rows_without_event(session: OrmSession) -> int:
    """Delete at most BATCH_SIZE rows that a deleted event has left, of the tables without foreign keys; return how many."""
    deleted = 0
    for model in (RefusedScan, FailedMail):
        is_left = model.event_id.not_in(select(Event.id))
        ids = select(model.id).where(is_left).limit(BATCH_SIZE)
        statement = delete(model).where(model.id.in_(ids), is_left).returning(model.id)
        deleted += len(session.execute(statement, execution_options={"synchronize_session": False}).all())
    return deleted


def list_ended_events(days: int) -> Iterator[str]:
    """The ids of the events that ended more than `days` ago."""
    event_ids: Sequence[str] = [""]
    page = _ended_events(days).order_by(Event.id).limit(EVENT_PAGE_SIZE)
    while event_ids := db.session.scalars(page.where(Event.id > event_ids[-1])).all():
        yield from event_ids
