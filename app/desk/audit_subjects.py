"""What the entries of the audit trail were done on, by the names of today: those of erased people are gone."""

from typing import Any

from sqlalchemy import ScalarSelect, Select, case, func, select
from sqlalchemy.orm import InstrumentedAttribute

from app.accounts.models import Account
from app.accounts.team_models import ApiKey
from app.allocations.models import AllocationBlock, AllocationSlot, Invoice
from app.allocations.queries import block_name_sql
from app.applications.models import Application
from app.audit.models import AuditEntry
from app.campaigns.models import Campaign
from app.events.event_rows import EventRow
from app.events.models import Ticket, TicketType
from app.files.models import OrganisationFile
from app.teams.models import Device

BLOCK_ID = case((AuditEntry.subject_kind == "block", AuditEntry.subject_id), else_=AuditEntry.data["block"].as_string())


def _find(model: Any, *names: InstrumentedAttribute[Any]) -> ScalarSelect[Any]:
    """The first of these names that the subject has."""
    name = select(func.coalesce(*names)).where(model.id == AuditEntry.subject_id)
    if issubclass(model, EventRow):
        name = name.where(model.event_id == AuditEntry.event_id)
    return name.correlate(AuditEntry).scalar_subquery()


BLOCK_NAME = (
    select(block_name_sql())
    .where(AllocationBlock.event_id == AuditEntry.event_id, AllocationBlock.id == BLOCK_ID)
    .correlate(AuditEntry)
    .scalar_subquery()
)
NAMES = {
    "account": _find(Account, Account.name),
    "application": _find(Application, Application.business_name, Application.contact_name, Application.reference),
    "block": BLOCK_NAME,
    "campaign": _find(Campaign, Campaign.name),
    "device": _find(Device, Device.name),
    "file": _find(OrganisationFile, OrganisationFile.name),
    "invoice": _find(Invoice, Invoice.number),
    "key": _find(ApiKey, ApiKey.name),
    "member": select(Account.name).where(Account.id == AuditEntry.account_id).correlate(AuditEntry).scalar_subquery(),
    "pack": BLOCK_NAME,
    "slot": func.nullif(
        func.concat_ws(
            " · ", func.coalesce(_find(AllocationSlot, AllocationSlot.name), _find(Ticket, Ticket.name)), BLOCK_NAME
        ),
        "",
    ),
    "ticket_type": _find(TicketType, TicketType.name),
}


def with_subject_names(entries: Select[Any]) -> Select[Any]:
    """The entries with the name of their subject, and the id of the block that it is or belongs to."""
    name = case(NAMES, value=AuditEntry.subject_kind)
    return entries.add_columns(name.label("subject_name"), BLOCK_ID.label("block_id"))
