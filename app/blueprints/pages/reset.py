"""Resetting a forgotten password with the code or the link of an email.

The session keeps the email, the number of wrong codes, where to go afterwards, and after the reset what works without
the password. It expires after 15 minutes, so that a shared computer does not show the email for long.
"""

import time
from typing import TypedDict

from flask import Response, redirect, session, url_for
from flask.typing import ResponseReturnValue

from app.accounts import actions, queries
from app.accounts.errors import CodeInvalid, ResetTokenInvalid
from app.accounts.queries import WorkingAccess
from app.blueprints.pages.forms import FORM_ERRORS, Form, Input, render_form
from app.blueprints.pages.inputs import EMAIL_CODE, NEW_PASSWORD, CodeSchema
from app.blueprints.pages.rendering import Pages, render_page
from app.blueprints.pages.signed_in import find_next_path
from app.core.errors import LinkExpired
from app.core.languages import lazy_gettext
from app.web import rate_limits
from app.web.fields import Email
from app.web.schema import Query
from app.web.text_fields import NewPassword

blueprint = Pages("reset", __name__, url_prefix="/reset-password", translated=True)
# The pages and the API operations share their rate limits.
REQUEST_ROUTE, VERIFY_ROUTE = "/api/auth/password-reset/request", "/api/auth/password-reset/verify"
ADDRESS_PAGE, CODE_PAGE = "pages/reset_address.html", "pages/reset_code.html"
LINK_PAGE = "pages/reset_link.html"


class AddressSchema(Query):
    email = Email(required=True)


class PasswordSchema(Query):
    password = NewPassword(required=True)


class NewPasswordSchema(PasswordSchema, CodeSchema):
    """The code from the e-mail, and the new password."""


ADDRESS = Form(
    AddressSchema,
    Input(
        "email",
        lazy_gettext("Your e-mail address"),
        hint=lazy_gettext("The address you sign in with."),
        type="email",
        autocomplete="username",
        inputmode="email",
        messages={
            "required": lazy_gettext("Enter your e-mail address."),
            "invalid_email": lazy_gettext("Enter an e-mail address like name@example.com."),
        },
        error_codes=("RATE_LIMITED",),
    ),
)
NEW_PASSWORD_BY_CODE = Form(NewPasswordSchema, EMAIL_CODE, NEW_PASSWORD)
PASSWORD_ONLY = Form(PasswordSchema, NEW_PASSWORD)


@blueprint.get("")
def start() -> Response:
    """Show the form for the email."""
    return render_form(ADDRESS_PAGE, ADDRESS.fill(), code_sent=get_email() is not None)


@blueprint.post("")
def request_code() -> ResponseReturnValue:
    """Email a code. The response is the same for an email without an account."""
    form = ADDRESS.from_request()
    try:
        rate_limits.count_request(rate_limits.EMAIL_REQUEST_LIMIT, REQUEST_ROUTE)
        values = form.load()
        remember_email(values["email"])
        actions.request_reset(**values)
    except FORM_ERRORS as error:
        return render_form(ADDRESS_PAGE, form.with_error(error), code_sent=get_email() is not None)
    start_attempts(values["email"])
    return redirect(url_for("reset.code"), 303)


@blueprint.get("/code")
def code() -> Response:
    """Show the form for the code and the new password."""
    email = get_email()
    if email is None:
        return render_form(ADDRESS_PAGE, ADDRESS.fill(), code_expired=True)
    return render_form(CODE_PAGE, NEW_PASSWORD_BY_CODE.fill(), email=email, attempts_used_up=has_no_attempts_left())


@blueprint.post("/code")
def set_password() -> ResponseReturnValue:
    """Set the password if the code is right."""
    form, email = NEW_PASSWORD_BY_CODE.from_request(), get_email()
    if email is None:
        return render_form(ADDRESS_PAGE, ADDRESS.fill(), code_expired=True)
    try:
        rate_limits.count_request(rate_limits.CODE_ATTEMPT_LIMIT, VERIFY_ROUTE)
        access = _set_password(email, **form.load())
    except FORM_ERRORS as error:
        return render_form(CODE_PAGE, form.with_error(error), email=email, attempts_used_up=has_no_attempts_left())
    finish(access)
    return redirect(url_for("reset.done"), 303)


@blueprint.get("/link/<token>")
def link(token: str) -> Response:
    """Show the form for the new password. Opening the link does not use it up."""
    try:
        email = queries.get_reset_link_email(token)
    except ResetTokenInvalid:
        return _render_expired_link()
    return render_form(LINK_PAGE, PASSWORD_ONLY.fill(), token=token, email=email)


@blueprint.post("/link/<token>")
def set_password_by_link(token: str) -> ResponseReturnValue:
    """Set the password. The link works once, even after too many wrong codes."""
    form = PASSWORD_ONLY.from_request()
    try:
        email = queries.get_reset_link_email(token)
        access = actions.complete_reset(email=email, reset_token=token, **form.load())
    except ResetTokenInvalid:
        return _render_expired_link()
    except FORM_ERRORS as error:
        return render_form(LINK_PAGE, form.with_error(error), token=token, email=email)
    finish(access)
    return redirect(url_for("reset.done"), 303)


@blueprint.get("/done")
def done() -> ResponseReturnValue:
    """Confirm the new password."""
    access = get_working_access()
    if access is None:
        return redirect(url_for("reset.start"), 303)
    return render_page("pages/reset_done.html", access=access, next=_read_session().get("next"))


def _render_expired_link() -> Response:
    rate_limits.count_lookup_failure()
    response = render_form(ADDRESS_PAGE, ADDRESS.fill(), link_expired=True)
    response.status_code = LinkExpired.status
    return response


def _set_password(email: str, *, code: str, password: str) -> WorkingAccess:
    """Set the password, and return what works without it.

    The password is checked before the code, because the code works only once.
    """
    actions.check_new_password(email=email, password=password)
    try:
        reset_token = actions.verify_reset(email=email, code=code)
    except CodeInvalid as error:
        raise count_wrong_code() from error
    return actions.complete_reset(email=email, reset_token=str(reset_token), password=password)


KEY = "reset"
MAX_AGE_SECONDS = 15 * 60
MAX_WRONG_CODES = 5
WRONG_CODE_MESSAGE = lazy_gettext(
    "This code is wrong. Enter the six digits from the newest e-mail. Older codes no longer work."
)


class ResetSession(TypedDict, total=False):
    """The values under KEY; `at` is the start in epoch seconds, `wrong` the number of wrong codes. After
    the reset, only `access` stays: the values of a `WorkingAccess`.
    """

    email: str
    at: int
    wrong: int
    access: list[bool]
    next: str | None


def get_email() -> str | None:
    """The email that the visitor entered."""
    return _read_session().get("email")


def has_no_attempts_left() -> bool:
    """Whether the visitor entered MAX_WRONG_CODES wrong codes."""
    return _read_session().get("wrong", 0) >= MAX_WRONG_CODES


def get_working_access() -> WorkingAccess | None:
    """What works without the new password; None until the visitor has set it."""
    access = _read_session().get("access")
    return None if access is None else WorkingAccess(*access)


def remember_email(email: str) -> None:
    """Store the email. The same email keeps its number of wrong codes."""
    if get_email() != email:
        start_attempts(email)


def start_attempts(email: str) -> None:
    """Restart the time and the number of wrong codes, because a new code was sent."""
    next_path = find_next_path() or _read_session().get("next")
    session[KEY] = {"email": email, "at": int(time.time()), "wrong": 0, "next": next_path}


def count_wrong_code() -> CodeInvalid:
    """Count a wrong code and return the error for the form."""
    reset_session = _read_session()
    session[KEY] = {**reset_session, "wrong": reset_session.get("wrong", 0) + 1}
    return CodeInvalid(str(WRONG_CODE_MESSAGE))


def finish(access: WorkingAccess) -> None:
    """Remove the email, and keep what the last page shows, and where to go afterwards."""
    session[KEY] = {"access": list(access), "at": int(time.time()), "next": _read_session().get("next")}


def _read_session() -> ResetSession:
    reset_session: ResetSession = session.get(KEY, {})
    return reset_session if reset_session.get("at", 0) > time.time() - MAX_AGE_SECONDS else {}
