"""The way to the phones of an event, the page that pairs a phone, and API keys."""

from flask import Response, flash, redirect, request, url_for
from flask.typing import ResponseReturnValue

from app.accounts.errors import CodeInvalid
from app.accounts.permissions import DEVICES, KEYS, SCOPES
from app.blueprints.pages.forms import FORM_ERRORS, FilledForm, Form, Input, render_form
from app.blueprints.pages.owner_confirmation import PASSWORD, ConfirmedSchema, for_owner
from app.blueprints.pages.rendering import Pages, render_page
from app.blueprints.pages.signed_in import authorise_page
from app.core.errors import ValidationFailed
from app.events import queries as event_queries
from app.teams import actions, queries
from app.web.access import may
from app.web.cookies import set_device_token_cookie
from app.web.rate_limits import CODE_ATTEMPT_LIMIT, count_request
from app.web.text_fields import Name

devices = Pages("team_devices", __name__, url_prefix="/account/devices", needs_sign_in=True)
keys = Pages("api_keys", __name__, url_prefix="/account/api-keys", needs_sign_in=True)
pairing = Pages("pairing", __name__, url_prefix="/pair")
DEVICE_ACCESS, KEY_ACCESS = may(DEVICES), may(KEYS, whole_organisation=True)
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


class KeySchema(ConfirmedSchema):
    name = Name(required=True, max=80)


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
