"""The pages for the details and the password of the own account."""

from dataclasses import replace

from flask import Response, url_for
from flask.typing import ResponseReturnValue

from app.accounts import actions
from app.blueprints.pages.forms import FilledForm, Form, Input, render_form, submit
from app.blueprints.pages.inputs import NEW_PASSWORD
from app.blueprints.pages.owner_confirmation import PASSWORD, ConfirmedSchema, for_owner
from app.blueprints.pages.rendering import Pages
from app.blueprints.pages.signed_in import get_signed_in_caller
from app.core.languages import LANGUAGES, gettext, lazy_gettext
from app.web.fields import Choice, Phone
from app.web.rate_limits import CODE_ATTEMPT_LIMIT
from app.web.schema import Query
from app.web.text_fields import Name, NewPassword

blueprint = Pages("account_profile", __name__, url_prefix="/account", needs_sign_in=True, translated=True)
DETAILS_PAGE, PASSWORD_PAGE = "pages/account_details.html", "pages/account_password.html"
LANGUAGE_OPTIONS = [
    ("", lazy_gettext("That of the browser"), ""),
    *((code, name, "") for code, name in LANGUAGES.items()),
]


class DetailsSchema(Query):
    name = Name(required=True, min=2, max=120)
    phone = Phone()
    language = Choice(*LANGUAGES)


class NewPasswordSchema(ConfirmedSchema):
    new_password = NewPassword(required=True)


DETAILS = Form(
    DetailsSchema,
    Input(
        "name",
        lazy_gettext("Your name"),
        autocomplete="name",
        messages={"required": lazy_gettext("Enter your name."), "too_short": lazy_gettext("Enter your full name.")},
    ),
    Input("phone", lazy_gettext("Telephone number"), type="tel", autocomplete="tel", inputmode="tel"),
    Input("language", lazy_gettext("Language of e-mails")),
)
CURRENT_PASSWORD = replace(PASSWORD, label=lazy_gettext("Current password"), hint="")
CHANGED_PASSWORD = Form(NewPasswordSchema, CURRENT_PASSWORD, replace(NEW_PASSWORD, name="newPassword"))


@blueprint.get("/details")
def show_details() -> Response:
    """Show the form with name, telephone number and language."""
    caller = get_signed_in_caller()
    form = DETAILS.fill(name=caller.name, phone=caller.phone or "", language=caller.language or "")
    return _render_details(form)


@blueprint.post("/details")
def change_details() -> ResponseReturnValue:
    """Save the details. An empty field removes its value."""

    def save(name: str, phone: str | None = None, language: str | None = None) -> None:
        actions.update_profile(caller=get_signed_in_caller(), name=name, phone=phone, language=language)

    path = url_for("account.show")
    return submit(DETAILS.from_request(), save, _render_details, done=gettext("Your details are saved."), path=path)


@blueprint.get("/password")
def show_password() -> Response:
    """Show the form for a new password; without the current one for an account that has none."""
    return _render_password(for_owner(CHANGED_PASSWORD).fill())


@blueprint.post("/password")
def change_password() -> ResponseReturnValue:
    """Set the password."""

    def change(new_password: str, password: str | None) -> None:
        actions.change_password(caller=get_signed_in_caller(), new_password=new_password, current_password=password)

    return submit(
        for_owner(CHANGED_PASSWORD).from_request(),
        change,
        _render_password,
        done=gettext("Your password is changed. All other devices are signed out."),
        path=url_for("account.show"),
        limit=(CODE_ATTEMPT_LIMIT, "/api/auth/change-password"),
    )


def _render_details(form: FilledForm) -> Response:
    return render_form(DETAILS_PAGE, form, languages=LANGUAGE_OPTIONS)


def _render_password(form: FilledForm) -> Response:
    return render_form(PASSWORD_PAGE, form, email=get_signed_in_caller().email)
