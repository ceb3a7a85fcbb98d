"""The second factor of the signed-in account, and the second step of a sign-in: `/api/auth/second-factor`."""

import segno
from marshmallow import fields

from app.accounts import actions, errors, queries
from app.blueprints.accounts.routes import SignInData, build_login_response
from app.blueprints.accounts.schemas import SignedInData
from app.core.errors import Throttled
from app.web.access import PUBLIC, SECOND_FACTOR_SETUP, get_current_caller
from app.web.blueprint import Blueprint
from app.web.confirmation import ConfirmedBody
from app.web.cookies import list_device_marks
from app.web.fields import Boolean, List, Secret, TimeField, WholeNumber
from app.web.rate_limits import CODE_ATTEMPT_LIMIT, get_client_network
from app.web.schema import Schema
from app.web.session_origin import get_session_origin

blp = Blueprint(
    "second_factor",
    __name__,
    url_prefix="/api/auth",
    description="The second factor: a code of an authenticator app at each sign-in",
)
ACCESS = SECOND_FACTOR_SETUP.with_verified_email()
CONFIRMATION_ERRORS = [errors.ConfirmationRequired, errors.CurrentPasswordWrong, Throttled]


class ChallengeBody(Schema):
    challenge = Secret(
        required=True,
        max=64,
        metadata={
            "example": "u3H…43 characters…kQ4",
            "description": "`data.challenge` of the response to the first step",
        },
    )
    code = Secret(
        required=True,
        max=32,
        metadata={"example": "123456", "description": "six digits of the app, or a recovery code"},
    )


class AppCodeBody(Schema):
    code = Secret(
        required=True, max=32, metadata={"example": "123456", "description": "the six digits that the app shows"}
    )


class SecondFactorData(Schema):
    enabled = Boolean(required=True, metadata={"example": True, "description": "whether sign-ins need a second step"})
    since = TimeField(required=True, allow_none=True, metadata={"description": "null while it is off"})
    recovery_codes_left = WholeNumber(
        required=True, metadata={"example": 10, "description": "how many recovery codes are unused"}
    )


class EnrolmentData(Schema):
    secret = fields.String(
        required=True,
        metadata={"example": "JBSWY3DPEHPK3PXP", "description": "for an app that cannot scan; shown only now"},
    )
    uri = fields.String(
        required=True,
        metadata={
            "example": "otpauth://totp/Event%20Commerce:frieda%40example.com?secret=JBSWY3DPEHPK3PXP",
            "description": "what the QR code says",
        },
    )
    qr_code = fields.String(
        required=True,
        metadata={"example": "data:image/svg+xml;charset=utf-8,…", "description": "a picture, as a data URI"},
    )


class RecoveryCodesData(Schema):
    recovery_codes = List(
        fields.String(metadata={"example": "7KQ2M-X9TRB"}),
        required=True,
        metadata={"description": "ten codes, each for one sign-in without the app; shown only now"},
    )


@blp.post(
    "/login/second-factor",
    access=PUBLIC,
    body=ChallengeBody,
    returns=SignedInData,
    limit=CODE_ATTEMPT_LIMIT,
    errors=[errors.ChallengeInvalid, errors.AccountSuspended, errors.CodeInvalid, Throttled],
)
def log_in_with_second_factor(challenge: str, code: str) -> SignInData:
    """Complete a sign-in that needs a second factor.

    A challenge is valid for 5 minutes and 5 codes. Each code works once. Twenty wrong codes in a day block the codes of
    the app; recovery codes still work.
    """
    return build_login_response(
        actions.log_in_with_second_factor(
            challenge=challenge,
            code=code,
            network=get_client_network(),
            device_marks=list_device_marks(),
            origin=get_session_origin(),
        )
    )


@blp.get("/second-factor", access=SECOND_FACTOR_SETUP, returns=SecondFactorData, etag=True)
def read_second_factor() -> queries.SecondFactorStatus:
    """Read whether the second factor is on."""
    return queries.get_second_factor(get_current_caller())


@blp.post(
    "/second-factor",
    access=ACCESS,
    body=ConfirmedBody,
    returns=EnrolmentData,
    status=201,
    errors=[*CONFIRMATION_ERRORS, errors.SecondFactorOn],
)
def begin_second_factor(password: str | None) -> dict[str, object]:
    """Start to set up an authenticator app.

    Next: scan the QR code with the app, and send the code that it shows to `second-factor/confirm`. Until then nothing
    changes. Needs the password, or a sign-in of the last 10 minutes.
    """
    enrolment = actions.begin_second_factor(caller=get_current_caller(), password=password)
    qr_code = segno.make(enrolment.uri, error="m", micro=False).svg_data_uri(scale=4, border=4)
    return {"secret": enrolment.secret, "uri": enrolment.uri, "qr_code": qr_code}


@blp.post(
    "/second-factor/confirm",
    access=ACCESS,
    body=AppCodeBody,
    returns=RecoveryCodesData,
    limit=CODE_ATTEMPT_LIMIT,
    errors=[errors.CodeInvalid, errors.SecondFactorOn],
)
def confirm_second_factor(code: str) -> dict[str, object]:
    """Turn the second factor on, by a code of the app.

    From now on each sign-in needs a code, also with Apple and Google and after a new password. Other sessions go on. The
    response has the recovery codes. The owner gets a mail.
    """
    return {"recovery_codes": actions.confirm_second_factor(caller=get_current_caller(), code=code)}


@blp.post(
    "/second-factor/recovery-codes",
    access=ACCESS,
    body=ConfirmedBody,
    returns=RecoveryCodesData,
    errors=[*CONFIRMATION_ERRORS, errors.SecondFactorOff],
)
def renew_recovery_codes(password: str | None) -> dict[str, object]:
    """Replace the recovery codes.

    The earlier ones stop working. Needs the password, or a sign-in of the last 10 minutes. The owner gets a mail.
    """
    return {"recovery_codes": actions.renew_recovery_codes(caller=get_current_caller(), password=password)}


@blp.delete("/second-factor", access=SECOND_FACTOR_SETUP, body=ConfirmedBody, etag=True, errors=CONFIRMATION_ERRORS)
def turn_off_second_factor(password: str | None, expected_version: int | None) -> None:
    """Turn the second factor off.

    Needs the password, in the body or the header `X-Confirm-Password`, or a sign-in of the last 10 minutes. A second
    call changes nothing. The owner gets a mail.
    """
    actions.turn_off_second_factor(caller=get_current_caller(), password=password, expected_version=expected_version)
