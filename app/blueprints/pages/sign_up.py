"""Opening an account in a browser, and confirming its e-mail address with a mailed code.

The answers do not say whether an address has an account; the mail does. A signed-in person who enters their own address
and password adds the role to their account.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypedDict

from flask import Response, flash, redirect, session, url_for
from flask.typing import ResponseReturnValue

from app.accounts import actions, authentication
from app.accounts.errors import CodeInvalid
from app.blueprints.pages import page_language, sign_in, signed_in, wrong_codes
from app.blueprints.pages.forms import FORM_ERRORS, FilledForm, Form, Input, render_form
from app.blueprints.pages.inputs import EMAIL_CODE, CodeSchema
from app.blueprints.pages.rendering import Pages, render_page
from app.core.errors import NotFound
from app.core.ids import new_id
from app.core.languages import gettext, lazy_gettext, mark_for_translation
from app.core.tokens import decrypt_token, encrypt_token
from app.web import rate_limits
from app.web.fields import Email, Phone
from app.web.schema import Query
from app.web.session_origin import get_session_origin
from app.web.text_fields import Name, NewPassword

FORM_PAGE, CODE_PAGE, ADDRESS_PAGE = "pages/sign_up_form.html", "pages/verify.html", "pages/verify_address.html"
# The pages and the API operations share their rate limits.
REGISTER_ROUTE, RESEND_ROUTE, VERIFY_ROUTE = (
    "/api/auth/register/{kind}",
    "/api/auth/resend-verification",
    "/api/auth/verify-email",
)
ADDRESS_KEY, ADDRESS_SECONDS, WRONG_CODES_KEY, PURPOSE = "verify", 3600, "verify_wrong", "sign-up"
WRONG_CODE_MESSAGE = mark_for_translation(
    "This code is wrong. Enter the six digits from the newest e-mail. Older codes no longer work."
)
blueprint = Pages("sign_up", __name__, translated=True)


class AddressSchema(Query):
    email = Email(required=True)


class AccountSchema(AddressSchema):
    password = NewPassword(required=True)
    phone = Phone(min=4, max=32)


class CustomerSchema(AccountSchema):
    first_name = Name(required=True, min=1, max=80)
    last_name = Name(required=True, min=1, max=80)


class MerchantSchema(AccountSchema):
    name = Name(required=True, min=2, max=120)
    business_name = Name(required=True, min=2, max=200)
    stall_name = Name(max=100)


class OrganiserSchema(AccountSchema):
    name = Name(required=True, min=2, max=120)
    org_name = Name(required=True, min=2, max=200)


class Entered(TypedDict, total=False):
    """What the session keeps under ADDRESS_KEY; `at` is the time in epoch seconds. `registered` is the encrypted id of the
    account that the visitor has registered, or another id if the address had one: nobody sees the difference."""

    email: str
    at: int
    next: str | None
    registered: str


EMAIL = Input(
    "email",
    lazy_gettext("Your e-mail address"),
    hint=lazy_gettext("You will sign in with this address. We send a code to it."),
    type="email",
    autocomplete="username",
    inputmode="email",
    messages={
        "required": lazy_gettext("Enter your e-mail address."),
        "invalid_email": lazy_gettext("Enter an e-mail address like name@example.com."),
    },
    error_codes=("RATE_LIMITED",),
)
PHONE = Input(
    "phone",
    lazy_gettext("Phone number"),
    type="tel",
    autocomplete="tel",
    inputmode="tel",
    messages={"invalid_phone": lazy_gettext("Enter a phone number like 081 123 4567 or +264 81 123 4567.")},
)
PASSWORD = Input(
    "password",
    lazy_gettext("Choose a password"),
    hint=lazy_gettext("At least 8 characters. A short sentence is easy to remember and hard to guess."),
    type="password",
    autocomplete="new-password",
    messages={
        "required": lazy_gettext("Choose a password."),
        "too_short": lazy_gettext("Choose a password of at least 8 characters."),
        "too_long": lazy_gettext("Choose a password of at most 128 characters."),
        "too_common": lazy_gettext("Choose another password. This one is easy to guess."),
        "CURRENT_PASSWORD_WRONG": lazy_gettext(
            "You are signed in with this address. Enter the password of your account."
        ),
    },
    error_codes=("CURRENT_PASSWORD_WRONG",),
)
NAME = Input(
    "name",
    lazy_gettext("Your name"),
    autocomplete="name",
    messages={"required": lazy_gettext("Enter your name."), "too_short": lazy_gettext("Enter your full name.")},
)
CODE = Form(CodeSchema, EMAIL_CODE)
ADDRESS = Form(AddressSchema, EMAIL)


@dataclass(frozen=True)
class AccountKind:
    """A kind of account: the heading and purpose of its page, its form, and the action that opens it."""

    heading: str
    lead: str
    form: Form
    register: Callable[..., str | None]


KINDS = {
    "organiser": AccountKind(
        lazy_gettext("Sign up as an organiser"),
        lazy_gettext(
            "For people who run events: guests, stalls, gate, stock and messages. Tickets are sold in a shop of your choice."
        ),
        Form(
            OrganiserSchema,
            NAME,
            Input(
                "orgName",
                lazy_gettext("Name of your organisation"),
                hint=lazy_gettext("Guests and merchants see it."),
                autocomplete="organization",
                messages={"required": lazy_gettext("Enter the name of your organisation.")},
            ),
            EMAIL,
            PHONE,
            PASSWORD,
        ),
        actions.register_organiser,
    ),
    "merchant": AccountKind(
        lazy_gettext("Sign up as a merchant"),
        lazy_gettext("For people who sell at a stall: invitations, crew and payouts."),
        Form(
            MerchantSchema,
            NAME,
            Input(
                "businessName",
                lazy_gettext("Name of your business"),
                hint=lazy_gettext("Organisers see it when they look for merchants."),
                autocomplete="organization",
                messages={"required": lazy_gettext("Enter the name of your business.")},
            ),
            Input(
                "stallName",
                lazy_gettext("Name on your stall"),
                hint=lazy_gettext("If it is not the name of the business."),
            ),
            EMAIL,
            PHONE,
            PASSWORD,
        ),
        actions.register_merchant,
    ),
    "customer": AccountKind(
        lazy_gettext("Sign up as a guest"),
        lazy_gettext("For people who visit events. You can claim and show tickets without an account too."),
        Form(
            CustomerSchema,
            Input(
                "firstName",
                lazy_gettext("First name"),
                autocomplete="given-name",
                messages={"required": lazy_gettext("Enter your first name.")},
            ),
            Input(
                "lastName",
                lazy_gettext("Last name"),
                autocomplete="family-name",
                messages={"required": lazy_gettext("Enter your last name.")},
            ),
            EMAIL,
            PHONE,
            PASSWORD,
        ),
        actions.register_customer,
    ),
}


ADDED_ROLES = {
    "merchant": lazy_gettext("You can now use your account as a merchant."),
    "organiser": lazy_gettext("You can now use your account as an organiser."),
    "customer": lazy_gettext("You can now use your account as a guest."),
}


@blueprint.get("/sign-up")
def choose() -> Response:
    """Show the kinds of accounts."""
    signed_in.get_page_caller()
    return render_page("pages/sign_up.html", kinds=KINDS)


@blueprint.get("/sign-up/<kind>")
def start(kind: str) -> Response:
    """Show the form of one kind."""
    caller = signed_in.get_page_caller()
    account_kind = _get_kind(kind)
    values = {"email": caller.email, "name": caller.name} if caller else {"email": session.get(sign_in.EMAIL_KEY, "")}
    return _render(kind, account_kind.form.fill(**values))


@blueprint.post("/sign-up/<kind>")
def register(kind: str) -> ResponseReturnValue:
    """Open the account, or add the role to the account of the signed-in person."""
    caller = signed_in.get_page_caller()
    account_kind = _get_kind(kind)
    form = account_kind.form.from_request()
    try:
        rate_limits.count_request(rate_limits.EMAIL_REQUEST_LIMIT, REGISTER_ROUTE.format(kind=kind))
        values = form.load()
        account_id = account_kind.register(caller=caller, language=page_language.find_visitor_language(), **values)
    except FORM_ERRORS as error:
        return _render(kind, form.with_error(error))
    if caller is not None and caller.email == values["email"]:
        flash(str(ADDED_ROLES[kind]))
        return redirect(_get_next_path(), 303)
    _remember_address(values["email"], encrypt_token(PURPOSE, (account_id or new_id()).encode()))
    return redirect(url_for("sign_up.show_code_form"), 303)


@blueprint.get("/verify")
def show_code_form() -> ResponseReturnValue:
    """Show the form for the code, or for the address if it is not known."""
    caller = signed_in.get_page_caller()
    if caller is not None and caller.email_verified:
        return redirect(_get_next_path(), 303)
    email = _find_address()
    return _render_code(CODE.fill(), email) if email else render_form(ADDRESS_PAGE, ADDRESS.fill())


@blueprint.post("/verify")
def verify() -> ResponseReturnValue:
    """Confirm the address if the code is right, and sign in who has registered it in this browser."""
    form, email = CODE.from_request(), _find_address()
    if email is None:
        return render_form(ADDRESS_PAGE, ADDRESS.fill())
    try:
        rate_limits.count_request(rate_limits.CODE_ATTEMPT_LIMIT, VERIFY_ROUTE)
        login_result = actions.verify_email(
            email=email,
            registered_id=_find_registered_account(email),
            origin=get_session_origin("console"),
            **form.load(),
        )
    except CodeInvalid:
        wrong_codes.count_wrong_code(WRONG_CODES_KEY)
        return _render_code(form.with_error(CodeInvalid(WRONG_CODE_MESSAGE)), email)
    except FORM_ERRORS as error:
        return _render_code(form.with_error(error), email)
    next_path = _find_next_path()
    session.pop(ADDRESS_KEY, None)
    wrong_codes.start_attempts(WRONG_CODES_KEY)
    if login_result is not None:
        signed_in.start_session(login_result, remember=False)
    if signed_in.get_page_caller() is not None:
        flash(gettext("Your e-mail address is confirmed."))
        return redirect(next_path or signed_in.get_landing_path(), 303)
    session[sign_in.EMAIL_KEY] = email
    flash(gettext("Your e-mail address is confirmed. You can sign in now."))
    return redirect(url_for("sign_in.start", next=next_path), 303)


@blueprint.post("/verify/send")
def send_code() -> ResponseReturnValue:
    """Mail a new code. The response is the same for an address without an account."""
    form = ADDRESS.from_request()
    try:
        rate_limits.count_request(rate_limits.EMAIL_REQUEST_LIMIT, RESEND_ROUTE)
        values = form.load()
        entered = _read_entered()
        is_same = entered.get("email") == values["email"]
        _remember_address(values["email"], entered.get("registered", "") if is_same else "")
        actions.resend_verification(**values)
    except FORM_ERRORS as error:
        email = _find_address()
        if email is not None and email == form.values["email"].strip().lower():
            return _render_code(CODE.fill().with_error(error), email)
        return render_form(ADDRESS_PAGE, form.with_error(error))
    wrong_codes.start_attempts(WRONG_CODES_KEY)
    return redirect(url_for("sign_up.show_code_form"), 303)


def _get_kind(kind: str) -> AccountKind:
    if kind not in KINDS:
        raise NotFound()
    return KINDS[kind]


def _render(kind: str, form: FilledForm) -> Response:
    caller = signed_in.get_page_caller()
    has_password = caller is None or authentication.has_password(caller)
    return render_form(FORM_PAGE, form, kind=kind, account_kind=KINDS[kind], has_password=has_password)


def _render_code(form: FilledForm, email: str) -> Response:
    used_up = wrong_codes.has_no_attempts_left(WRONG_CODES_KEY)
    return render_form(CODE_PAGE, form, email=email, next=_find_next_path(), attempts_used_up=used_up)


def _remember_address(email: str, registered: str) -> None:
    """Keep the address, and where to go afterwards, because the link in the mail with the code names neither."""
    entered: Entered = {"email": email, "at": int(time.time()), "next": _find_next_path(), "registered": registered}
    session[ADDRESS_KEY] = entered


def _get_next_path() -> str:
    return _find_next_path() or signed_in.get_landing_path()


def _find_next_path() -> str | None:
    return signed_in.find_next_path() or _read_entered().get("next")


def _read_entered() -> Entered:
    entered: Entered = session.get(ADDRESS_KEY, {})
    return entered if entered.get("at", 0) > time.time() - ADDRESS_SECONDS else {}


def _find_registered_account(email: str) -> str | None:
    """The id of the account that the visitor has registered with this address within the last hour; None if signed in."""
    entered = _read_entered()
    if entered.get("email") != email or signed_in.get_page_caller() is not None:
        return None
    account_id = decrypt_token(PURPOSE, entered.get("registered", ""))
    return account_id.decode() if account_id else None


def _find_address() -> str | None:
    """The address that the visitor entered within the last hour, or that of the signed-in person."""
    entered = _read_entered()
    if "email" in entered:
        return entered["email"]
    caller = signed_in.get_page_caller()
    return caller.email if caller is not None else None
