"""Reads of applications, limited to those that the caller may see.

Applicants see their own applications, organisers those for their events, admins of any tier all. The event's organiser
and admins from `support` on decide; without an event, only those admins.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, TypedDict, Unpack

from sqlalchemy import (
    ColumnElement,
    Row,
    RowMapping,
    ScalarSelect,
    Select,
    case,
    exists,
    false,
    func,
    literal,
    or_,
    select,
    true,
)
from sqlalchemy.dialects.postgresql import JSONB, aggregate_order_by
from sqlalchemy.orm import Session as OrmSession

from app.accounts.caller import Caller
from app.accounts.permissions import STALLS_DECIDE, STALLS_INVITE
from app.applications import documents
from app.applications.calendar import EVENT_CALENDAR_COLUMNS, TIME_TO_ACT
from app.applications.documents import PICTURE_KINDS, UploadedDocument
from app.applications.models import (
    Application,
    ApplicationDocument,
    ApplicationLink,
    FeeCreditNote,
    StallFeeRefund,
    StallPayment,
)
from app.applications.serializers import CALENDAR_FIELDS, DECIDER_FIELDS, INTERNAL_FIELDS
from app.applications.stall_payments import CURRENT_PAYMENT_ORDER, PAYMENT_STATUS_SQL
from app.applications.states import (
    ACCEPTED_STATES,
    ACTIVATED,
    AWAITING_PAYMENT,
    OFFER,
    READY,
    SUBMITTED,
    WAITLISTED,
)
from app.audit.actions import Action
from app.audit.log import record
from app.core.db import ReadOrWriteSession, db
from app.core.errors import NotFound
from app.events.models import Event
from app.events.search_words import contains_sql

SORTS: dict[str, ColumnElement[datetime] | ColumnElement[int]] = {
    "createdAt": Application.created_at.expression,
    "updatedAt": Application.updated_at.expression,
    "amountMinor": Application.amount_minor.expression,
}
WAITING_SQL: ColumnElement[int] = case(
    (Application.status == SUBMITTED, 0),
    (Application.status == WAITLISTED, 1),
    (Application.status.in_(ACCEPTED_STATES) & (Application.status != READY), 2),
    (Application.status == READY, 3),
    (Application.status == ACTIVATED, 4),
    else_=5,
)
APPLICATION_SORTS: dict[str, ColumnElement[datetime] | ColumnElement[int] | ColumnElement[str]] = {
    **SORTS,
    "businessName": func.coalesce(Application.business_name, ""),
    "waiting": WAITING_SQL,
}
"""By `waiting`, those come first about which the organiser has to decide, then those that wait for the applicant."""
LINE_ORDER = (Application.waitlist_rank.asc().nulls_last(), Application.created_at, Application.id)
FEE_STATE_SQL: ColumnElement[str] = case(
    (Application.amount_minor == 0, "none"),
    (Application.refunded_at.is_not(None), "refunded"),
    (Application.paid_at.is_not(None), "paid"),
    (Application.waived_at.is_not(None), "waived"),
    (Application.status.in_((*ACCEPTED_STATES, ACTIVATED)), "open"),
    else_="none",
)
"""`paid` also by transfer; `none` where no fee is due or was settled."""
FEE_STATES = OPEN_FEE, OVERDUE_FEE, PAID_FEE, *_ = ("open", "overdue", "paid", "waived", "refunded")
IS_FEE_OVERDUE_SQL: ColumnElement[bool] = (Application.status == AWAITING_PAYMENT) & (
    func.coalesce(Application.scheduled_for, Application.decided_at + TIME_TO_ACT) < func.now()
)
APPLICATION_COLUMNS = (
    Application.id,
    Application.reference,
    Application.status,
    Application.event_id,
    Application.business_name,
    Application.contact_name,
    Application.email,
    Application.phone,
    Application.stall_type,
    Application.products,
    Application.description,
    Application.website,
    Application.amount_minor,
    Application.destination,
    Application.mode,
    Application.scheduled_for,
    Application.payrail_msisdn,
    Application.decision,
    Application.decline_reason,
    Application.decided_at,
    Application.documents_required,
    Application.documents_submitted_at,
    Application.paid_at,
    Application.waived_at,
    Application.refunded_at,
    Application.activated_at,
    Application.version,
    Application.created_at,
    Application.updated_at,
)
DOCUMENT_COLUMNS = (
    ApplicationDocument.id,
    ApplicationDocument.kind,
    ApplicationDocument.file_name,
    ApplicationDocument.content_type,
    ApplicationDocument.size,
    ApplicationDocument.uploaded_at,
    ApplicationDocument.expires_on,
    ApplicationDocument.carried_from,
    ApplicationDocument.asked_again_at,
    ApplicationDocument.asked_again_reason,
    ApplicationDocument.opened_at,
    ApplicationDocument.accepted_at,
)
"""The fields of `UploadedDocument`."""
HAS_NEW_DOCUMENTS_SQL: ColumnElement[bool] = (
    or_(Application.documents_submitted_at.is_not(None), Application.documents_reopened_at.is_not(None))
    & Application.status.in_((*ACCEPTED_STATES, ACTIVATED))
    & exists().where(
        ApplicationDocument.application_id == Application.id,
        ApplicationDocument.kind.in_(documents.KINDS),
        ApplicationDocument.accepted_at.is_(None),
        ApplicationDocument.asked_again_at.is_(None),
    )
)
"""Whether documents were handed in that no decider has accepted or asked for again, also while another one is asked for."""
ListQuery = Select[*tuple[object, ...]]
ApplicationRecord = RowMapping
"""A row of the list; `serializers.serialize_application` makes the JSON."""


class ApplicationFilters(TypedDict, total=False):
    """Filters of the list; None means no filter."""

    decision: str | None
    decline_reason: str | None
    reviewer_notes: str | None
    risk_level: str | None
    status: str | None
    event_id: str | None
    stall_type: str | None
    fee_state: str | None
    has_new_documents: bool | None
    q: str | None


def can_decide_sql(caller: Caller) -> ColumnElement[bool]:
    """True for applications that the caller may decide."""
    return true() if caller.has_permission_everywhere else _organises_sql(caller)


def list_applications_query(caller: Caller, **filters: Unpack[ApplicationFilters]) -> ListQuery:
    """The applications that the caller may see, with documents and payment: one statement per page."""
    return _visible_applications_query(caller).where(*_build_conditions(caller, filters))


def list_desk_applications_query(caller: Caller, **filters: Unpack[ApplicationFilters]) -> ListQuery:
    """The same with `has_new_documents`: whether the caller decides, and a document that came waits for them."""
    is_new_sql = HAS_NEW_DOCUMENTS_SQL & _is_decider_sql(caller)
    return list_applications_query(caller, **filters).add_columns(is_new_sql.label("has_new_documents"))


def get_application(caller: Caller, id: str) -> ApplicationRecord:
    """One application with the columns of the list. Raises NotFound."""
    row = db.session.execute(_visible_applications_query(caller).where(Application.id == id)).mappings().first()
    if row is None:
        raise NotFound()
    return row


def list_chosen_applications(caller: Caller, event_id: str, ids: Sequence[str]) -> Sequence[ApplicationRecord]:
    """Those of these applications that are for the event and that the caller may see, the oldest first."""
    query = list_applications_query(caller, event_id=event_id).where(Application.id.in_(ids))
    return db.session.execute(query.order_by(Application.created_at, Application.id)).mappings().all()


def check_visible(caller: Caller, id: str) -> None:
    """Raises NotFound unless the caller may see the application."""
    if db.session.scalar(select(Application.id).where(Application.id == id, _can_see_sql(caller))) is None:
        raise NotFound()


def lock_application(session: OrmSession, caller: Caller, id: str, permission: ColumnElement[bool]) -> Application:
    """An application that meets `permission`, locked. Raises NotFound."""
    statement = select(Application).where(Application.id == id, permission).with_for_update()
    application = session.scalar(statement.execution_options(populate_existing=True))
    if application is None:
        raise NotFound()
    return application


def record_application_act(
    session: ReadOrWriteSession, action: Action, application: Application, **data: object
) -> None:
    """Writes an act on an application to the audit trail of its organiser."""
    record(
        session,
        action,
        organisation_id=application.organiser_id,
        event_id=application.event_id,
        account_id=application.account_id,
        subject=application.id,
        data=data,
    )


def list_documents(application_id: str, session: OrmSession | None = None) -> list[UploadedDocument]:
    """The documents of an application."""
    statement = select(*DOCUMENT_COLUMNS).where(ApplicationDocument.application_id == application_id)
    return [build_document(row) for row in (session or db.session).execute(statement)]


def build_document(row: Row[*tuple[Any, ...]]) -> UploadedDocument:
    """The document in a row that has `DOCUMENT_COLUMNS` and perhaps more."""
    return UploadedDocument(**{column.key: row._mapping[column.key] for column in DOCUMENT_COLUMNS})


def count_pictures(application_id: str) -> int | None:
    """How many pictures an application has that still takes some; None for one that is decided or gone."""
    is_picture = (ApplicationDocument.application_id == Application.id) & ApplicationDocument.kind.in_(PICTURE_KINDS)
    statement = (
        select(func.count(ApplicationDocument.id))
        .select_from(Application)
        .outerjoin(ApplicationDocument, is_picture)
        .where(Application.id == application_id, Application.status == SUBMITTED)
    )
    return db.session.scalar(statement.group_by(Application.id))


def _organises_sql(caller: Caller) -> ColumnElement[bool]:
    """True for applications to events that the caller organises."""
    organisation_ids, event_ids, _ = caller.grant
    return or_(Application.organiser_id.in_(organisation_ids), Application.event_id.in_(event_ids))


def _can_see_sql(caller: Caller) -> ColumnElement[bool]:
    if caller.has_permission_everywhere:
        return true()
    is_own = Application.account_id == caller.id if "merchant" in caller.roles else false()
    return or_(_organises_sql(caller), is_own)


def _is_decider_sql(caller: Caller) -> ColumnElement[bool]:
    """True for applications whose documents, notes and risk the caller may read: only for who may decide them."""
    return can_decide_sql(caller.for_permission(STALLS_DECIDE))


def _invite_slug_sql(caller: Caller) -> ColumnElement[str | None]:
    """The link of the invitation, for its applicant and for who may invite: with it, anybody can apply."""
    may_invite = can_decide_sql(caller.for_permission(STALLS_INVITE))
    return case((or_(may_invite, Application.account_id == caller.id), Application.invite_slug))


def _visible_applications_query(caller: Caller) -> ListQuery:
    is_decider, is_staff = _is_decider_sql(caller), can_decide_sql(caller)
    readable = {name: is_decider if name in DECIDER_FIELDS else is_staff for name in INTERNAL_FIELDS}
    internal_columns = [
        case((condition, getattr(Application, name))).label(name) for name, condition in readable.items()
    ]
    return (
        select(
            *APPLICATION_COLUMNS,
            *internal_columns,
            _invite_slug_sql(caller).label("invite_slug"),
            is_decider.label("is_decider"),
            is_staff.label("is_staff"),
            Event.name.label("event_name"),
            *(column.label(name) for name, column in zip(CALENDAR_FIELDS, EVENT_CALENDAR_COLUMNS, strict=True)),
            literal(caller.session_id).label("viewer_id"),
            _documents_sql().label("files"),
            _payment_sql().label("payment"),
            _refund_sql().label("refund"),
            _offer_sql().label("offer"),
            FEE_STATE_SQL.label("fee_state"),
        )
        .outerjoin(Event, Event.id == Application.event_id)
        .where(_can_see_sql(caller))
    )


def _documents_sql() -> ColumnElement[list[dict[str, str | int | None]]]:
    """The documents of each row as JSON; the keys are the fields of `UploadedDocument`."""
    document_sql = func.jsonb_build_object(
        *(part for column in DOCUMENT_COLUMNS for part in (column.key, column)), type_=JSONB
    )
    documents_query = select(func.jsonb_agg(aggregate_order_by(document_sql, ApplicationDocument.kind))).where(
        ApplicationDocument.application_id == Application.id
    )
    return func.coalesce(documents_query.correlate(Application).scalar_subquery(), literal([], JSONB), type_=JSONB)


def _payment_sql() -> ScalarSelect[dict[str, str]]:
    """Id and status of the current payment of each row as JSON."""
    payment_sql = func.jsonb_build_object("payment_id", StallPayment.id, "status", PAYMENT_STATUS_SQL, type_=JSONB)
    current_query = (
        select(payment_sql).where(StallPayment.application_id == Application.id).order_by(*CURRENT_PAYMENT_ORDER)
    )
    return current_query.limit(1).correlate(Application).scalar_subquery()


def _refund_sql() -> ScalarSelect[dict[str, str]]:
    """The refund of each row as JSON."""
    refund_sql = func.jsonb_build_object(
        "status",
        StallFeeRefund.status,
        "method",
        StallFeeRefund.method,
        "amount_minor",
        StallFeeRefund.amount_minor,
        "reference",
        StallFeeRefund.reference,
        "credit_note_number",
        FeeCreditNote.number,
        type_=JSONB,
    )
    refund_query = (
        select(refund_sql)
        .select_from(StallFeeRefund)
        .outerjoin(FeeCreditNote, FeeCreditNote.application_id == StallFeeRefund.application_id)
        .where(StallFeeRefund.application_id == Application.id)
    )
    return refund_query.correlate(Application).scalar_subquery()


def _offer_sql() -> ScalarSelect[dict[str, str | None]]:
    """The offer of a place of each row as JSON."""
    columns = (
        ApplicationLink.answer,
        ApplicationLink.created_at,
        ApplicationLink.expires_at,
        ApplicationLink.replaced_at,
    )
    offer_sql = func.jsonb_build_object(*(part for column in columns for part in (column.key, column)), type_=JSONB)
    offer_query = select(offer_sql).where(
        ApplicationLink.application_id == Application.id, ApplicationLink.purpose == OFFER
    )
    return offer_query.limit(1).correlate(Application).scalar_subquery()


def _build_conditions(caller: Caller, filters: ApplicationFilters) -> list[ColumnElement[bool]]:
    """The conditions of the filters. Those on notes and risk match only where the caller may read them."""
    exact_filters = (
        (Application.decision, filters.get("decision")),
        (Application.status, filters.get("status")),
        (Application.event_id, filters.get("event_id")),
    )
    conditions = [column == value for column, value in exact_filters if value is not None]
    if decline_reason := filters.get("decline_reason"):
        conditions.append(contains_sql(Application.decline_reason, decline_reason))
    if reviewer_notes := filters.get("reviewer_notes"):
        conditions.append(contains_sql(Application.reviewer_notes, reviewer_notes) & _is_decider_sql(caller))
    if risk_level := filters.get("risk_level"):
        conditions.append((Application.risk_level == risk_level) & _is_decider_sql(caller))
    if stall_type := filters.get("stall_type"):
        conditions.append(func.lower(Application.stall_type) == stall_type.lower())
    if fee_state := filters.get("fee_state"):
        conditions.append(IS_FEE_OVERDUE_SQL if fee_state == OVERDUE_FEE else FEE_STATE_SQL.in_([fee_state]))
    if (has_new_documents := filters.get("has_new_documents")) is not None:
        condition = HAS_NEW_DOCUMENTS_SQL if has_new_documents else ~HAS_NEW_DOCUMENTS_SQL
        conditions.append(condition & _is_decider_sql(caller))
    if search_text := filters.get("q"):
        conditions.append(_search_sql(search_text))
    return conditions


def _search_sql(search_text: str) -> ColumnElement[bool]:
    columns = (Application.business_name, Application.contact_name, Application.email, Application.reference)
    return or_(*(contains_sql(column, search_text) for column in columns))
