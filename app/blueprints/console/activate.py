"""Activating the account: with a new password, or that of the account one has. Both see the same page."""

from dataclasses import replace

from flask import Response, redirect, request, session, url_for
from flask.typing import ResponseReturnValue

from app.applications import actions, link_queries
from app.applications.errors import LinkUsed
from app.blueprints.console.application_links import handle_dead_link, offer_fresh_links
from app.blueprints.console.forms import REFUSALS, FilledForm, Form, Input, form_page
from app.blueprints.console.rendering import Pages, page
from app.web import rate_limits
from app.web.fields import Email, Text
from app.web.rate_limits import CODE_ATTEMPT_LIMIT
from app.web.safe_redirect import SafePath
from app.web.schema import Query
from app.web.text_fields import Name, NewPassword

PURPOSE, PAGE = "activation", "console/activate.html"
ACTIVATING = "/api/merchant-activation/<token>"
DONE = "activated"
blueprint = Pages("activate", __name__, url_prefix="/activate")
offer_fresh_links(blueprint, PURPOSE)


class ActivationSchema(Query):
    name = Name(required=True, min=2, max=80)
    password = NewPassword(required=True)
    message = Text(max=1000)
    path = SafePath(load_default="/")


class AddressedSchema(ActivationSchema):
    email = Email(required=True)


NAME = Input(
    "name",
    "Your name",
    autocomplete="name",
    says={
        "required": "Enter your name.",
        "too_short": "Enter your whole name.",
        "too_long": "Shorten your name to 80 characters.",
    },
)
ADDRESS = Input(
    "email",
    "Your e-mail address",
    hint="You will sign in with it.",
    type="email",
    autocomplete="username",
    inputmode="email",
    says={"required": "Enter your e-mail address.", "invalid_email": "Enter an address like name@example.com."},
)
PASSWORD = Input(
    "password",
    "Choose a password, or enter the one you have",
    hint="If this address has an account already, enter its password. A new one needs at least 8 characters.",
    type="password",
    autocomplete="current-password",
    says={
        "required": "Enter a password.",
        "too_short": "Enter a password of at least 8 characters.",
        "too_long": "Enter a password of at most 128 characters.",
        "too_common": "Choose another password. This one is among the first that somebody would guess.",
    },
    about=("CURRENT_PASSWORD_WRONG", "RATE_LIMITED"),
)
MESSAGE = Input(
    "message",
    "A message to the organiser",
    hint="For example when you want to set up.",
    type="textarea",
    says={"too_long": "Shorten the message to 1 000 characters."},
)
LANDING = Input("path", "Where to go then", type="hidden")


@blueprint.get("/<token>")
@handle_dead_link(PURPOSE)
def start(token: str) -> Response:
    """For whom the account is, and what is needed to open it."""
    activation = link_queries.get_activation(token)
    return _page(
        token,
        activation,
        FORMS[_kind(activation)].blank(name=activation["name"] or "", path=request.args.get("path", "")),
    )


@blueprint.post("/<token>")
@handle_dead_link(PURPOSE)
def activate(token: str) -> ResponseReturnValue:
    """Opens the account, or links the one that is there."""
    form = FORMS.get(request.form.get("shown", ""), FORMS["named"]).typed()
    try:
        rate_limits.count_request(CODE_ATTEMPT_LIMIT, ACTIVATING)
        done = actions.activate_account(token=token, **{"message": "", **form.checked()})
    except REFUSALS as error:
        activation = link_queries.get_activation(token)
        return _page(token, activation, replace(form, form=FORMS[_kind(activation)]).refused(error))
    except LinkUsed:
        return redirect(url_for("activate.start", token=token), 303)
    user = done.login_result.user
    session[DONE] = {"email": user["email"], "event": done.event, "path": done.path}
    return redirect(url_for("activate.done"), 303)


@blueprint.get("/done")
def done() -> ResponseReturnValue:
    """Says that it is done, and where to sign in."""
    activation = session.get(DONE)
    return page("console/activate_done.html", activation=activation) if activation else redirect("/", 303)


FORMS = {
    "named": Form(ActivationSchema, NAME, PASSWORD, MESSAGE, LANDING),
    "addressed": Form(AddressedSchema, NAME, ADDRESS, PASSWORD, MESSAGE, LANDING),
}


def _kind(values: link_queries.ActivationPage) -> str:
    """Which form asks for what is needed; it says so itself when it comes back."""
    return "named" if values["email"] else "addressed"


def _page(token: str, values: link_queries.ActivationPage, form: FilledForm) -> Response:
    return form_page(PAGE, form, application=values, token=token, shown=_kind(values), contact=values["contact_email"])
