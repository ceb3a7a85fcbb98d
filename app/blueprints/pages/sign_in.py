"""Signing in and out in a browser.

The rules, limits and notices are those of the API: both call the same action. A wrong password and an unknown address
get the same page in the same time.
"""

from flask import Response, current_app, flash, redirect, request, session, url_for
from flask.typing import ResponseReturnValue

from app.accounts import actions
from app.accounts.errors import AccountSuspended, InvalidCredentials, SecondFactorRequired
from app.blueprints.pages import second_step, signed_in
from app.blueprints.pages.forms import FORM_ERRORS, FilledForm, Form, Input, render_form
from app.blueprints.pages.rendering import Pages, render_page
from app.core.errors import AppError
from app.core.languages import gettext, lazy_gettext
from app.web.cookies import list_device_marks
from app.web.fields import Boolean, Email, Secret
from app.web.rate_limits import get_client_network
from app.web.schema import Query
from app.web.session_origin import get_session_origin

PAGE, EMAIL_KEY = "pages/sign_in.html", "sign_in_email"
PROVIDERS = {"apple": "Apple", "google": "Google"}
blueprint = Pages("sign_in", __name__, translated=True)


class SignInSchema(Query):
    email = Email(required=True)
    password = Secret(required=True)
    remember = Boolean(load_default=False)


SIGN_IN = Form(
    SignInSchema,
    Input(
        "email",
        lazy_gettext("E-mail address"),
        type="email",
        autocomplete="username",
        inputmode="email",
        messages={
            "required": lazy_gettext("Enter your e-mail address."),
            "invalid_email": lazy_gettext("Enter an e-mail address like name@example.com."),
        },
    ),
    Input(
        "password",
        lazy_gettext("Password"),
        type="password",
        autocomplete="current-password",
        messages={
            "required": lazy_gettext("Enter your password."),
            "too_long": lazy_gettext("This password is too long."),
        },
    ),
    Input(
        "remember",
        lazy_gettext("Remember this device"),
        hint=lazy_gettext("Choose this only on a device that nobody else uses."),
    ),
)


@blueprint.get("/sign-in")
def start() -> ResponseReturnValue:
    """Show the form, or go on if somebody is signed in; with `again` they confirm by it that the account is theirs."""
    caller = signed_in.get_page_caller()
    if caller is not None and "again" not in request.args:
        return redirect(_get_next_path(), 303)
    if caller is not None:
        return _render(SIGN_IN.fill(email=caller.email))
    return _render(SIGN_IN.fill(email=session.get(EMAIL_KEY, "")))


@blueprint.post("/sign-in")
def sign_in() -> ResponseReturnValue:
    """Sign in, and go to the page that needed it."""
    form = SIGN_IN.from_request()
    try:
        values = form.load()
        remember = values.pop("remember")
        login_result = actions.log_in(
            network=get_client_network(),
            device_marks=list_device_marks(),
            origin=get_session_origin("console"),
            **values,
        )
    except SecondFactorRequired as error:
        return second_step.begin(error, next_path=signed_in.find_next_path(), remember=remember)
    except (*FORM_ERRORS, InvalidCredentials, AccountSuspended) as error:
        return _render(form.with_error(error))
    signed_in.start_session(login_result, remember=remember)
    return redirect(_get_next_path(), 303)


@blueprint.get("/sign-out")
def confirm_sign_out() -> ResponseReturnValue:
    """Ask whether to sign out, because a link can be opened by mistake."""
    if signed_in.get_page_caller() is None:
        return redirect(url_for("sign_in.start", next=signed_in.find_next_path()), 303)
    return render_page("pages/sign_out.html")


@blueprint.post("/sign-out")
def sign_out() -> ResponseReturnValue:
    """End the session. Without one the answer is the same. Somebody else can sign in and go on with the same page."""
    signed_in.end_session()
    flash(gettext("You are signed out."))
    return redirect(url_for("sign_in.start", next=signed_in.find_next_path()), 303)


def get_web_client_ids() -> dict[str, str]:
    """Return the client id of each provider that a browser can sign in with here. Both providers need https."""
    settings = current_app.extensions["settings"]
    if not settings.PUBLIC_BASE_URL.startswith("https"):
        return {}
    client_ids = {"apple": settings.APPLE_WEB_CLIENT_ID, "google": settings.GOOGLE_WEB_CLIENT_ID}
    return {provider: client_id for provider, client_id in client_ids.items() if client_id}


def render_error_of_provider(error: AppError, next_path: str | None) -> Response:
    """Return the sign-in page with the reason why a provider did not sign somebody in."""
    return _render(SIGN_IN.fill().with_error(error), next=next_path)


def _get_next_path() -> str:
    return signed_in.find_next_path() or signed_in.get_landing_path()


def _render(form: FilledForm, **context: object) -> Response:
    providers = {provider: PROVIDERS[provider] for provider in get_web_client_ids()}
    return render_form(PAGE, form, providers=providers, is_again="again" in request.args, **context)
