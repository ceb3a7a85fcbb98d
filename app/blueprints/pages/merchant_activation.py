"""Activating the account of an application, with a new password or with the one of an existing account.

The page is the same for both, so it does not reveal whether the email address has an account.
"""

from dataclasses import replace

from flask import Response, redirect, request, session, url_for
from flask.typing import ResponseReturnValue

from app.accounts.errors import AccountSuspended, SecondFactorRequired
from app.applications import actions, link_queries
from app.applications.errors import LinkUsed
from app.blueprints.pages import second_step, signed_in
from app.blueprints.pages.application_links import add_new_link_routes, handle_unusable_link
from app.blueprints.pages.forms import FORM_ERRORS, FilledForm, Form, Input, render_form
from app.blueprints.pages.rendering import Pages, render_page
from app.core.languages import lazy_gettext
from app.web import rate_limits
from app.web.fields import Email, Text
from app.web.rate_limits import CODE_ATTEMPT_LIMIT
from app.web.safe_redirect import SafePath
from app.web.schema import Query
from app.web.session_origin import get_session_origin
from app.web.text_fields import Name, NewPassword

PURPOSE, PAGE = "activation", "pages/activate.html"
ACTIVATE_ROUTE = "/api/merchant-activation/<token>"
DONE_KEY = "activated"
blueprint = Pages("activate", __name__, url_prefix="/activate", translated=True)
add_new_link_routes(blueprint, PURPOSE)


class ActivationSchema(Query):
    name = Name(required=True, min=2, max=80)
    password = NewPassword(required=True)
    message = Text(max=1000)
    path = SafePath(load_default=signed_in.STALL_PATH)


class AddressedSchema(ActivationSchema):
    email = Email(required=True)


NAME = Input(
    "name",
    lazy_gettext("Your name"),
    autocomplete="name",
    messages={
        "required": lazy_gettext("Enter your name."),
        "too_short": lazy_gettext("Enter your full name."),
        "too_long": lazy_gettext("Shorten your name to 80 characters."),
    },
)
ADDRESS = Input(
    "email",
    lazy_gettext("Your e-mail address"),
    hint=lazy_gettext("You will sign in with this address."),
    type="email",
    autocomplete="username",
    inputmode="email",
    messages={
        "required": lazy_gettext("Enter your e-mail address."),
        "invalid_email": lazy_gettext("Enter an address like name@example.com."),
    },
)
PASSWORD = Input(
    "password",
    lazy_gettext("Choose a password, or enter the one you have"),
    hint=lazy_gettext(
        "If this address already has an account, enter its password. A new password needs at least 8 characters."
    ),
    type="password",
    autocomplete="current-password",
    messages={
        "required": lazy_gettext("Enter a password."),
        "too_short": lazy_gettext("Enter a password of at least 8 characters."),
        "too_long": lazy_gettext("Enter a password of at most 128 characters."),
        "too_common": lazy_gettext("Choose another password. This one is easy to guess."),
    },
    error_codes=("CURRENT_PASSWORD_WRONG", "RATE_LIMITED"),
)
MESSAGE = Input(
    "message",
    lazy_gettext("A message to the organiser"),
    hint=lazy_gettext("For example, when you want to set up your stall."),
    type="textarea",
    messages={"too_long": lazy_gettext("Shorten the message to 1 000 characters.")},
)
NEXT_PATH = Input("path", lazy_gettext("Next page"), type="hidden")


@blueprint.get("/<token>")
@handle_unusable_link(PURPOSE)
def start(token: str) -> Response:
    """Show the form that activates the account."""
    activation = link_queries.get_activation(token)
    return _render(
        token,
        activation,
        FORMS[_get_form_kind(activation)].fill(name=activation["name"] or "", path=request.args.get("path", "")),
    )


@blueprint.post("/<token>")
@handle_unusable_link(PURPOSE)
def activate(token: str) -> ResponseReturnValue:
    """Create the account, or link the existing one."""
    form = FORMS.get(request.form.get("form_kind", ""), FORMS["named"]).from_request()
    try:
        rate_limits.count_request(CODE_ATTEMPT_LIMIT, ACTIVATE_ROUTE)
        activated_account = actions.activate_account(
            token=token, origin=get_session_origin("console"), **{"message": "", **form.load()}
        )
    except (*FORM_ERRORS, AccountSuspended) as error:
        activation = link_queries.get_activation(token)
        return _render(token, activation, replace(form, form=FORMS[_get_form_kind(activation)]).with_error(error))
    except LinkUsed:
        return redirect(url_for("activate.start", token=token), 303)
    if isinstance(activated_account.login_result, SecondFactorRequired):
        return second_step.begin(activated_account.login_result, next_path=activated_account.path)
    signed_in.start_session(activated_account.login_result, remember=False)
    session[DONE_KEY] = {
        "email": activated_account.email,
        "event": activated_account.event,
        "organiser_id": activated_account.organiser_id,
        "path": activated_account.path,
    }
    return redirect(url_for("activate.done"), 303)


@blueprint.get("/done")
def done() -> ResponseReturnValue:
    """Confirm the activation and show the sign-in address."""
    account = session.get(DONE_KEY)
    return render_page("pages/activate_done.html", account=account) if account else redirect("/", 303)


FORMS = {
    "named": Form(ActivationSchema, NAME, PASSWORD, MESSAGE, NEXT_PATH),
    "addressed": Form(AddressedSchema, NAME, ADDRESS, PASSWORD, MESSAGE, NEXT_PATH),
}


def _get_form_kind(activation: link_queries.ActivationPage) -> str:
    """The key of the form in FORMS. The page sends it back in a hidden input."""
    return "named" if activation["email"] else "addressed"


def _render(token: str, activation: link_queries.ActivationPage, form: FilledForm) -> Response:
    return render_form(
        PAGE,
        form,
        activation=activation,
        token=token,
        form_kind=_get_form_kind(activation),
        contact=activation["contact_email"],
    )
