"""Phones of an event, the page that pairs a phone, and API keys."""

import segno
from flask import Response, current_app, flash, redirect, request, url_for
from flask.typing import ResponseReturnValue

from app.accounts.errors import CodeInvalid
from app.accounts.permissions import DEVICE_KINDS, DEVICES, KEYS, SCOPES
from app.blueprints.pages.forms import FORM_ERRORS, FilledForm, Form, Input, render_form
from app.blueprints.pages.owner_confirmation import PASSWORD, ConfirmedSchema, for_owner
from app.blueprints.pages.rendering import Pages, render_page
from app.blueprints.pages.signed_in import authorise_page
from app.core.errors import ValidationFailed
from app.events import queries as event_queries
from app.teams import actions, queries
from app.web.access import may
from app.web.cookies import set_device_token_cookie
from app.web.fields import Choice
from app.web.rate_limits import CODE_ATTEMPT_LIMIT, count_request
from app.web.schema import Query
from app.web.text_fields import EmailName, Name

devices = Pages("team_devices", __name__, url_prefix="/account/devices", needs_sign_in=True)
keys = Pages("api_keys", __name__, url_prefix="/account/api-keys", needs_sign_in=True)
pairing = Pages("pairing", __name__, url_prefix="/pair")
DEVICE_ACCESS, KEY_ACCESS = may(DEVICES), may(KEYS, whole_organisation=True)
KIND_CHOICES = [("gate", "Gate", "admits guests"), ("stock", "Stock", "reads and changes the stock")]
SCOPE_HINTS = {
    "events:read": "read events and their figures",
    "events": "read and change events",
    "guests:read": "read blocks, places and tickets",
    "guests": "read and change them, with codes, links and invitations of guests",
    "gate": "admit guests",
    "stock:read": "read the stock",
    "stock": "read and change the stock",
    "stalls:read": "read applications of stalls",
    "messages:read": "read messages and their figures",
    "money:read": "read invoices",
    "audit:read": "read the audit trail",
}


class DeviceSchema(Query):
    kind = Choice(*DEVICE_KINDS, required=True)
    name = EmailName(required=True, max=80)


class KeySchema(ConfirmedSchema):
    name = Name(required=True, max=80)


DEVICE = Form(
    DeviceSchema,
    Input("name", "Name", hint="For example: Gate A, phone 1.", messages={"required": "Enter a name."}),
    Input("kind", "What is it for?", messages={"required": "Choose one.", "unknown_value": "Choose one."}),
)
KEY = Form(
    KeySchema,
    Input("name", "Name", hint="What uses the key, for example: Ticket shop.", messages={"required": "Enter a name."}),
    PASSWORD,
)


@devices.get("")
def choose_event() -> Response:
    """Choose the event of the phones."""
    caller = authorise_page(DEVICE_ACCESS)
    return render_page("pages/devices_events.html", events=event_queries.list_present_events(caller))


@devices.get("/<event_id>")
def show(event_id: str) -> Response:
    """Show the phones of an event, and the form to add one."""
    return _render_devices(event_id, DEVICE.fill(kind="gate"))


@devices.post("/<event_id>")
def add(event_id: str) -> Response:
    """Add a phone, and show the code that pairs it. The code is not shown again."""
    form, caller = DEVICE.from_request(), authorise_page(DEVICE_ACCESS)
    try:
        device, code = actions.create_device(caller=caller, event_id=event_id, **form.load())
    except FORM_ERRORS as error:
        return _render_devices(event_id, form.with_error(error))
    url = f"{current_app.extensions['settings'].PUBLIC_BASE_URL}/pair/{code}"
    qr_code = segno.make_qr(url, error="m").svg_data_uri(border=4)
    return render_page("pages/device_code.html", device=device, code=code, url=url, qr_code=qr_code)


@devices.post("/<event_id>/<device_id>/end")
def end(event_id: str, device_id: str) -> ResponseReturnValue:
    """End a phone."""
    actions.end_device(caller=authorise_page(DEVICE_ACCESS), event_id=event_id, device_id=device_id)
    flash("The phone is ended. It can do nothing any more.")
    return redirect(url_for("team_devices.show", event_id=event_id), 303)


def _render_devices(event_id: str, form: FilledForm) -> Response:
    caller = authorise_page(DEVICE_ACCESS)
    event = event_queries.get_event(caller, event_id)
    rows = queries.list_devices(caller, event_id)
    return render_form("pages/devices.html", form, event=event, devices=rows, kind_choices=KIND_CHOICES)


@pairing.get("")
def ask_for_code() -> Response:
    """Ask for the code, for a phone that cannot scan."""
    return render_page("pages/pair.html", code="", is_wrong=False)


@pairing.get("/<code>")
def confirm_pairing(code: str) -> Response:
    """Ask whether to pair this phone. Opening the page does not use the code up."""
    return render_page("pages/pair.html", code=code, is_wrong=False)


@pairing.post("")
def pair() -> ResponseReturnValue:
    """Pair this phone: its browser keeps the token in a cookie."""
    code = request.form.get("code", "")[:40]
    count_request(CODE_ATTEMPT_LIMIT, "/api/devices/pair")
    try:
        paired = actions.pair_device(code=code)
    except CodeInvalid as error:
        return render_page("pages/pair.html", code=code, is_wrong=True, status=error.status)
    set_device_token_cookie(paired.token)
    return render_page("pages/paired.html", paired=paired)


@keys.get("")
def list_keys() -> Response:
    """Show the API keys, and the form to make one."""
    return _render_keys(for_owner(KEY).fill())


@keys.post("")
def create_key() -> Response:
    """Make a key and show it once."""
    form, scopes = for_owner(KEY).from_request(), request.form.getlist("scope")
    caller = authorise_page(KEY_ACCESS)
    try:
        values = form.load()
        if not scopes or not set(scopes) <= set(SCOPES):
            raise ValidationFailed.of("scopes", "required", "Choose what the program may do.")
        authorise_page(KEY_ACCESS.with_verified_email())
        organisation = queries.get_organisation(caller)
        api_key, key = actions.create_api_key(caller=caller, organisation=organisation, scopes=scopes, **values)
    except FORM_ERRORS as error:
        return _render_keys(form.with_error(error), scopes)
    return render_page("pages/api_key_created.html", api_key=api_key, key=key)


@keys.post("/<key_id>/end")
def end_key(key_id: str) -> ResponseReturnValue:
    """End a key."""
    organisation = queries.get_organisation(authorise_page(KEY_ACCESS))
    actions.end_api_key(organisation=organisation, key_id=key_id)
    flash("The key is ended. Programs with it can do nothing any more.")
    return redirect(url_for("api_keys.list_keys"), 303)


def _render_keys(form: FilledForm, chosen: list[str] | None = None) -> Response:
    organisation = queries.get_organisation(authorise_page(KEY_ACCESS))
    return render_form(
        "pages/api_keys.html",
        form,
        api_keys=queries.list_api_keys(organisation),
        scopes=SCOPE_HINTS,
        chosen=chosen or [],
    )
