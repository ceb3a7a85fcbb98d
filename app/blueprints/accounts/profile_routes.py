"""The details, the password and the address of the signed-in account: `/api/auth`."""

from typing import Any

from app.accounts import actions, errors, queries
from app.blueprints.accounts.schemas import CODE_METADATA, PASSWORD_METADATA, Me
from app.core.errors import Throttled
from app.core.languages import LANGUAGES
from app.web.access import SIGNED_IN, get_current_caller
from app.web.blueprint import Blueprint
from app.web.fields import Choice, Email, Phone, Secret
from app.web.rate_limits import CODE_ATTEMPT_LIMIT, EMAIL_REQUEST_LIMIT
from app.web.schema import Schema
from app.web.text_fields import Name, NewPassword, OneTimeCode

blp = Blueprint("profile", __name__, url_prefix="/api/auth", description="The details of your own account")


class ProfileChanges(Schema):
    name = Name(min=2, max=120, metadata={"example": "Frieda Amupolo"})
    phone = Phone(min=4, max=32, allow_none=True, metadata={"description": "null removes it"})
    language = Choice(
        *LANGUAGES,
        allow_none=True,
        metadata={"description": "the language of pages and mails; null means that of the browser"},
    )


class ChangePasswordBody(Schema):
    current_password = Secret(
        max=128,
        metadata={**PASSWORD_METADATA, "description": "required unless the account has no password"},
    )
    new_password = NewPassword(required=True, metadata=PASSWORD_METADATA)


class ChangeEmailBody(Schema):
    new_email = Email(required=True)
    password = Secret(
        max=128,
        metadata={**PASSWORD_METADATA, "description": "required unless the account has no password"},
    )


class ConfirmEmailBody(Schema):
    code = OneTimeCode(required=True, metadata=CODE_METADATA)


@blp.patch("/me", access=SIGNED_IN, body=ProfileChanges, returns=Me, etag=True)
def change_profile(**body: Any) -> tuple[dict[str, object], dict[str, str]]:
    """Change your name, telephone number and language.

    Only the fields that are sent change. The address and the password have operations of their own.
    """
    caller = actions.update_profile(caller=get_current_caller(), **body)
    return queries.load_account_profile(caller), {"ETag": f'"{caller.version}"'}


@blp.post(
    "/change-password",
    access=SIGNED_IN,
    body=ChangePasswordBody,
    limit=CODE_ATTEMPT_LIMIT,
    errors=[errors.CurrentPasswordWrong, errors.ConfirmationRequired, Throttled],
)
def change_password(new_password: str, current_password: str | None = None) -> None:
    """Set a new password.

    Every other session ends, and the owner gets a mail. A wrong current password counts like a failed sign-in. An
    account that signs in by Apple or Google alone gets its first password after a sign-in of the last 10 minutes.
    """
    actions.change_password(caller=get_current_caller(), current_password=current_password, new_password=new_password)


@blp.post(
    "/change-email",
    access=SIGNED_IN,
    body=ChangeEmailBody,
    limit=EMAIL_REQUEST_LIMIT,
    errors=[errors.CurrentPasswordWrong, errors.ConfirmationRequired, errors.EmailNotVerified, Throttled],
)
def request_address_change(new_email: str, password: str | None = None) -> None:
    """Mail a code to a new address for the account.

    Next: send the code to `change-email/confirm`. The response is the same whether or not the new address has an
    account; the mail differs. Until the address is verified, an account can do this three times.
    """
    actions.request_address_change(caller=get_current_caller(), new_email=new_email, password=password)


@blp.post(
    "/change-email/confirm",
    access=SIGNED_IN,
    body=ConfirmEmailBody,
    limit=CODE_ATTEMPT_LIMIT,
    errors=[errors.CodeInvalid],
)
def confirm_address_change(code: str) -> None:
    """Change the address by the code that was mailed to it.

    Every other session ends. For 7 days the old address is reserved, and the link in the mail to it restores it.
    """
    actions.confirm_address_change(caller=get_current_caller(), code=code)
