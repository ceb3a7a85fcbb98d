"""Activating the account: a new password, or that of the account one has."""

from dataclasses import replace
from typing import Any

from flask import Response, redirect, request, session, url_for
from flask.typing import ResponseReturnValue

from app.applications import actions, visits
from app.applications.errors import LinkUsed
from app.blueprints.console.forms import REFUSALS, Filled, Form, Input, form_page
from app.blueprints.console.page import Pages, page
from app.blueprints.console.way import explained, offer_fresh_links
from app.web import limits
from app.web.credentials import NewPassword
from app.web.fields import Email, Secret, Text
from app.web.names import Name
from app.web.paths import SafePath
from app.web.rates import TRYING_CODES
from app.web.schema import Query

PURPOSE, PAGE = "activation", "console/activate.html"
ACTIVATING = "/api/merchant-activation/<token>"
DONE = "activated"
blueprint = Pages("activate", __name__, url_prefix="/activate")
offer_fresh_links(blueprint, PURPOSE)


class ExistingSchema(Query):
    password = Secret(required=True, max=128)
    message = Text(max=1000)
    path = SafePath(load_default="/")


class ActivationSchema(Query):
    name = Name(required=True, min=2, max=80)
    password = NewPassword(required=True)
    message = Text(max=1000)
    path = SafePath(load_default="/")


class AddressedSchema(ActivationSchema):
    email = Email(required=True)


NAME = Input("name", "Your name", autocomplete="name",
             says={"required": "Enter your name.", "too_short": "Enter your whole name.",
                   "too_long": "Shorten your name to 80 characters."})  # fmt: skip
ADDRESS = Input("email", "Your e-mail address", hint="You will sign in with it.", type="email", autocomplete="username",
                inputmode="email", says={"required": "Enter your e-mail address.",
                                         "invalid_email": "Enter an address like name@example.com."})  # fmt: skip
NEW = Input(
    "password",
    "Choose a password",
    hint="At least 8 characters. A short sentence is easy to remember and hard to guess.",
    type="password",
    autocomplete="new-password",
    says={
        "required": "Choose a password.",
        "too_short": "Choose a password of at least 8 characters.",
        "too_long": "Choose a password of at most 128 characters.",
        "too_common": "Choose another password. This one is among the first that somebody would guess.",
    },
    about=("CURRENT_PASSWORD_WRONG", "RATE_LIMITED"),
)
OWN = Input("password", "Your password", hint="The one you sign in with.", type="password",
            autocomplete="current-password",
            says={"required": "Enter your password.", "too_long": "This is longer than a password can be."},
            about=("CURRENT_PASSWORD_WRONG", "RATE_LIMITED"))  # fmt: skip
MESSAGE = Input("message", "A message to the organiser", hint="For example when you want to set up.", type="textarea",
                says={"too_long": "Shorten the message to 1 000 characters."})  # fmt: skip
LANDING = Input("path", "Where to go then", type="hidden")


@blueprint.get("/<token>")
@explained(PURPOSE)
def start(token: str) -> Response:
    """For whom the account is, and what is needed to open it."""
    found = visits.activation(token)
    return _page(token, found, FORMS[_kind(found)].blank(name=found["name"] or "", path=request.args.get("path", "")))


@blueprint.post("/<token>")
@explained(PURPOSE)
def activate(token: str) -> ResponseReturnValue:
    """Opens the account, or links the one that is there."""
    form = FORMS.get(request.form.get("shown", ""), FORMS["new"]).typed()
    try:
        limits.spend(TRYING_CODES, ACTIVATING)
        done = actions.activate(token=token, **{"message": "", "name": "", **form.checked()})
    except REFUSALS as error:
        found = visits.activation(token)
        return _page(token, found, replace(form, form=FORMS[_kind(found)]).refused(error))
    except LinkUsed:
        return redirect(url_for("activate.start", token=token), 303)
    user = done.signed_in.user
    session[DONE] = {"email": user["email"], "event": done.event, "path": done.path}
    return redirect(url_for("activate.done"), 303)


@blueprint.get("/done")
def done() -> ResponseReturnValue:
    """Says that it is done, and where to sign in."""
    said = session.get(DONE)
    return page("console/activate_done.html", said=said) if said else redirect("/", 303)


FORMS = {
    "existing": Form(ExistingSchema, OWN, MESSAGE, LANDING),
    "new": Form(ActivationSchema, NAME, NEW, MESSAGE, LANDING),
    "addressed": Form(AddressedSchema, NAME, ADDRESS, NEW, MESSAGE, LANDING),
}


def _kind(found: dict[str, Any]) -> str:
    """Which form asks for what is needed; it says so itself when it comes back."""
    if found["existing_account"]:
        return "existing"
    return "new" if found["email"] else "addressed"


def _page(token: str, found: dict[str, Any], form: Filled) -> Response:
    return form_page(PAGE, form, found=found, token=token, shown=_kind(found), contact=found["contact_email"])
