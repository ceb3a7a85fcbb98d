"""A new password for one that was forgotten: the address, then code and password or the link in the mail, done."""

from flask import Response, redirect, url_for
from flask.typing import ResponseReturnValue

from app.accounts import actions, queries
from app.accounts.errors import CodeInvalid, ResetTokenInvalid
from app.blueprints.console import reset_session as visit
from app.blueprints.console.forms import REFUSALS, Form, Input, form_page
from app.blueprints.console.rendering import Pages, page
from app.core.errors import LinkExpired
from app.web import rate_limits
from app.web.fields import Email
from app.web.schema import Query
from app.web.text_fields import NewPassword, OneTimeCode

blueprint = Pages("reset", __name__, url_prefix="/reset-password")

# The page counts with the operation it stands for: who has used up one has used up the other.
ASKING, TRYING = "/api/auth/password-reset/request", "/api/auth/password-reset/verify"
ADDRESS_PAGE, CODE_PAGE = "console/reset_address.html", "console/reset_code.html"
LINK_PAGE = "console/reset_link.html"


class AddressSchema(Query):
    email = Email(required=True)


class PasswordSchema(Query):
    password = NewPassword(required=True)


class NewPasswordSchema(PasswordSchema):
    code = OneTimeCode(required=True)


ADDRESS = Form(
    AddressSchema,
    Input(
        "email",
        "Your e-mail address",
        hint="The one you sign in with.",
        type="email",
        autocomplete="username",
        inputmode="email",
        says={
            "required": "Enter your e-mail address.",
            "invalid_email": "Enter an e-mail address like name@example.com.",
        },
        about=("RATE_LIMITED",),
    ),
)
PASSWORD = Input(
    "password",
    "New password",
    hint="At least 8 characters. A short sentence is easy to remember and hard to guess.",
    type="password",
    autocomplete="new-password",
    says={
        "required": "Choose a new password.",
        "too_short": "Choose a password of at least 8 characters.",
        "too_long": "Choose a password of at most 128 characters.",
        "too_common": "Choose another password. This one is among the first that somebody would guess.",
    },
)
NEW_PASSWORD = Form(
    NewPasswordSchema,
    Input(
        "code",
        "Code from the mail",
        hint="Six digits. Spaces do not matter.",
        type="code",
        autocomplete="one-time-code",
        inputmode="numeric",
        says={"required": "Enter the code from the mail.", "wrong_length": "Enter all six digits of the code."},
        about=("CODE_INVALID",),
    ),
    PASSWORD,
)
PASSWORD_ONLY = Form(PasswordSchema, PASSWORD)


@blueprint.get("")
def start() -> Response:
    """Asks for the address."""
    return form_page(ADDRESS_PAGE, ADDRESS.blank(), code_sent=visit.address() is not None)


@blueprint.post("")
def ask() -> ResponseReturnValue:
    """Mails a code; an address without an account gets the same answer."""
    form = ADDRESS.typed()
    try:
        rate_limits.count_request(rate_limits.EMAIL_REQUEST_LIMIT, ASKING)
        body = form.checked()
        visit.about(body["email"])
        actions.request_reset(**body)
    except REFUSALS as error:
        return form_page(ADDRESS_PAGE, form.refused(error), code_sent=visit.address() is not None)
    visit.code_sent(body["email"])
    return redirect(url_for("reset.code"), 303)


@blueprint.get("/code")
def code() -> Response:
    """Asks for the code and the new password."""
    address = visit.address()
    if address is None:
        return form_page(ADDRESS_PAGE, ADDRESS.blank(), late=True)
    return form_page(CODE_PAGE, NEW_PASSWORD.blank(), address=address, spent=visit.spent())


@blueprint.post("/code")
def choose() -> ResponseReturnValue:
    """Sets the password when the code is right."""
    form, address = NEW_PASSWORD.typed(), visit.address()
    if address is None:
        return form_page(ADDRESS_PAGE, ADDRESS.blank(), late=True)
    try:
        rate_limits.count_request(rate_limits.CODE_ATTEMPT_LIMIT, TRYING)
        _set_password(address, **form.checked())
    except REFUSALS as error:
        return form_page(CODE_PAGE, form.refused(error), address=address, spent=visit.spent())
    visit.finish()
    return redirect(url_for("reset.done"), 303)


@blueprint.get("/link/<token>")
def link(token: str) -> Response:
    """Asks for the new password; opening the link uses nothing up."""
    try:
        email = queries.get_reset_link_email(token)
    except ResetTokenInvalid:
        return _dead_link()
    return form_page(LINK_PAGE, PASSWORD_ONLY.blank(), token=token, address=email)


@blueprint.post("/link/<token>")
def choose_by_link(token: str) -> ResponseReturnValue:
    """Sets the password, once. No count of wrong codes stands in the way."""
    form = PASSWORD_ONLY.typed()
    try:
        email = queries.get_reset_link_email(token)
        actions.complete_reset(email=email, reset_token=token, **form.checked())
    except ResetTokenInvalid:
        return _dead_link()
    except REFUSALS as error:
        return form_page(LINK_PAGE, form.refused(error), token=token, address=email)
    visit.finish()
    return redirect(url_for("reset.done"), 303)


@blueprint.get("/done")
def done() -> ResponseReturnValue:
    """Says that it is done, and what has changed."""
    return page("console/reset_done.html") if visit.finished() else redirect(url_for("reset.start"), 303)


def _dead_link() -> Response:
    rate_limits.count_lookup_failure()
    response = form_page(ADDRESS_PAGE, ADDRESS.blank(), dead_link=True)
    response.status_code = LinkExpired.status
    return response


def _set_password(email: str, *, code: str, password: str) -> None:
    """Looks at the password first: the code is used up by the first right try."""
    actions.check_new_password(email=email, password=password)
    try:
        reset_token = actions.verify_reset(email=email, code=code)
    except CodeInvalid as error:
        raise visit.wrong_code() from error
    actions.complete_reset(email=email, reset_token=str(reset_token), password=password)
