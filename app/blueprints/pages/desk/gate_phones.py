"""The phones of an event, at the gate and in the stock: pairing one by a QR code, and ending one."""

from typing import Any

import segno
from flask import Response, current_app, url_for
from flask.typing import ResponseReturnValue

from app.accounts.caller import Caller
from app.accounts.permissions import DEVICE_KINDS, DEVICES
from app.blueprints.pages.desk.gate import blueprint
from app.blueprints.pages.desk.shell import do_once, go_to, render_confirmation, render_desk, render_desk_form
from app.blueprints.pages.forms import FORM_ERRORS, FilledForm, Form, Input
from app.core.languages import gettext, lazy_gettext
from app.events import queries as events
from app.events.queries import OwnEvent
from app.teams import actions, queries
from app.web.access import may
from app.web.fields import Choice
from app.web.schema import Query
from app.web.text_fields import EmailName

PAIR = may(DEVICES)
KIND_LABELS = {
    "gate": lazy_gettext("At the gate: admits guests"),
    "stock": lazy_gettext("In the stock: a scanner app that reads and changes it"),
}


class PhoneSchema(Query):
    name = EmailName(required=True, max=80)
    kind = Choice(*DEVICE_KINDS, required=True)


PHONE = Form(
    PhoneSchema,
    Input(
        "name",
        lazy_gettext("Name"),
        hint=lazy_gettext("For example: Gate A, phone 1. The log shows this name at each scan."),
        messages={"required": lazy_gettext("Enter a name.")},
    ),
    Input("kind", lazy_gettext("What is it for?"), options=list(KIND_LABELS.items())),
)


@blueprint.page("/phones", access=PAIR)
def show_phones(caller: Caller, event_id: str) -> ResponseReturnValue:
    """Show the phones of an event."""
    event = events.get_event(caller, event_id)
    phones = queries.list_devices(caller, event_id)
    return render_desk("desk/gate_phones.html", event=event, phones=phones, kind_labels=KIND_LABELS)


@blueprint.page("/phones/new", access=PAIR)
def add_phone(caller: Caller, event_id: str) -> ResponseReturnValue:
    """Ask for the name of a phone."""
    return _render_form(events.get_event(caller, event_id), PHONE.fill(kind="gate"))


@blueprint.act("/phones/new", access=PAIR)
def create_phone(caller: Caller, event_id: str) -> ResponseReturnValue:
    """Add a phone, and show the code that pairs it. The code is not shown again."""
    event, form = events.get_event(caller, event_id), PHONE.from_request()
    pairings: list[tuple[Any, str]] = []

    def add() -> str:
        pairings.append(actions.create_device(caller=caller, event_id=event_id, **form.load()))
        return str(pairings[0][0].id)

    try:
        phone_id = do_once(caller, add)
    except FORM_ERRORS as error:
        return _render_form(event, form.with_error(error))
    if not pairings:
        return go_to(
            url_for("desk_gate.show_phone", event_id=event_id, device_id=phone_id),
            gettext("The phone was added already."),
        )
    ((phone, code),) = pairings
    pairing_page = f"{current_app.extensions['settings'].PUBLIC_BASE_URL}/pair"
    return render_desk(
        "desk/gate_phone.html",
        event=event,
        phone=phone,
        code=code,
        pairing_page=pairing_page.partition("://")[2],
        qr_code=segno.make_qr(f"{pairing_page}/{code}", error="m").svg_data_uri(border=4),
    )


@blueprint.page("/phones/<device_id>", access=PAIR)
def show_phone(caller: Caller, event_id: str, device_id: str) -> ResponseReturnValue:
    """Show whether a phone is paired. The page with the code brings this part of itself up to date."""
    event, phone = events.get_event(caller, event_id), queries.get_device(caller, event_id, device_id)
    return render_desk("desk/gate_phone.html", event=event, phone=phone)


@blueprint.page("/phones/<device_id>/end", access=PAIR)
def confirm_end(caller: Caller, event_id: str, device_id: str) -> ResponseReturnValue:
    """Say what ending a phone does."""
    event, phone = events.get_event(caller, event_id), queries.get_device(caller, event_id, device_id)
    return render_confirmation(
        event=event,
        title=gettext("End the phone “%(name)s”?", name=phone.name),
        text=gettext(
            "The phone can do nothing any more, and deletes its list of guests when it is next online. Scans that "
            "it has not sent stay on it, and you can download them there. To use the phone again, pair it again."
        ),
        button=gettext("End the phone"),
        back=url_for("desk_gate.show_phones", event_id=event_id),
        is_dangerous=True,
    )


@blueprint.act("/phones/<device_id>/end", access=PAIR)
def end_phone(caller: Caller, event_id: str, device_id: str) -> ResponseReturnValue:
    """End a phone."""
    actions.end_device(caller=caller, event_id=event_id, device_id=device_id)
    return go_to(
        url_for("desk_gate.show_phones", event_id=event_id), gettext("The phone is ended. It can do nothing any more.")
    )


def _render_form(event: OwnEvent, form: FilledForm) -> Response:
    return render_desk_form(
        form,
        event=event,
        title=gettext("Add a phone"),
        lead=gettext("A paired phone works for this event without anybody’s password, until two days after its end."),
        button=gettext("Show the code"),
        back=url_for("desk_gate.show_phones", event_id=event.id),
    )
