"""An application for the API: its documents, what is still due, and the stall fee."""

from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, date, datetime
from typing import NotRequired, TypedDict

from sqlalchemy import RowMapping

from app.applications import documents, states
from app.applications.calendar import EventCalendar, calculate_due_at, find_last_day
from app.applications.documents import LABELS, PICTURE_KINDS, UploadedDocument, is_valid_on
from app.core.languages import mark_for_translation

REQUIREMENT_MESSAGES = {
    "DECISION_PENDING": mark_for_translation("The organiser has to decide."),
    "DOCUMENTS_NOT_SUBMITTED": mark_for_translation("All documents are there; they have to be handed in."),
    "ON_WAITLIST": mark_for_translation(
        "Free places of the stall type go to the first in line, who has to accept one."
    ),
    "PAYMENT_DUE": mark_for_translation("The stall fee has to be paid."),
    "ACTIVATION_DUE": mark_for_translation("The account has to be activated."),
    "NO_CONTACT": mark_for_translation(
        "There is no address: the applicant can only be reached through links that you hand over yourself."
    ),
}
ASKED_AGAIN = "asked_again"
INTERNAL_FIELDS = ("reviewer_notes", "risk_level", "decided_by", "activation_message", "waitlist_rank")
"""Fields of the list's row that the applicant does not have."""
DECIDER_FIELDS = ("reviewer_notes", "risk_level")
"""Those of them for deciders only."""
CALENDAR_FIELDS = ("event_starts_at", "event_ends_at", "event_timezone", "now")
"""The fields of the list's row for `EventCalendar`."""
HELPER_FIELDS = (
    "is_decider",
    "is_staff",
    "viewer_id",
    "files",
    "payment",
    "offer",
    "refund",
    "fee_state",
    *CALENDAR_FIELDS,
)
"""Fields of the list's row that the serialized application does not have, or not in this form."""


class DocumentStatus(TypedDict):
    """A kind of document that is required or uploaded; `url`, `opened_at` and `accepted_at` are for deciders only.

    `status` is `missing`, `uploaded`, `asked_again` if a decider wants another file in its place, or `expired` if the
    document is not valid up to the end of the event.
    """

    kind: str
    label: str
    required: bool
    status: str
    file_name: NotRequired[str]
    content_type: NotRequired[str]
    bytes: NotRequired[int]
    uploaded_at: NotRequired[datetime]
    expires_on: NotRequired[date]
    carried_from: NotRequired[str]
    asked_again_at: NotRequired[datetime]
    asked_again_reason: NotRequired[str]
    opened_at: NotRequired[datetime | None]
    accepted_at: NotRequired[datetime | None]
    url: NotRequired[str]
    url_expires_at: NotRequired[datetime]


class Picture(TypedDict):
    """A picture of the stall, with the address by which a decider reads it."""

    url: str
    content_type: str
    bytes: int


class Requirement(TypedDict):
    """A step that is still due: a code for programs and a sentence for people."""

    code: str
    message: str
    kind: NotRequired[str]


class OfferStatus(TypedDict):
    """The offer of a place; `status` is `open`, `accepted`, `declined` or `ended`."""

    status: str
    offered_at: datetime
    expires_at: datetime


class FeeStatus(TypedDict):
    """The stall fee in the list of applications."""

    amount_minor: int
    currency: str
    status: str | None
    payment_id: str | None
    due_at: datetime | None
    paid_at: datetime | None
    refund: Mapping[str, object] | None


def serialize_application(row: RowMapping) -> dict[str, object]:
    """A row of `list_applications_query`, without the internal fields if the caller must not read them."""
    last_day = find_last_day(build_calendar(row))
    is_decider, is_staff = row["is_decider"], row["is_staff"]
    hidden_fields = HELPER_FIELDS if is_staff else (*HELPER_FIELDS, *INTERNAL_FIELDS)
    uploaded_documents = [_parse_document(file) for file in row["files"]]
    return {
        **{name: value for name, value in row.items() if name not in hidden_fields},
        "documents": serialize_documents(
            row["documents_required"],
            uploaded_documents,
            last_day,
            viewer_id=row["viewer_id"] if is_decider else None,
        ),
        **({"pictures": _serialize_pictures(uploaded_documents, row["viewer_id"])} if is_decider else {}),
        "payment": _serialize_fee(row),
        "offer": _serialize_offer(row),
        "requirements": _list_requirements(
            row,
            uploaded_documents,
            last_day,
            is_staff=is_staff,
        ),
    }


def serialize_documents(
    required_kinds: Collection[str],
    uploaded_documents: Sequence[UploadedDocument],
    last_day: date,
    *,
    viewer_id: str | None = None,
) -> list[DocumentStatus]:
    """Every kind that is required or uploaded; documents must be valid on `last_day`. `viewer_id` is a decider, who gets links to read the documents."""
    document_by_kind = {document.kind: document for document in uploaded_documents}
    return [
        _serialize_document(kind, kind in required_kinds, document_by_kind.get(kind), last_day, viewer_id)
        for kind in documents.KINDS
        if kind in required_kinds or kind in document_by_kind
    ]


def _parse_document(file: Mapping[str, str | int | None]) -> UploadedDocument:
    """A document from the JSON of a row."""
    return UploadedDocument(
        id=str(file["id"]),
        kind=str(file["kind"]),
        file_name=str(file["file_name"]),
        content_type=str(file["content_type"]),
        size=int(file["size"] or 0),
        uploaded_at=datetime.fromisoformat(str(file["uploaded_at"])),
        expires_on=date.fromisoformat(str(file["expires_on"])) if file["expires_on"] else None,
        carried_from=str(file["carried_from"]) if file["carried_from"] else None,
        asked_again_at=datetime.fromisoformat(str(file["asked_again_at"])) if file["asked_again_at"] else None,
        asked_again_reason=str(file["asked_again_reason"]) if file["asked_again_reason"] else None,
        opened_at=datetime.fromisoformat(str(file["opened_at"])) if file["opened_at"] else None,
        accepted_at=datetime.fromisoformat(str(file["accepted_at"])) if file["accepted_at"] else None,
    )


def _serialize_document(
    kind: str, is_required: bool, document: UploadedDocument | None, last_day: date, viewer_id: str | None
) -> DocumentStatus:
    status: DocumentStatus = {"kind": kind, "label": LABELS[kind], "required": is_required, "status": "missing"}
    if document is None:
        return status
    status |= {
        "status": _find_document_status(document, last_day),
        "file_name": document.file_name,
        "content_type": document.content_type,
        "bytes": document.size,
        "uploaded_at": document.uploaded_at,
    }
    if document.expires_on is not None:
        status["expires_on"] = document.expires_on
    if document.carried_from is not None:
        status["carried_from"] = document.carried_from
    if document.asked_again_at is not None:
        status["asked_again_at"] = document.asked_again_at
        status["asked_again_reason"] = document.asked_again_reason or ""
    if viewer_id is not None:
        status["opened_at"] = document.opened_at
        status["accepted_at"] = document.accepted_at
        status["url"], expires_epoch = documents.build_read_url(document.id, viewer_id)
        status["url_expires_at"] = datetime.fromtimestamp(expires_epoch, UTC)
    return status


def _find_document_status(document: UploadedDocument, last_day: date) -> str:
    if document.asked_again_at is not None:
        return ASKED_AGAIN
    return "uploaded" if is_valid_on(last_day, document.expires_on) else "expired"


def _serialize_pictures(uploaded_documents: Sequence[UploadedDocument], viewer_id: str) -> list[Picture]:
    return [
        {
            "url": documents.build_read_url(document.id, viewer_id)[0],
            "content_type": document.content_type,
            "bytes": document.size,
        }
        for document in uploaded_documents
        if document.kind in PICTURE_KINDS
    ]


def _list_requirements(
    row: RowMapping, uploaded_documents: Sequence[UploadedDocument], last_day: date, *, is_staff: bool
) -> list[Requirement]:
    requirements: list[Requirement] = []
    if row["status"] == states.SUBMITTED:
        requirements.append(_build_requirement("DECISION_PENDING"))
    if row["status"] == states.WAITLISTED:
        requirements.append(_build_requirement("ON_WAITLIST"))
    if row["status"] in (*states.ACCEPTED_STATES, states.ACTIVATED):
        requirements += _list_due_documents(row, uploaded_documents, last_day)
    if row["status"] in states.ACCEPTED_STATES:
        requirements += _list_outstanding_steps(row)
    if is_staff and row["email"] is None and row["phone"] is None and row["status"] in states.OPEN_STATES:
        requirements.append(_build_requirement("NO_CONTACT"))
    return requirements


def _list_due_documents(
    row: RowMapping, uploaded_documents: Sequence[UploadedDocument], last_day: date
) -> list[Requirement]:
    if not row["documents_required"] or row["documents_submitted_at"] is not None:
        return []
    accepted_kinds = [document.kind for document in uploaded_documents if document.counts_on(last_day)]
    asked_again_kinds = [document.kind for document in uploaded_documents if document.asked_again_at is not None]
    missing_kinds = documents.list_missing_kinds(row["documents_required"], accepted_kinds)
    if not missing_kinds:
        return [_build_requirement("DOCUMENTS_NOT_SUBMITTED")]
    return [
        {"code": "DOCUMENT_ASKED_AGAIN", "kind": kind, "message": f"{LABELS[kind]}: another file has to be uploaded."}
        if kind in asked_again_kinds
        else {"code": "DOCUMENT_MISSING", "kind": kind, "message": f"{LABELS[kind]}: has to be uploaded."}
        for kind in missing_kinds
    ]


def _list_outstanding_steps(row: RowMapping) -> list[Requirement]:
    requirements: list[Requirement] = []
    if row["amount_minor"] > 0 and row["paid_at"] is None and row["waived_at"] is None:
        requirements.append(_build_requirement("PAYMENT_DUE"))
    if row["status"] == states.READY:
        requirements.append(_build_requirement("ACTIVATION_DUE"))
    return requirements


def _build_requirement(code: str) -> Requirement:
    return {"code": code, "message": REQUIREMENT_MESSAGES[code]}


def build_calendar(row: RowMapping) -> EventCalendar:
    """The calendar of the event of a row of `list_applications_query`."""
    return EventCalendar(*(row[name] for name in CALENDAR_FIELDS))


def _serialize_offer(row: RowMapping) -> OfferStatus | None:
    offer: Mapping[str, str | None] | None = row["offer"]
    if offer is None:
        return None
    is_open = offer["replaced_at"] is None and row["status"] == states.WAITLISTED
    return {
        "status": offer["answer"] or ("open" if is_open else "ended"),
        "offered_at": datetime.fromisoformat(str(offer["created_at"])),
        "expires_at": datetime.fromisoformat(str(offer["expires_at"])),
    }


def _serialize_fee(row: RowMapping) -> FeeStatus:
    payment: Mapping[str, str] = row["payment"] or {}
    status = payment.get("status")
    if row["amount_minor"] == 0:
        status = "not_required"
    elif row["waived_at"] is not None:
        status = "waived"
    elif row["refunded_at"] is not None:
        status = "refunded"
    elif row["paid_at"] is not None:
        status = "paid"
    elif status not in ("otp_required", "processing"):
        status = "due"
    return {
        "amount_minor": row["amount_minor"],
        "currency": "NAD",
        "status": status,
        "payment_id": payment.get("payment_id"),
        "due_at": calculate_due_at(
            states.PAYMENT,
            build_calendar(row),
            decided_at=row["decided_at"],
            scheduled_for=row["scheduled_for"],
        ),
        "paid_at": row["paid_at"],
        "refund": row["refund"],
    }
