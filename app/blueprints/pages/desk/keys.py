"""The API keys of the organisation, for its programs."""

from typing import Any

from flask import Response, request, url_for
from flask.typing import ResponseReturnValue

from app.accounts.caller import Caller
from app.accounts.permissions import KEYS, SCOPES
from app.blueprints.pages.desk.shell import DeskPages, do_once, go_to, render_confirmation, render_desk
from app.blueprints.pages.forms import FORM_ERRORS, FilledForm, Form, Input
from app.blueprints.pages.owner_confirmation import PASSWORD, ConfirmedSchema, for_owner
from app.core.errors import NotFound, ValidationFailed
from app.core.languages import gettext, lazy_gettext
from app.teams import actions, queries
from app.web.access import check_access, may
from app.web.text_fields import Name

blueprint = DeskPages("desk_keys", __name__, url_prefix="/desk/keys")
ACCESS = may(KEYS, whole_organisation=True)
SCOPE_HINTS = {
    "events:read": lazy_gettext("read events and their figures"),
    "events": lazy_gettext("read and change events"),
    "guests:read": lazy_gettext("read blocks, places and tickets"),
    "guests": lazy_gettext("read and change blocks, places and tickets, with codes, links and invitations of guests"),
    "gate": lazy_gettext("admit guests"),
    "stock:read": lazy_gettext("read the stock"),
    "stock": lazy_gettext("read and change the stock"),
    "stalls:read": lazy_gettext("read applications of stalls"),
    "messages:read": lazy_gettext("read messages and their figures"),
    "money:read": lazy_gettext("read invoices"),
    "audit:read": lazy_gettext("read the audit trail"),
}


class KeySchema(ConfirmedSchema):
    name = Name(required=True, max=80)


KEY = Form(
    KeySchema,
    Input(
        "name",
        lazy_gettext("Name"),
        hint=lazy_gettext("What uses the key, for example: Ticket shop."),
        messages={"required": lazy_gettext("Enter a name.")},
    ),
    PASSWORD,
)


@blueprint.page("", access=ACCESS)
def show(caller: Caller) -> ResponseReturnValue:
    """Show the API keys, and the form to make one."""
    return _render(caller, for_owner(KEY).fill())


@blueprint.act("", access=ACCESS)
def create(caller: Caller) -> ResponseReturnValue:
    """Make a key and show it once."""
    form, scopes = for_owner(KEY).from_request(), request.form.getlist("scope")
    new_keys: list[tuple[Any, str]] = []

    def make() -> str:
        values = form.load()
        if not scopes or not set(scopes) <= set(SCOPES):
            raise ValidationFailed.of("scopes", "required", gettext("Choose what the program may do."))
        check_access(ACCESS.with_verified_email(), caller)
        organisation = queries.get_organisation(caller)
        new_keys.append(actions.create_api_key(caller=caller, organisation=organisation, scopes=scopes, **values))
        return str(new_keys[0][0].id)

    try:
        do_once(caller, make)
    except FORM_ERRORS as error:
        return _render(caller, form.with_error(error), scopes)
    if not new_keys:
        return go_to(
            url_for("desk_keys.show"),
            gettext(
                "The key was made already, and is not shown again. If you do not have it, end it and make another."
            ),
        )
    ((api_key, key),) = new_keys
    return render_desk("desk/key_created.html", api_key=api_key, key=key)


@blueprint.page("/<key_id>/end", access=ACCESS)
def confirm_end(caller: Caller, key_id: str) -> ResponseReturnValue:
    """Say what ending a key means."""
    keys = queries.list_api_keys(queries.get_organisation(caller))
    api_key = next((key for key in keys if key.id == key_id), None)
    if api_key is None:
        raise NotFound()
    return render_confirmation(
        title=gettext("End the key “%(name)s”?", name=api_key.name),
        text=gettext("Programs with this key lose access immediately. You cannot use the key again."),
        button=gettext("End the key"),
        back=url_for("desk_keys.show"),
        is_dangerous=True,
    )


@blueprint.act("/<key_id>/end", access=ACCESS)
def end(caller: Caller, key_id: str) -> ResponseReturnValue:
    """End a key."""
    actions.end_api_key(organisation=queries.get_organisation(caller), key_id=key_id)
    return go_to(url_for("desk_keys.show"), gettext("The key is ended. Programs with it can do nothing any more."))


def _render(caller: Caller, form: FilledForm, chosen: list[str] | None = None) -> Response:
    api_keys = queries.list_api_keys(queries.get_organisation(caller))
    return render_desk("desk/keys.html", form=form, api_keys=api_keys, scopes=SCOPE_HINTS, chosen=chosen or [])
