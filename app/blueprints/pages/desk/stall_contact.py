"""Correcting how an applicant is reached, as a form."""

from flask import Response, url_for
from flask.typing import ResponseReturnValue

from app.accounts.caller import Caller
from app.applications import actions
from app.applications.actions.contact import OPEN_STATES
from app.applications.queries import ApplicationRecord
from app.blueprints.pages.desk.form_parts import VERSION, VersionSchema
from app.blueprints.pages.desk.shell import do_once, go_to, render_desk_form
from app.blueprints.pages.desk.stall_words import reword
from app.blueprints.pages.desk.stalls import DECIDE, blueprint, get_event_application
from app.blueprints.pages.forms import FORM_ERRORS, FilledForm, Form, Input
from app.core.errors import NotFound
from app.core.languages import gettext, lazy_gettext
from app.events.queries import OwnEvent
from app.web.fields import Email, Phone
from app.web.text_fields import Name


class ContactSchema(VersionSchema):
    email = Email(required=True)
    contact_name = Name(min=2, max=120)
    phone = Phone(min=4, max=32)


CONTACT = Form(
    ContactSchema,
    Input(
        "email",
        lazy_gettext("E-mail address"),
        hint=lazy_gettext("A new address gets new links for what is due. Those that were mailed before end."),
        type="email",
        inputmode="email",
        messages={"required": lazy_gettext("Enter an e-mail address.")},
    ),
    Input("contactName", lazy_gettext("Contact")),
    Input("phone", lazy_gettext("Phone"), type="tel", inputmode="tel"),
    VERSION,
)


@blueprint.page("/<application_id>/contact", access=DECIDE)
def edit_contact(caller: Caller, event_id: str, application_id: str) -> ResponseReturnValue:
    """Show the form with the address, the name and the phone number."""
    event, row = get_event_application(caller, event_id, application_id)
    form = CONTACT.fill(
        email=row["email"] or "",
        contactName=row["contact_name"] or "",
        phone=row["phone"] or "",
        version=str(row["version"]),
    )
    return _render(event, row, form)


@blueprint.act("/<application_id>/contact", access=DECIDE)
def change_contact(caller: Caller, event_id: str, application_id: str) -> ResponseReturnValue:
    """Save them, unless the application has changed since the form was opened."""
    event, row = get_event_application(caller, event_id, application_id)
    form = CONTACT.from_request()

    def act() -> str:
        values = {"contact_name": None, "phone": None, **form.load()}
        version = values.pop("version")
        actions.change_contact(caller, application_id, expected_version=version, **values)
        return ""

    try:
        do_once(caller, act)
    except FORM_ERRORS as error:
        return _render(event, row, form.with_error(reword(error)))
    return go_to(_build_back(event, row), gettext("The contact is corrected."))


def _build_back(event: OwnEvent, row: ApplicationRecord) -> str:
    return url_for("desk_stalls.show_application", event_id=event.id, application_id=row["id"])


def _render(event: OwnEvent, row: ApplicationRecord, form: FilledForm) -> Response:
    if row["status"] not in OPEN_STATES:
        raise NotFound()
    return render_desk_form(
        form,
        event=event,
        title=gettext("Correct the contact: %(name)s", name=row["business_name"] or row["reference"]),
        button=gettext("Save"),
        back=_build_back(event, row),
    )
