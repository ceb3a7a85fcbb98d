"""The settlement of an event: all its money on paper, reconciled with the ledger. A worker draws it."""

from datetime import date
from zoneinfo import ZoneInfo

from sqlalchemy import select

from app.accounts.caller import Caller
from app.accounts.models import Account
from app.accounts.organisation_details import load_organisation_details
from app.accounts.permissions import MONEY_READ
from app.admissions.stats import list_admitted_types
from app.applications.fee_books import list_event_fees
from app.core.db import database_now, db, release_connection
from app.core.errors import NotFound
from app.core.languages import lazy_gettext
from app.core.transaction import snapshot
from app.events.models import Event
from app.events.queries import SUMMARY_COLUMNS, get_event
from app.files.actions import request_file
from app.files.kinds import FileContent, FileTask, file_kind
from app.money.documents import list_event_documents
from app.money.event_money import load_money_by_event
from app.money.periods import build_period
from app.money.settlement_pdf import Settlement, draw_settlement
from app.money.settlement_state import SETTLEMENT_KIND
from app.money.vat import load_vat_summary

PDF_TYPE = "application/pdf"
LOADED_PERCENT = 50
FIRST_DAY = date(2000, 1, 1)


def request_settlement(caller: Caller, event_id: str) -> str:
    """Have the settlement report of an event drawn, and return the id of the file. Raises NotFound, Throttled."""
    event = get_event(caller, event_id)
    return request_file(caller, SETTLEMENT_KIND, organisation_id=event.organiser_id, event_id=event_id)


def load_settlement(event_id: str, account_id: str) -> Settlement:
    """What the report of an event says now, when this account asks for it. Raises NotFound."""
    made_at = database_now()
    with snapshot():
        event = db.session.execute(select(*SUMMARY_COLUMNS, Event.organiser_id).where(Event.id == event_id)).first()
        if event is None:
            raise NotFound()
        return Settlement(
            event=event,
            organisation=load_organisation_details(event.organiser_id),
            made_at=made_at,
            made_by=db.session.scalar(select(Account.name).where(Account.id == account_id)) or "",
            money=load_money_by_event([event_id])[event_id],
            fees=list_event_fees(event_id),
            admissions=list_admitted_types(event_id),
            documents=list_event_documents(event_id),
            vat=load_vat_summary(event.organiser_id, *build_period(FIRST_DAY, None), event_id),
        )


@file_kind(SETTLEMENT_KIND, lazy_gettext("Settlement report"), permission=MONEY_READ)
def make_settlement(task: FileTask) -> FileContent:
    """Draw the settlement report of an event."""
    assert task.event_id is not None
    settlement = load_settlement(task.event_id, task.account_id)
    release_connection()
    task.update_progress(LOADED_PERCENT)
    made_on = settlement.made_at.astimezone(ZoneInfo(settlement.event.timezone))
    name = f"settlement-{made_on:%Y-%m-%d-%H%M}.pdf"
    return FileContent(name, PDF_TYPE, draw_settlement(settlement))
