"""Accepting documents of an applicant, and asking for them again, as forms."""

from typing import Any

from flask import Response, request, url_for
from flask.typing import ResponseReturnValue
from marshmallow.validate import OneOf

from app.accounts.caller import Caller
from app.applications import actions, states
from app.applications.documents import KINDS, LABELS
from app.applications.queries import ApplicationRecord
from app.blueprints.pages.desk.form_parts import VERSION, VersionSchema
from app.blueprints.pages.desk.shell import do_once, go_to, render_desk_form, send_back
from app.blueprints.pages.desk.stall_words import reword
from app.blueprints.pages.desk.stalls import DECIDE, blueprint, get_event_application
from app.blueprints.pages.forms import FORM_ERRORS, FilledForm, Form, Input
from app.blueprints.pages.rendering import describe_error
from app.core.errors import NotFound, StaleVersion
from app.core.languages import gettext, lazy_gettext
from app.events.queries import OwnEvent
from app.web.campaign_fields import ListOrText
from app.web.fields import Text
from app.web.text_fields import EmailText


class RequestSchema(VersionSchema):
    kinds = ListOrText(Text(validate=[OneOf(KINDS)]), max=len(KINDS), example=[KINDS[0]], required=True)
    reason = EmailText(required=True, min=1, max=500)


class AcceptanceSchema(VersionSchema):
    kinds = ListOrText(Text(validate=[OneOf(KINDS)]), min=1, max=len(KINDS), example=[KINDS[0]], required=True)


ACCEPTANCE = Form(AcceptanceSchema, Input("kinds", "", type="hidden"), VERSION)
"""The buttons on the page of the application."""


@blueprint.act("/<application_id>/documents/accept", access=DECIDE)
def accept(caller: Caller, event_id: str, application_id: str) -> ResponseReturnValue:
    """Accept the documents, unless the application has changed since the page was opened."""
    event, row = get_event_application(caller, event_id, application_id)
    back = _build_back(event, row)
    try:
        values = ACCEPTANCE.from_request().load()
        version = values.pop("version")
        actions.accept_documents(caller, application_id, expected_version=version, **values)
    except StaleVersion:
        return send_back(back, gettext("The application has changed meanwhile. Look at the documents again."))
    except FORM_ERRORS as error:
        return send_back(back, describe_error(reword(error)))
    names = ", ".join(gettext(LABELS[kind]) for kind in values["kinds"])
    return go_to(back, gettext("Accepted: %(document)s", document=names))


@blueprint.page("/<application_id>/documents/ask-again", access=DECIDE)
def confirm_request(caller: Caller, event_id: str, application_id: str) -> ResponseReturnValue:
    """Ask which documents are needed again, and why."""
    event, row = get_event_application(caller, event_id, application_id)
    values = {"kinds": request.args.get("kind", ""), "version": str(row["version"])}
    return _render(event, row, _build_form(row).fill(**values))


@blueprint.act("/<application_id>/documents/ask-again", access=DECIDE)
def ask_again(caller: Caller, event_id: str, application_id: str) -> ResponseReturnValue:
    """Ask for the documents, unless the application has changed since the form was opened."""
    event, row = get_event_application(caller, event_id, application_id)
    form = _build_form(row).from_request()

    def act() -> str:
        values = form.load()
        version = values.pop("version")
        actions.ask_again(caller, application_id, expected_version=version, **values)
        return ""

    try:
        do_once(caller, act)
    except FORM_ERRORS as error:
        return _render(event, row, form.with_error(reword(error)))
    done = gettext("The documents are asked for again. The applicant gets a mail.")
    return go_to(_build_back(event, row), done)


def _build_form(row: ApplicationRecord) -> Form:
    """The form with the documents that are there. Raises NotFound without any, and before the approval."""
    kinds = [file["kind"] for file in row["files"] if file["kind"] in LABELS]
    if not kinds or row["status"] not in (*states.ACCEPTED_STATES, states.ACTIVATED):
        raise NotFound()
    options: list[tuple[str, Any]] = [(kind, gettext(LABELS[kind])) for kind in KINDS if kind in kinds]
    return Form(
        RequestSchema,
        Input(
            "kinds",
            lazy_gettext("Which documents are needed again"),
            type="checkboxes",
            options=options,
            messages={"required": lazy_gettext("Choose a document.")},
        ),
        Input(
            "reason",
            lazy_gettext("What the applicant reads"),
            hint=lazy_gettext("Say what is wrong with the file. It is part of the mail. Leave out web addresses."),
            type="textarea",
            messages={"required": lazy_gettext("Enter what is wrong with the file.")},
        ),
        VERSION,
    )


def _build_back(event: OwnEvent, row: ApplicationRecord) -> str:
    return url_for("desk_stalls.show_application", event_id=event.id, application_id=row["id"])


def _render(event: OwnEvent, row: ApplicationRecord, form: FilledForm) -> Response:
    if row["status"] == states.ACTIVATED:
        lead = gettext("The applicant gets one mail with a link to send another file. Their stall stays as it is.")
    else:
        lead = gettext(
            "The applicant gets one mail with a link to send another file, and goes on when it is there. A fee that "
            "they have paid stays paid."
        )
    return render_desk_form(
        form,
        event=event,
        title=gettext("Ask for documents again: %(name)s", name=row["business_name"] or row["reference"]),
        lead=lead,
        button=gettext("Ask for them again"),
        back=_build_back(event, row),
    )
