"""Forms that the owner of an account confirms: with the password or, without one, by a recent sign-in.

The schema of such a form extends `ConfirmedSchema`, and its inputs contain `PASSWORD`. The macro `confirmed_form`
of `account_parts.html` draws it.
"""

from flask import url_for

from app.accounts import authentication
from app.blueprints.pages.csrf import get_page_path
from app.blueprints.pages.forms import Form, Input
from app.blueprints.pages.signed_in import get_signed_in_caller
from app.core.languages import lazy_gettext
from app.web.confirmation import FIELD, MAX_PASSWORD_LENGTH
from app.web.fields import Secret
from app.web.schema import Query

PASSWORD = Input(
    FIELD,
    lazy_gettext("Your password"),
    hint=lazy_gettext("We ask for it to be sure that it is you."),
    type="password",
    autocomplete="current-password",
    messages={
        "required": lazy_gettext("Enter your password."),
        "too_long": lazy_gettext("This password is too long."),
        "CURRENT_PASSWORD_WRONG": lazy_gettext("This password is wrong. Try again."),
    },
    error_codes=("CURRENT_PASSWORD_WRONG", "RATE_LIMITED"),
)


class ConfirmedSchema(Query):
    password = Secret(required=True, max=MAX_PASSWORD_LENGTH)


def for_owner(form: Form) -> Form:
    """Return the form as the signed-in person needs it.

    Without a password on the account, it has no field for one and, unless the sign-in was recent, the address where to
    sign in again.
    """
    caller = get_signed_in_caller()
    if authentication.has_password(caller):
        return form
    is_recent = not authentication.list_confirmation_methods(caller)
    sign_in_url = "" if is_recent else url_for("sign_in.start", again="yes", next=get_page_path())
    return form.without(FIELD, sign_in_url=sign_in_url)
