"""The pages that change the address of the own account: the new address, then the code from its mailbox."""

from flask import Response, flash, redirect, session, url_for
from flask.typing import ResponseReturnValue

from app.accounts import actions, authentication
from app.accounts.errors import EmailNotVerified
from app.blueprints.pages.account_profile import CURRENT_PASSWORD
from app.blueprints.pages.forms import FORM_ERRORS, FilledForm, Form, Input, render_form
from app.blueprints.pages.rendering import Pages
from app.blueprints.pages.signed_in import get_signed_in_caller
from app.web import rate_limits
from app.web.fields import Email, Secret
from app.web.rate_limits import CODE_ATTEMPT_LIMIT, EMAIL_REQUEST_LIMIT
from app.web.schema import Query
from app.web.text_fields import OneTimeCode

blueprint = Pages("account_address", __name__, url_prefix="/account/address", needs_sign_in=True)
ADDRESS_PAGE, CODE_PAGE = "pages/account_address.html", "pages/account_address_code.html"
ADDRESS_KEY = "new_address"


class AddressSchema(Query):
    new_email = Email(required=True)


class ConfirmedAddressSchema(AddressSchema):
    current_password = Secret(required=True, max=128)


class CodeSchema(Query):
    code = OneTimeCode(required=True)


NEW_ADDRESS = Input(
    "newEmail",
    "New e-mail address",
    hint="We send a code to it. Until you enter the code, nothing changes.",
    type="email",
    autocomplete="email",
    inputmode="email",
    messages={
        "required": "Enter the new e-mail address.",
        "invalid_email": "Enter an e-mail address like name@example.com.",
        "unchanged": "This is already the address of your account.",
    },
)
ADDRESS = Form(AddressSchema, NEW_ADDRESS)
CONFIRMED_ADDRESS = Form(ConfirmedAddressSchema, NEW_ADDRESS, CURRENT_PASSWORD)
CODE = Form(
    CodeSchema,
    Input(
        "code",
        "Code from the e-mail",
        hint="Six digits. Spaces do not matter.",
        type="code",
        autocomplete="one-time-code",
        inputmode="numeric",
        messages={"required": "Enter the code from the e-mail.", "wrong_length": "Enter all six digits of the code."},
        error_codes=("CODE_INVALID", "RATE_LIMITED"),
    ),
)


@blueprint.get("")
def show() -> Response:
    """Show the form for the new address."""
    return _render(_find_form().fill())


@blueprint.post("")
def request_change() -> ResponseReturnValue:
    """Mail a code to the new address. The response is the same for an address that has an account."""
    form, caller = _find_form().from_request(), get_signed_in_caller()
    try:
        rate_limits.count_request(EMAIL_REQUEST_LIMIT, "/api/auth/change-email", account_id=caller.id)
        values = form.load()
        actions.request_address_change(
            caller=caller, new_email=values["new_email"], password=values.get("current_password")
        )
    except (*FORM_ERRORS, EmailNotVerified) as error:
        return _render(form.with_error(error))
    session[ADDRESS_KEY] = values["new_email"]
    return redirect(url_for("account_address.show_code"), 303)


@blueprint.get("/code")
def show_code() -> ResponseReturnValue:
    """Show the form for the code."""
    if ADDRESS_KEY not in session:
        return redirect(url_for("account_address.show"), 303)
    return render_form(CODE_PAGE, CODE.fill(), new_email=session[ADDRESS_KEY])


@blueprint.post("/code")
def confirm_change() -> ResponseReturnValue:
    """Change the address if the code is right."""
    form, caller = CODE.from_request(), get_signed_in_caller()
    try:
        rate_limits.count_request(CODE_ATTEMPT_LIMIT, "/api/auth/change-email/confirm", account_id=caller.id)
        actions.confirm_address_change(caller=caller, **form.load())
    except FORM_ERRORS as error:
        return render_form(CODE_PAGE, form.with_error(error), new_email=session.get(ADDRESS_KEY, ""))
    session.pop(ADDRESS_KEY, None)
    flash("Your e-mail address is changed. All other devices are signed out.")
    return redirect(url_for("account.show"), 303)


def _find_form() -> Form:
    return CONFIRMED_ADDRESS if authentication.has_password(get_signed_in_caller()) else ADDRESS


def _render(form: FilledForm) -> Response:
    caller = get_signed_in_caller()
    methods = authentication.list_confirmation_methods(caller) if form.form is ADDRESS else []
    return render_form(ADDRESS_PAGE, form, email=caller.email, is_sign_in_too_old=bool(methods))
