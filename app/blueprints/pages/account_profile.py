"""The pages for the details and the password of the own account."""

from flask import Response, flash, redirect, url_for
from flask.typing import ResponseReturnValue

from app.accounts import actions, authentication
from app.accounts.errors import ConfirmationRequired
from app.blueprints.pages.forms import FORM_ERRORS, FilledForm, Form, Input, render_form
from app.blueprints.pages.rendering import Pages
from app.blueprints.pages.reset import PASSWORD as NEW_PASSWORD
from app.blueprints.pages.signed_in import get_signed_in_caller
from app.core.languages import LANGUAGES
from app.web import rate_limits
from app.web.fields import Choice, Phone, Secret
from app.web.rate_limits import CODE_ATTEMPT_LIMIT
from app.web.schema import Query
from app.web.text_fields import Name, NewPassword

blueprint = Pages("account_profile", __name__, url_prefix="/account", needs_sign_in=True)
DETAILS_PAGE, PASSWORD_PAGE = "pages/account_details.html", "pages/account_password.html"
LANGUAGE_OPTIONS = [("", "That of the browser", ""), *((code, name, "") for code, name in LANGUAGES.items())]


class DetailsSchema(Query):
    name = Name(required=True, min=2, max=120)
    phone = Phone()
    language = Choice(*LANGUAGES)


class FirstPasswordSchema(Query):
    password = NewPassword(required=True)


class PasswordSchema(FirstPasswordSchema):
    current_password = Secret(required=True, max=128)


CURRENT_PASSWORD = Input(
    "currentPassword",
    "Current password",
    type="password",
    autocomplete="current-password",
    messages={
        "required": "Enter your current password.",
        "too_long": "This password is too long.",
        "CURRENT_PASSWORD_WRONG": "This is not your current password.",
    },
    error_codes=("CURRENT_PASSWORD_WRONG", "RATE_LIMITED"),
)
DETAILS = Form(
    DetailsSchema,
    Input(
        "name",
        "Your name",
        autocomplete="name",
        messages={"required": "Enter your name.", "too_short": "Enter your full name."},
    ),
    Input("phone", "Telephone number", type="tel", autocomplete="tel", inputmode="tel"),
    Input("language", "Language of pages and e-mails"),
)
PASSWORD = Form(PasswordSchema, CURRENT_PASSWORD, NEW_PASSWORD)
FIRST_PASSWORD = Form(FirstPasswordSchema, NEW_PASSWORD)


@blueprint.get("/details")
def show_details() -> Response:
    """Show the form with name, telephone number and language."""
    caller = get_signed_in_caller()
    form = DETAILS.fill(name=caller.name, phone=caller.phone or "", language=caller.language or "")
    return _render_details(form)


@blueprint.post("/details")
def change_details() -> ResponseReturnValue:
    """Save the details. An empty field removes its value."""
    form = DETAILS.from_request()
    try:
        values = {"phone": None, "language": None, **form.load()}
        actions.update_profile(caller=get_signed_in_caller(), **values)
    except FORM_ERRORS as error:
        return _render_details(form.with_error(error))
    flash("Your details are saved.")
    return redirect(url_for("account.show"), 303)


@blueprint.get("/password")
def show_password() -> Response:
    """Show the form for a new password; without the current one for an account that has none."""
    return _render_password(_find_password_form().fill())


@blueprint.post("/password")
def change_password() -> ResponseReturnValue:
    """Set the password."""
    form = _find_password_form().from_request()
    try:
        rate_limits.count_request(CODE_ATTEMPT_LIMIT, "/api/auth/change-password", account_id=get_signed_in_caller().id)
        values = form.load()
        actions.change_password(
            caller=get_signed_in_caller(),
            new_password=values["password"],
            current_password=values.get("current_password"),
        )
    except FORM_ERRORS as error:
        return _render_password(form.with_error(error))
    flash("Your password is changed. All other devices are signed out.")
    return redirect(url_for("account.show"), 303)


def _find_password_form() -> Form:
    return PASSWORD if authentication.has_password(get_signed_in_caller()) else FIRST_PASSWORD


def _render_details(form: FilledForm) -> Response:
    return render_form(DETAILS_PAGE, form, languages=LANGUAGE_OPTIONS)


def _render_password(form: FilledForm) -> Response:
    caller = get_signed_in_caller()
    methods = authentication.list_confirmation_methods(caller) if form.form is FIRST_PASSWORD else []
    is_sign_in_too_old = bool(methods) or isinstance(form.error, ConfirmationRequired)
    return render_form(PASSWORD_PAGE, form, email=caller.email, is_sign_in_too_old=is_sign_in_too_old)
