"""Uploading documents: one field for each, one button, and what is missing said at its field."""

from flask import Response, redirect, request, url_for
from flask.typing import ResponseReturnValue

from app.applications import actions, link_queries
from app.applications.documents import LABELS, MAX_BYTES
from app.applications.errors import DocumentKindUnsupported, DocumentsClosed, DocumentsMissing, DocumentTooLarge
from app.applications.serializers import DocumentStatus
from app.blueprints.console.application_links import handle_dead_link, offer_fresh_links
from app.blueprints.console.forms import Form, Input, form_page
from app.blueprints.console.rendering import Pages
from app.core.date_format import format_day
from app.core.errors import AppError, ValidationFailed
from app.web import rate_limits
from app.web.fields import Text
from app.web.rate_limits import Limit
from app.web.schema import Query

PURPOSE, PAGE = "documents", "console/documents.html"
UPLOADS = 41 * 1024 * 1024
SENDING = Limit(60)
HINTS = {
    "identity": "Your ID card, passport or driving licence.",
    "business_registration": "The certificate from BIPA, or a founding statement.",
    "tax_clearance": "A good-standing certificate that is not older than a year.",
    "food_safety": "The fitness certificate of your municipality.",
}
blueprint = Pages("documents", __name__, url_prefix="/documents", max_bytes=UPLOADS)
offer_fresh_links(blueprint, PURPOSE)


class DocumentsSchema(Query):
    identity = Text(required=True, data_key="identity")
    business_registration = Text(required=True, data_key="business_registration")
    tax_clearance = Text(required=True, data_key="tax_clearance")
    food_safety = Text(required=True, data_key="food_safety")


@blueprint.get("/<token>")
@handle_dead_link(PURPOSE)
def start(token: str) -> Response:
    """What is needed, and what is there already."""
    return _page(token, link_queries.get_documents(token))


@blueprint.post("/<token>")
@handle_dead_link(PURPOSE)
def send(token: str) -> ResponseReturnValue:
    """Keeps the files, and hands everything in unless there is more to come."""
    rate_limits.count_request(SENDING, f"/{PURPOSE}")
    files = {
        kind: (file.filename, file.read(MAX_BYTES + 1))
        for kind, file in request.files.items()
        if kind in LABELS and file.filename
    }
    try:
        actions.upload_documents(token=token, files=files, submit="later" not in request.form)
    except DocumentsClosed:
        return redirect(url_for("documents.start", token=token), 303)
    except (DocumentTooLarge, DocumentKindUnsupported, DocumentsMissing) as error:
        return _page(token, link_queries.get_documents(token), _at_fields(error))
    return redirect(url_for("documents.start", token=token, kept=1 if "later" in request.form else None), 303)


def _page(token: str, values: link_queries.DocumentsPage, error: AppError | None = None) -> Response:
    rows = [row for row in values["documents"] if row["required"]]
    form = Form(DocumentsSchema, *(_input(row) for row in rows)).blank()
    return form_page(
        PAGE,
        form.refused(error) if error else form,
        application=values,
        rows=rows,
        token=token,
        contact=values["contact_email"],
        onward=link_queries.find_payment_path(values["id"]) if values["submitted_at"] else None,
        kept="kept" in request.args,
        until=format_day(values["expires_at"]),
    )


def _input(row: DocumentStatus) -> Input:
    label = row["label"]
    return Input(
        row["kind"],
        label,
        hint=HINTS[row["kind"]],
        type="file",
        says={
            "required": f"Choose a file: {label.lower()}.",
            "DOCUMENT_TOO_LARGE": f"{label}: this file is larger than 10 MB. Choose a smaller one, or a photo.",
            "DOCUMENT_TYPE_UNSUPPORTED": f"{label}: it cannot be read as a PDF, JPEG or PNG. Choose another file.",
        },
    )


def _at_fields(error: AppError) -> ValidationFailed:
    """The refusal with what is wrong at the field it concerns."""
    kinds = [item["kind"] for item in error.data["missing"]] if "missing" in error.data else [error.data["kind"]]
    code = "required" if "missing" in error.data else error.code
    return ValidationFailed([{"path": kind, "code": code, "message": error.text} for kind in kinds])
