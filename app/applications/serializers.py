"""An application as it is told: documents with their state, what is still due, and the payment."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from app.applications import documents, states
from app.applications.documents import LABELS

REQUIREMENT_MESSAGES = {
    "DECISION_PENDING": "The organiser has to decide.",
    "DOCUMENTS_NOT_SUBMITTED": "All documents are there; they have to be handed in.",
    "PAYMENT_DUE": "The stall fee has to be paid.",
    "ACTIVATION_DUE": "The account has to be activated.",
    "NO_CONTACT": "There is no address: the applicant can only be reached through links that you hand over yourself.",
}


def serialize_application(row: Mapping[Any, Any]) -> dict[str, Any]:
    """A row of the list, as the caller may see it; notes and risk are left out where they must not know them."""
    data = dict(row)
    if not data.pop("is_decider"):
        for column in ("reviewer_notes", "risk_level", "decided_by", "activation_message"):
            data.pop(column)
        viewer_id = None
    else:
        viewer_id = str(data["viewer_id"])
    files = {item["kind"]: item for item in data.pop("files")}
    data["documents"] = serialize_documents(data["documents_required"], files, viewer_id=viewer_id)
    data["payment"] = _serialize_payment(data)
    data["requirements"] = list_requirements(data, files, can_read_notes=viewer_id is not None)
    return data


def serialize_documents(
    required_kinds: list[str], files: Mapping[str, Mapping[str, Any]], *, viewer_id: str | None = None
) -> list[dict[str, Any]]:
    """Every kind that is required or there: what it is called, and whether it has arrived."""
    return [
        _serialize_document(kind, kind in required_kinds, files.get(kind), viewer_id)
        for kind in documents.KINDS
        if kind in required_kinds or kind in files
    ]


def list_requirements(
    data: Mapping[str, Any], files: Mapping[str, Any], *, can_read_notes: bool
) -> list[dict[str, Any]]:
    """What is still due, as codes for programs and sentences for people."""
    due_items = []
    if data["status"] == states.SUBMITTED:
        due_items.append(_serialize_requirement("DECISION_PENDING"))
    if data["status"] in states.ACCEPTED_STATES:
        due_items += _list_outstanding(data, files)
    if can_read_notes and data["email"] is None and data["phone"] is None and data["status"] in states.OPEN_STATES:
        due_items.append(_serialize_requirement("NO_CONTACT"))
    return due_items


def _list_outstanding(data: Mapping[str, Any], files: Mapping[str, Any]) -> list[dict[str, Any]]:
    due_items = []
    if data["documents_required"] and data["documents_submitted_at"] is None:
        missing_kinds = documents.list_missing_kinds(data["documents_required"], files)
        due_items += [
            {"code": "DOCUMENT_MISSING", "kind": kind, "message": f"{LABELS[kind]}: has to be uploaded."}
            for kind in missing_kinds
        ]
        if not missing_kinds:
            due_items.append(_serialize_requirement("DOCUMENTS_NOT_SUBMITTED"))
    if data["amount_minor"] > 0 and data["paid_at"] is None:
        due_items.append(_serialize_requirement("PAYMENT_DUE"))
    if data["status"] == states.READY:
        due_items.append(_serialize_requirement("ACTIVATION_DUE"))
    return due_items


def _serialize_requirement(code: str) -> dict[str, Any]:
    return {"code": code, "message": REQUIREMENT_MESSAGES[code]}


def _serialize_document(
    kind: str, required: bool, file: Mapping[str, Any] | None, viewer_id: str | None
) -> dict[str, Any]:
    row: dict[str, Any] = {"kind": kind, "label": LABELS[kind], "required": required, "status": "missing"}
    if file is None:
        return row
    uploaded = file["uploadedAt"]
    row |= {
        "status": "uploaded",
        "file_name": file["fileName"],
        "content_type": file["contentType"],
        "bytes": file["size"],
        "uploaded_at": datetime.fromisoformat(uploaded) if isinstance(uploaded, str) else uploaded,
    }
    if viewer_id is not None:
        row["url"], expires_epoch = documents.build_read_url(file["id"], viewer_id)
        row["url_expires_at"] = datetime.fromtimestamp(expires_epoch, UTC)
    return row


def _serialize_payment(data: Mapping[str, Any]) -> dict[str, Any]:
    current_payment = data.get("payment") or {}
    status = current_payment.get("status")
    if data["amount_minor"] == 0:
        status = "not_required"
    elif data["paid_at"] is None and status not in ("otp_required", "processing"):
        status = "due"
    return {
        "amount_minor": data["amount_minor"],
        "currency": "NAD",
        "status": status,
        "payment_id": current_payment.get("paymentId"),
        "due_at": calculate_fee_due_at(data["scheduled_for"], data["decided_at"]),
        "paid_at": data["paid_at"],
    }


def calculate_fee_due_at(scheduled_for: datetime | None, decided_at: datetime | None) -> datetime | None:
    """When the stall fee is due: at the time that the applicant named, else two weeks after the approval."""
    return scheduled_for or (decided_at and decided_at + timedelta(days=14))
