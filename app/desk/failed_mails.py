"""Mails about an event that failed: recorded when their jobs end, listed for the organiser, and taken off the list."""

from collections.abc import Collection, Mapping, Sequence
from datetime import timedelta
from typing import Any, NamedTuple, TypedDict

from sqlalchemy import String, and_, delete, func, null, select, type_coerce
from sqlalchemy.dialects.postgresql import distinct_on

from app.accounts.caller import Caller
from app.accounts.models import Account
from app.allocations.models import AllocationBlock, AllocationSlot, Invoice
from app.allocations.queries import block_name_sql
from app.applications.models import Application, ApplicationDocument
from app.clients.message import PermanentAddressError
from app.core.db import ObjectId, db
from app.core.ids import is_id
from app.core.jobs import Ambiguous, Delivery, Permanent, Run, Transient, job
from app.core.languages import mark_for_translation
from app.core.transaction import transaction
from app.events.failed_mails import FailedMail
from app.events.models import Event
from app.events.queries import ListQuery, check_event, lock_own_event
from app.invitations.models import EventInvite, InviteLink

CLIENT_ERRORS = {error.__name__ for error in (PermanentAddressError, Permanent, Transient, Ambiguous)}
NOT_HANDED_OVER = mark_for_translation("The mail could not be handed over to a mail server.")
MAX_REASON_LENGTH, MAX_CLEARED = 500, 200
DAYS_SHOWN = timedelta(days=30)
"""For how long the page of an application or a block shows that its last mail failed."""
MAIL_KINDS = (
    "applications.mail",
    "applications.mail_reminder",
    "applications.mail_expiry",
    "allocations.invite",
    "allocations.remind",
    "allocations.ticket",
    "allocations.mail_allocator_link",
    "allocations.mail_invoice",
    "allocations.mail_payment",
    "allocations.mail_payment_taken_back",
    "allocations.mail_report",
    "invitations.mail_invite",
    "invitations.mail_link",
)
"""The jobs that are declared with `ended="desk.note_failed_mails"`."""
SORTS = {"failedAt": FailedMail.failed_at.expression}
NO_ID, NO_ADDRESS = type_coerce(null(), ObjectId), type_coerce(null(), String)
SUBJECTS: Mapping[str, Sequence[Any]] = {
    "application_id": (Application.id, Application.event_id, Application.id, NO_ID, Application.email),
    "document_id": (ApplicationDocument.id, Application.event_id, Application.id, NO_ID, Application.email),
    "slot_id": (AllocationSlot.id, AllocationSlot.event_id, NO_ID, AllocationSlot.block_id, AllocationSlot.email),
    "block_id": (
        AllocationBlock.id,
        AllocationBlock.event_id,
        NO_ID,
        AllocationBlock.id,
        AllocationBlock.holder_email,
    ),
    "invoice_id": (Invoice.id, Invoice.event_id, NO_ID, Invoice.block_id, NO_ADDRESS),
    "invite_id": (EventInvite.id, EventInvite.event_id, NO_ID, NO_ID, Account.email),
    "link_id": (InviteLink.id, InviteLink.event_id, NO_ID, NO_ID, InviteLink.email),
}
"""By the name of an id in a job's payload: that id, and the event, application, block and address that belong to it."""


class EndedJob(TypedDict):
    """A job that ended without success, as `app.core.outbox.failure_hooks` reports it."""

    kind: str
    payload: dict[str, Any]
    error: str


class Subject(NamedTuple):
    """What a mail is about, and its address; `event_id` is None for an application without an event."""

    event_id: str | None
    application_id: str | None
    block_id: str | None
    address: str | None


@job("desk.note_failed_mails", Delivery.LOCAL)
def record_failed_mails(run: Run, *, ends: list[EndedJob]) -> None:
    """Record the mails whose jobs ended without success. One whose subject is gone meanwhile is left out."""
    with transaction() as session:
        run.done_in(session)
        for name in SUBJECTS:
            ended = [end for end in ends if is_id(end["payload"].get(name))]
            subjects = _find_subjects(name, {end["payload"][name] for end in ended}) if ended else {}
            for end in ended:
                subject = subjects.get(end["payload"][name])
                address = end["payload"].get("to") or (subject and subject.address)
                if subject is None or subject.event_id is None or address is None:
                    continue
                session.add(
                    FailedMail(
                        **{**subject._asdict(), "address": address}, kind=end["kind"], reason=_read_reason(end["error"])
                    )
                )


def list_failed_mails_query(caller: Caller, event_id: str) -> ListQuery:
    """The failed mails of an event, with `timezone`, `business_name`, `block_name`, and the `phone` of the applicant or
    the holder. Raises NotFound."""
    check_event(caller, event_id)
    is_block = and_(AllocationBlock.id == FailedMail.block_id, AllocationBlock.event_id == FailedMail.event_id)
    block_name = func.coalesce(block_name_sql(), AllocationBlock.kind)
    return (
        select(
            *FailedMail.__table__.columns,
            Event.timezone,
            func.coalesce(Application.business_name, Application.reference).label("business_name"),
            block_name.label("block_name"),
            func.coalesce(Application.phone, AllocationBlock.holder_phone).label("phone"),
        )
        .join(Event, Event.id == FailedMail.event_id)
        .outerjoin(Application, Application.id == FailedMail.application_id)
        .outerjoin(AllocationBlock, is_block)
        .where(FailedMail.event_id == event_id)
    )


def clear_failed_mails(caller: Caller, event_id: str, ids: Collection[str]) -> int:
    """Take these mails off the list; return how many were on it. Raises NotFound."""
    with transaction() as session:
        lock_own_event(session, caller, event_id)
        cleared = session.execute(
            delete(FailedMail).where(FailedMail.event_id == event_id, FailedMail.id.in_(ids)).returning(FailedMail.id)
        )
        return len(cleared.all())


def find_failed_mail(event_id: str, **conditions: str | None) -> FailedMail | None:
    """The last failed mail of an event in 30 days whose columns have these values; none if a value is None.

    The caller has checked the access to the event.
    """
    if None in conditions.values():
        return None
    return db.session.scalar(
        select(FailedMail)
        .filter_by(event_id=event_id, **conditions)
        .where(FailedMail.failed_at > func.now() - DAYS_SHOWN)
        .order_by(FailedMail.failed_at.desc())
        .limit(1)
    )


def list_last_failed_mails(event_id: str, block_id: str, kinds: Collection[str]) -> Sequence[FailedMail]:
    """The last failed mail of each of these kinds about a block in 30 days. The caller has checked the access to it."""
    statement = (
        select(FailedMail)
        .ext(distinct_on(FailedMail.kind))
        .where(
            FailedMail.event_id == event_id,
            FailedMail.block_id == block_id,
            FailedMail.kind.in_(kinds),
            FailedMail.failed_at > func.now() - DAYS_SHOWN,
        )
        .order_by(FailedMail.kind, FailedMail.failed_at.desc())
    )
    return db.session.scalars(statement).all()


def _find_subjects(name: str, ids: Collection[str]) -> dict[str, Subject]:
    columns = [column.label(f"value_{position}") for position, column in enumerate(SUBJECTS[name])]
    statement = select(*columns).where(SUBJECTS[name][0].in_(ids))
    if name == "document_id":
        statement = statement.join(Application, Application.id == ApplicationDocument.application_id)
    if name == "invite_id":
        statement = statement.join(Account, Account.id == EventInvite.merchant_id)
    return {id: Subject(*values) for id, *values in db.session.execute(statement)}


def _read_reason(error: str) -> str:
    """What the mail server or the mail client said; other errors are for operators."""
    name, _, reason = error.partition(": ")
    return reason[:MAX_REASON_LENGTH] if reason and name in CLIENT_ERRORS else NOT_HANDED_OVER
