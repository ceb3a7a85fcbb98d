"""Fields that several forms have: the code from an e-mail, and a new password."""

from app.blueprints.pages.forms import Input
from app.core.languages import lazy_gettext
from app.web.schema import Query
from app.web.text_fields import OneTimeCode


class CodeSchema(Query):
    code = OneTimeCode(required=True)


EMAIL_CODE = Input(
    "code",
    lazy_gettext("Code from the e-mail"),
    hint=lazy_gettext("Six digits. Spaces do not matter."),
    type="code",
    autocomplete="one-time-code",
    inputmode="numeric",
    messages={
        "required": lazy_gettext("Enter the code from the e-mail."),
        "wrong_length": lazy_gettext("Enter all six digits of the code."),
    },
    error_codes=("CODE_INVALID", "RATE_LIMITED"),
)
NEW_PASSWORD = Input(
    "password",
    lazy_gettext("New password"),
    hint=lazy_gettext("At least 8 characters. A short sentence is easy to remember and hard to guess."),
    type="password",
    autocomplete="new-password",
    messages={
        "required": lazy_gettext("Choose a new password."),
        "too_short": lazy_gettext("Choose a password of at least 8 characters."),
        "too_long": lazy_gettext("Choose a password of at most 128 characters."),
        "too_common": lazy_gettext("Choose another password. This one is easy to guess."),
    },
)
