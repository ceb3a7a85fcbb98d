"""Uploading the documents of an application: one file input per document, with errors at the input."""

from collections.abc import Iterable
from datetime import date

from flask import Response, redirect, request, url_for
from flask.typing import ResponseReturnValue

from app.applications import actions, link_queries
from app.applications.documents import DOCUMENT_STARTS, check_document
from app.applications.errors import DocumentKindUnsupported, DocumentsClosed, DocumentsMissing, DocumentTooLarge
from app.applications.serializers import DocumentStatus
from app.blueprints.pages.application_links import add_new_link_routes, handle_unusable_link
from app.blueprints.pages.forms import Form, Input, find_upload_error, render_form
from app.blueprints.pages.rendering import Pages
from app.core.errors import AppError, ValidationFailed
from app.core.formatting import format_calendar_day, format_megabytes
from app.core.languages import gettext, lazy_gettext
from app.web import rate_limits
from app.web.fields import Text
from app.web.rate_limits import Limit
from app.web.schema import Query

PURPOSE, PAGE = "documents", "pages/documents.html"
MAX_UPLOAD_BYTES = 41 * 1024 * 1024
UPLOAD_LIMIT = Limit(60)
HINTS = {
    "identity": lazy_gettext("Your ID card, passport or driving licence."),
    "business_registration": lazy_gettext("Your BIPA certificate, or your founding statement."),
    "tax_clearance": lazy_gettext("A good-standing certificate, not older than one year."),
    "food_safety": lazy_gettext("The fitness certificate from your municipality."),
}
REQUIRED_MESSAGES = {
    "identity": lazy_gettext("Choose a file: identity document."),
    "business_registration": lazy_gettext("Choose a file: business registration."),
    "tax_clearance": lazy_gettext("Choose a file: tax clearance certificate."),
    "food_safety": lazy_gettext("Choose a file: food safety certificate."),
}
blueprint = Pages("documents", __name__, url_prefix="/documents", max_bytes=MAX_UPLOAD_BYTES, translated=True)
add_new_link_routes(blueprint, PURPOSE)


EXPIRY_NAMES = {
    "identity": "identityExpiresOn",
    "business_registration": "businessRegistrationExpiresOn",
    "tax_clearance": "taxClearanceExpiresOn",
    "food_safety": "foodSafetyExpiresOn",
}


class DocumentsSchema(Query):
    identity = Text(required=True, data_key="identity")
    business_registration = Text(required=True, data_key="business_registration")
    tax_clearance = Text(required=True, data_key="tax_clearance")
    food_safety = Text(required=True, data_key="food_safety")
    identity_expires_on = Text()
    business_registration_expires_on = Text()
    tax_clearance_expires_on = Text()
    food_safety_expires_on = Text()


@blueprint.get("/<token>")
@handle_unusable_link(PURPOSE)
def start(token: str) -> Response:
    """Show the required and the uploaded documents."""
    return _page(token, link_queries.get_documents(token), find_upload_error(MAX_UPLOAD_BYTES))


@blueprint.post("/<token>")
@handle_unusable_link(PURPOSE)
def send(token: str) -> ResponseReturnValue:
    """Store the files that can be read, and submit the documents unless the visitor chose "send later"."""
    rate_limits.count_request(UPLOAD_LIMIT, f"/{PURPOSE}")
    kinds = [row["kind"] for row in link_queries.get_documents(token)["documents"] if row["required"]]
    files = {
        kind: (file.filename, file.read()) for kind, file in request.files.items() if kind in kinds and file.filename
    }
    days = {kind: request.form.get(EXPIRY_NAMES[kind], "").strip() for kind in kinds}
    problems = {kind: [*_check_file(kind, files.get(kind)), *_check_day(kind, days[kind])] for kind in kinds}
    good_kinds = [kind for kind in kinds if not problems[kind]]
    errors = [error for kind in kinds for error in problems[kind]]
    hands_in = "later" not in request.form
    is_complete = not errors
    try:
        actions.upload_documents(
            token=token,
            files={kind: files[kind] for kind in good_kinds if kind in files},
            expiry_days={kind: date.fromisoformat(days[kind]) for kind in good_kinds if days[kind]},
            submit=hands_in and is_complete,
        )
    except DocumentsClosed:
        return redirect(url_for("documents.start", token=token), 303)
    except DocumentsMissing:
        is_complete = False
    if is_complete:
        return redirect(url_for("documents.start", token=token, kept=None if hands_in else 1), 303)
    documents_page = link_queries.get_documents(token)
    if documents_page["submitted_at"]:
        return redirect(url_for("documents.start", token=token), 303)
    if hands_in:
        errors += _list_missing([row for row in documents_page["documents"] if row["kind"] in good_kinds])
    return _page(token, documents_page, ValidationFailed(errors))


def _page(token: str, documents_page: link_queries.DocumentsPage, error: AppError | None = None) -> Response:
    rows = [row for row in documents_page["documents"] if row["required"]]
    inputs = [input_ for row in rows for input_ in (_build_input(row), _build_expiry_input(row))]
    days = {EXPIRY_NAMES[row["kind"]]: row["expires_on"].isoformat() for row in rows if "expires_on" in row}
    typed_days = {name: request.form[name] for name in EXPIRY_NAMES.values() if name in request.form}
    form = Form(DocumentsSchema, *inputs).fill(**(days | typed_days))
    return render_form(
        PAGE,
        form.with_error(error) if error else form,
        application=documents_page,
        rows=rows,
        expiry_names=EXPIRY_NAMES,
        expiry_days={row["kind"]: format_calendar_day(row["expires_on"]) for row in rows if "expires_on" in row},
        token=token,
        contact=documents_page["contact_email"],
        payment_path=link_queries.find_payment_path(documents_page["id"]) if documents_page["submitted_at"] else None,
        files_kept="kept" in request.args,
    )


def _build_input(row: DocumentStatus) -> Input:
    english_label = row["label"]
    label = gettext(english_label)
    return Input(
        row["kind"],
        label,
        hint=HINTS[row["kind"]],
        type="file",
        messages={
            "required": REQUIRED_MESSAGES[row["kind"]],
            "expires_early": gettext(
                "%(document)s: this one expires before the event is over. Choose a newer one.", document=label
            ),
            "damaged": gettext(
                "%(document)s: this file is damaged or cut off. Choose it again, or save it anew.", document=label
            ),
            "DOCUMENT_TYPE_UNSUPPORTED": gettext(
                "%(document)s: we can only read PDF, JPEG and PNG files. Choose another file.", document=label
            ),
        },
    )


def _build_expiry_input(row: DocumentStatus) -> Input:
    english_label = row["label"]
    label = gettext(english_label)
    return Input(
        EXPIRY_NAMES[row["kind"]],
        gettext("%(document)s: valid until", document=label),
        type="date",
        messages={"invalid_date": lazy_gettext("Enter a day like 2027-03-31.")},
    )


def _check_day(kind: str, text: str) -> list[dict[str, str]]:
    """An error if the text is no day."""
    try:
        if text:
            date.fromisoformat(text)
    except ValueError:
        return [{"path": EXPIRY_NAMES[kind], "code": "invalid_date", "message": "Must be a day, like 2027-03-31."}]
    return []


def _check_file(kind: str, file: tuple[str, bytes] | None) -> list[dict[str, str]]:
    """An error if the file is no document, or is too large."""
    if file is None:
        return []
    name, data = file
    try:
        check_document(kind, name, data)
    except DocumentTooLarge as error:
        message = gettext(
            "This file has %(size)s, and 10 MB is the most. To make it smaller, scan the document again with 150 dpi, or "
            "take a photo of it.",
            size=format_megabytes(len(data)),
        )
        return [{"path": kind, "code": error.code, "message": message}]
    except DocumentKindUnsupported as error:
        code = "damaged" if data.startswith(DOCUMENT_STARTS) else error.code
        return [{"path": kind, "code": code, "message": error.text}]
    return []


def _list_missing(rows: Iterable[DocumentStatus]) -> list[dict[str, str]]:
    """An error for each required document that is missing, asked for again, or not valid up to the end of the event."""
    return [
        {
            "path": row["kind"],
            "code": "expires_early" if row["status"] == "expired" else "required",
            "message": DocumentsMissing.message,
        }
        for row in rows
        if row["required"] and row["status"] != "uploaded"
    ]
