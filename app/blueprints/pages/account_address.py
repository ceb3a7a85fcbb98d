"""The pages that change the address of the own account: the new address, then the code from its mailbox."""

from flask import Response, redirect, session, url_for
from flask.typing import ResponseReturnValue

from app.accounts import actions
from app.accounts.errors import CodeInvalid
from app.blueprints.pages import wrong_codes
from app.blueprints.pages.forms import FORM_ERRORS, FilledForm, Form, Input, render_form, submit
from app.blueprints.pages.inputs import EMAIL_CODE, CodeSchema
from app.blueprints.pages.owner_confirmation import PASSWORD, ConfirmedSchema, for_owner
from app.blueprints.pages.rendering import Pages
from app.blueprints.pages.signed_in import get_signed_in_caller
from app.core.languages import gettext, lazy_gettext
from app.web import rate_limits
from app.web.fields import Email
from app.web.rate_limits import CODE_ATTEMPT_LIMIT, EMAIL_REQUEST_LIMIT

blueprint = Pages("account_address", __name__, url_prefix="/account/address", needs_sign_in=True, translated=True)
ADDRESS_PAGE, CODE_PAGE = "pages/account_address.html", "pages/account_address_code.html"
ADDRESS_KEY, WRONG_CODES_KEY = "new_address", "new_address_wrong"


class AddressSchema(ConfirmedSchema):
    new_email = Email(required=True)


ADDRESS = Form(
    AddressSchema,
    Input(
        "newEmail",
        lazy_gettext("New e-mail address"),
        hint=lazy_gettext("We send a code to it. Until you enter the code, nothing changes."),
        type="email",
        autocomplete="email",
        inputmode="email",
        messages={
            "required": lazy_gettext("Enter the new e-mail address."),
            "invalid_email": lazy_gettext("Enter an e-mail address like name@example.com."),
            "unchanged": lazy_gettext("This is already the address of your account."),
        },
    ),
    PASSWORD,
)
CODE = Form(CodeSchema, EMAIL_CODE)


@blueprint.get("")
def show() -> Response:
    """Show the form for the new address."""
    return _render(for_owner(ADDRESS).fill())


@blueprint.post("")
def request_change() -> ResponseReturnValue:
    """Mail a code to the new address. The response is the same for an address that has an account."""
    form, caller = for_owner(ADDRESS).from_request(), get_signed_in_caller()
    try:
        rate_limits.count_request(EMAIL_REQUEST_LIMIT, "/api/auth/change-email", account_id=caller.id)
        values = form.load()
        actions.request_address_change(caller=caller, **values)
    except FORM_ERRORS as error:
        return _render(form.with_error(error))
    session[ADDRESS_KEY] = values["new_email"]
    wrong_codes.start_attempts(WRONG_CODES_KEY)
    return redirect(url_for("account_address.show_code"), 303)


@blueprint.get("/code")
def show_code() -> ResponseReturnValue:
    """Show the form for the code."""
    return _render_code(CODE.fill()) if ADDRESS_KEY in session else redirect(url_for("account_address.show"), 303)


@blueprint.post("/code")
def confirm_change() -> ResponseReturnValue:
    """Change the address if the code is right."""

    def confirm(code: str) -> None:
        try:
            actions.confirm_address_change(caller=get_signed_in_caller(), code=code)
        except CodeInvalid:
            wrong_codes.count_wrong_code(WRONG_CODES_KEY)
            raise
        session.pop(ADDRESS_KEY, None)

    return submit(
        CODE.from_request(),
        confirm,
        _render_code,
        done=gettext("Your e-mail address is changed. All other devices are signed out."),
        path=url_for("account.show"),
        limit=(CODE_ATTEMPT_LIMIT, "/api/auth/change-email/confirm"),
    )


def _render(form: FilledForm) -> Response:
    return render_form(ADDRESS_PAGE, form, email=get_signed_in_caller().email)


def _render_code(form: FilledForm) -> Response:
    used_up = wrong_codes.has_no_attempts_left(WRONG_CODES_KEY)
    return render_form(CODE_PAGE, form, new_email=session.get(ADDRESS_KEY, ""), attempts_used_up=used_up)
