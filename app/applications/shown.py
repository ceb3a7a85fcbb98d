"""An application as it is told: documents with their state, what is still due, and the payment."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from app.applications import documents, states
from app.applications.documents import LABELS

WORDS = {
    "DECISION_PENDING": "The organiser has to decide.",
    "DOCUMENTS_NOT_SUBMITTED": "All documents are there; they have to be handed in.",
    "PAYMENT_DUE": "The stall fee has to be paid.",
    "ACTIVATION_DUE": "The account has to be activated.",
    "NO_CONTACT": "There is no address: the applicant can only be reached through links that you hand over yourself.",
}


def application(row: Mapping[Any, Any]) -> dict[str, Any]:
    """A row of the list, told to whoever asked; notes and risk are left out where he must not know them."""
    told = dict(row)
    if not told.pop("is_decider"):
        for name in ("reviewer_notes", "risk_level", "decided_by", "activation_message"):
            told.pop(name)
        viewer = None
    else:
        viewer = str(told["viewer_id"])
    files = {item["kind"]: item for item in told.pop("files")}
    told["documents"] = document_rows(told["documents_required"], files, viewer=viewer)
    told["payment"] = _payment(told)
    told["requirements"] = requirements(told, files, inside=viewer is not None)
    return told


def document_rows(
    required: list[str], files: Mapping[str, Mapping[str, Any]], *, viewer: str | None = None
) -> list[dict[str, Any]]:
    """Every kind that is required or there: what it is called, and whether it has arrived."""
    return [
        _document(kind, kind in required, files.get(kind), viewer)
        for kind in documents.KINDS
        if kind in required or kind in files
    ]


def requirements(told: Mapping[str, Any], files: Mapping[str, Any], *, inside: bool) -> list[dict[str, Any]]:
    """What is still due, as codes for programs and sentences for people."""
    found = []
    if told["status"] == states.SUBMITTED:
        found.append(_requirement("DECISION_PENDING"))
    if told["status"] in states.ACCEPTED:
        found += _outstanding(told, files)
    if inside and told["email"] is None and told["phone"] is None and told["status"] in states.OPEN:
        found.append(_requirement("NO_CONTACT"))
    return found


def _outstanding(told: Mapping[str, Any], files: Mapping[str, Any]) -> list[dict[str, Any]]:
    found = []
    if told["documents_required"] and told["documents_submitted_at"] is None:
        gaps = documents.missing(told["documents_required"], files)
        found += [
            {"code": "DOCUMENT_MISSING", "kind": kind, "message": f"{LABELS[kind]}: has to be uploaded."}
            for kind in gaps
        ]
        if not gaps:
            found.append(_requirement("DOCUMENTS_NOT_SUBMITTED"))
    if told["amount_minor"] > 0 and told["paid_at"] is None:
        found.append(_requirement("PAYMENT_DUE"))
    if told["status"] == states.READY:
        found.append(_requirement("ACTIVATION_DUE"))
    return found


def _requirement(code: str) -> dict[str, Any]:
    return {"code": code, "message": WORDS[code]}


def _document(kind: str, required: bool, file: Mapping[str, Any] | None, viewer: str | None) -> dict[str, Any]:
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
    if viewer is not None:
        row["url"], ends = documents.reading_link(file["id"], viewer)
        row["url_expires_at"] = datetime.fromtimestamp(ends, UTC)
    return row


def _payment(told: Mapping[str, Any]) -> dict[str, Any]:
    newest = told.get("payment") or {}
    status = newest.get("status")
    if told["amount_minor"] == 0:
        status = "not_required"
    elif told["paid_at"] is None and status not in ("otp_required", "processing"):
        status = "due"
    return {
        "amount_minor": told["amount_minor"],
        "currency": "NAD",
        "status": status,
        "payment_id": newest.get("paymentId"),
        "due_at": due_at(told["scheduled_for"], told["decided_at"]),
        "paid_at": told["paid_at"],
    }


def due_at(scheduled_for: datetime | None, decided_at: datetime | None) -> datetime | None:
    """When the stall fee is due: at the time that the applicant named, else two weeks after the approval."""
    return scheduled_for or (decided_at and decided_at + timedelta(days=14))
