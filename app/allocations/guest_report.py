"""The report of a block for its holder: how many places were used, and by whom.

It has the names of guests and the states of their places, but no addresses, telephone numbers or codes: the organiser may
send it to somebody whom the guests do not know.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import TypedDict

from sqlalchemy import Row, select

from app.accounts.caller import Caller
from app.accounts.outgoing_mail import build_sender, count_mails
from app.allocations import states
from app.allocations.actions.blocks import HOLDER_FIELDS
from app.allocations.errors import InvoiceAddressMissing
from app.allocations.models import AllocationBlock, AllocationSlot
from app.allocations.queries import BlockRow, find_block, get_block, lock_block
from app.audit.actions import Action
from app.audit.log import record, record_export
from app.core import throttle
from app.core.db import database_now, db, release_connection
from app.core.errors import Throttled
from app.core.formatting import format_time
from app.core.languages import SOURCE_LANGUAGE, mark_for_translation, use_language
from app.core.outbox import enqueue
from app.core.pdf import Sheet
from app.core.pdf_rows import Column, LongTable
from app.core.throttle import Rule
from app.core.transaction import transaction

REPORT_EMAIL_LIMIT = Rule("guest-report-mail", 20, timedelta(days=1))
STATUS_LABELS = {states.INVITED: "Invited", states.CLAIMED: "Has a ticket", states.ADMITTED: "Admitted"}
UNNAMED_LABELS = {states.CODE: "Claim code, not used yet", states.PACK: "Printed ticket without a name"}
GUEST_COLUMNS = (
    AllocationSlot.name,
    AllocationSlot.status,
    AllocationSlot.via,
    AllocationSlot.claimed_at,
    AllocationSlot.admitted_at,
)
GuestRow = Row[*tuple[object, ...]]


class GuestReport(TypedDict):
    """A block, and the guests that have a place of it now, by name. `given_back` counts places back on sale."""

    block_id: str
    name: str | None
    holder: dict[str, str | None]
    event_name: str
    ticket_type_name: str
    organiser_name: str
    contact_email: str
    sender_id: str
    starts_at: datetime
    timezone: str
    generated_at: datetime
    quantity: int
    held: int
    available: int
    invited: int
    claimed: int
    admitted: int
    given_back: int
    guests: Sequence[GuestRow]


def get_guest_report(caller: Caller, event_id: str, block_id: str) -> GuestReport:
    """Return the report of a block. It is recorded. Raises NotFound."""
    report = _build_report(get_block(caller, event_id, block_id))
    record_export(Action.GUEST_REPORT_EXPORTED, event_id=event_id, subject=block_id)
    return report


def load_guest_report(block_id: str) -> GuestReport | None:
    """Return the report of a block for the job that mails it; None if the block is gone."""
    block = find_block(AllocationBlock.id == block_id)
    return None if block is None else _build_report(block)


def enqueue_guest_report_email(caller: Caller, event_id: str, block_id: str, *, to: str | None = None) -> str:
    """Enqueue the email of the report to the holder of a block, or to `to`; return the address.

    Raises NotFound, InvoiceAddressMissing, SenderNotVerified, MailLimitReached, and Throttled after twenty a day.
    """
    with transaction() as session:
        block = lock_block(session, caller, event_id, block_id)
        address = to or block["holder_email"]
        if address is None:
            raise InvoiceAddressMissing()
        limit_status = throttle.hit(session, REPORT_EMAIL_LIMIT, block_id)
        if not limit_status.exceeded:
            count_mails(session, build_sender(block), [address])
            record(session, Action.GUEST_REPORT_MAILED, event_id=event_id, subject=block_id)
            enqueue("allocations.mail_report", block_id=block_id, to=address)
    if limit_status.exceeded:
        raise Throttled(
            mark_for_translation("This report was sent twenty times today."), retry_after=limit_status.seconds
        )
    return str(address)


def draw_guest_report(report: GuestReport) -> bytes:
    """Return the PDF of a report, in English."""
    zone, holder = report["timezone"], report["holder"]
    with (
        use_language(SOURCE_LANGUAGE),
        Sheet(
            title="Guests",
            number=report["name"] or "",
            when=format_time(report["generated_at"], zone),
            author=report["organiser_name"],
            foot=f"{report['event_name']} · questions to {report['contact_email']}",
        ) as sheet,
    ):
        sheet.parties(
            [report["organiser_name"], report["contact_email"]],
            [holder["organisation"] or "", holder["name"] or "", holder["email"] or ""],
        )
        sheet.facts(
            [
                ("Event", report["event_name"]),
                ("When", format_time(report["starts_at"], zone)),
                ("Tickets", report["ticket_type_name"]),
            ]
        )
        names = ("held", "available", "invited", "claimed", "admitted", "given_back")
        labels = ("Places", "Free", "Invited", "Have a ticket", "Admitted", "Given back")
        sheet.figures([(str(report[name]), label) for name, label in zip(names, labels, strict=True)])  # type: ignore[literal-required]
        if report["guests"]:
            columns = [Column("Guest", 55), Column("State", 20), Column("Admitted", 25)]
            sheet.long_table("Guests", LongTable(columns, _list_rows(report)))
        else:
            sheet.note("No place has been given to a guest yet.")
    return sheet.data


def _list_rows(report: GuestReport) -> Iterator[tuple[str, str, str]]:
    for guest in report["guests"]:
        admitted_at = format_time(guest.admitted_at, report["timezone"]) if guest.admitted_at else ""
        yield guest.name or UNNAMED_LABELS.get(guest.via, ""), STATUS_LABELS[guest.status], admitted_at


def _build_report(block: BlockRow) -> GuestReport:
    statement = (
        select(*GUEST_COLUMNS)
        .where(
            AllocationSlot.block_id == block["id"],
            AllocationSlot.given_at.is_not(None),
            AllocationSlot.ended_at.is_(None),
        )
        .order_by(AllocationSlot.name_key, AllocationSlot.id)
    )
    guests = db.session.execute(statement).all()
    generated_at = database_now()
    release_connection()
    return {
        "block_id": block["id"],
        "name": block["name"],
        "holder": {name: block[f"holder_{name}"] for name in HOLDER_FIELDS},
        "event_name": block["event_name"],
        "ticket_type_name": block["ticket_type_name"],
        "organiser_name": block["organiser_name"],
        "contact_email": block["contact_email"],
        "sender_id": block["sender_id"],
        "starts_at": block["starts_at"],
        "timezone": block["timezone"],
        "generated_at": generated_at,
        "quantity": block["quantity"],
        "held": block["held"],
        "available": block["available"],
        "invited": block["invited"],
        "claimed": block["claimed"],
        "admitted": block["admitted"],
        "given_back": block["quantity"] - block["held"],
        "guests": guests,
    }
