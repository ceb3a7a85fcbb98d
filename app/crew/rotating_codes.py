"""The rotating code of a stall: a QR code that changes every 30 seconds, so that a shift begins only at the stall.

A code is valid in its step of 30 seconds and in the two after it. Who opens its page in that time gets a pass, with
which they can begin their shift in the next five minutes.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from math import ceil

import pyotp
from flask import current_app
from itsdangerous import BadSignature
from sqlalchemy import select, update

from app.accounts.caller import Caller
from app.core.db import db
from app.core.errors import LinkExpired, NotFound
from app.core.ids import is_id
from app.core.tokens import decrypt_token, derived_text, encrypt_token, same, timed_signer
from app.core.transaction import transaction
from app.crew.models import CrewMember
from app.crew.queries import Stall, get_stall, lock_stall_exclusive
from app.events.models import Event
from app.invitations.models import Participation

STEP_SECONDS, EARLIER_STEPS, DIGITS = 30, 2, 8
PASS_PURPOSE, PASS_SECONDS = "check-in-pass", 300
SIGNATURE_LENGTH = 22


@dataclass(frozen=True)
class RotatingCode:
    """Whether a stall has a rotating code, and the present one, with the page that it opens and its end."""

    rotating_code: bool
    stall_code: str | None = None
    url: str | None = None
    changes_at: datetime | None = None
    seconds_left: int = 0


@dataclass(frozen=True)
class CheckInPage:
    """What somebody sees who has scanned the code: the event, and the crew to choose from; the pass is for the form."""

    event_name: str
    members: Sequence[tuple[str, str]]
    pass_token: str


def get_rotating_code(caller: Caller, event_id: str) -> RotatingCode:
    """The present code of the caller's stall. Raises NotFound."""
    return _build_rotating_code(get_stall(caller.merchant_id, event_id))


def set_rotating_code(*, caller: Caller, event_id: str, rotating_code: bool) -> RotatingCode:
    """Turns the rotating code of the caller's stall on or off; a repetition changes nothing. Raises NotFound."""
    with transaction() as session:
        stall = lock_stall_exclusive(session, caller.merchant_id, event_id)
        if rotating_code != (stall.check_in_secret is not None):
            secret = encrypt_token(_get_purpose(stall), pyotp.random_base32().encode()) if rotating_code else None
            session.execute(
                update(Participation)
                .where(Participation.merchant_id == stall.merchant_id, Participation.event_id == event_id)
                .values(check_in_secret=secret)
                .execution_options(synchronize_session=False)
            )
    return get_rotating_code(caller, event_id)


def is_valid_stall_code(stall: Stall, code: str | None) -> bool:
    """Whether the code is that of the present step or of one of the two before, by the database's clock."""
    totp, step = _build_totp(stall), _get_step(stall.now)
    if totp is None or code is None:
        return False
    return any(same(code, totp.generate_otp(step - age)) for age in range(EARLIER_STEPS + 1))


def open_check_in(stall_token: str, code: str) -> CheckInPage:
    """The page behind a scanned code. Raises NotFound for an unknown stall, LinkExpired for a code that is too old."""
    merchant_id, event_id = _parse_stall_token(stall_token)
    stall = get_stall(merchant_id, event_id)
    if not is_valid_stall_code(stall, code):
        raise LinkExpired()
    pass_token = timed_signer(PASS_PURPOSE).sign(f"{merchant_id}.{event_id}").decode()
    return _build_page(stall, pass_token)


def reopen_check_in(pass_token: str) -> CheckInPage:
    """The page again, for somebody with a pass. Raises LinkExpired, NotFound."""
    merchant_id, event_id = parse_pass(pass_token)
    return _build_page(get_stall(merchant_id, event_id), pass_token)


def parse_pass(pass_token: str) -> tuple[str, str]:
    """The merchant and the event of a pass. Raises LinkExpired for any other text, and after five minutes."""
    try:
        payload = timed_signer(PASS_PURPOSE).unsign(pass_token, max_age=PASS_SECONDS).decode()
    except (BadSignature, UnicodeError) as error:
        raise LinkExpired() from error
    merchant_id, _, event_id = payload.partition(".")
    return merchant_id, event_id


def _build_rotating_code(stall: Stall) -> RotatingCode:
    totp, step = _build_totp(stall), _get_step(stall.now)
    if totp is None:
        return RotatingCode(False)
    code = totp.generate_otp(step)
    base_url = current_app.extensions["settings"].PUBLIC_BASE_URL
    url = f"{base_url}/check-in/{_build_stall_token(stall.merchant_id, stall.event_id)}/{code}"
    changes_at = datetime.fromtimestamp((step + 1) * STEP_SECONDS, UTC)
    return RotatingCode(True, code, url, changes_at, ceil((changes_at - stall.now).total_seconds()))


def _build_page(stall: Stall, pass_token: str) -> CheckInPage:
    event_name = db.session.scalars(select(Event.name).where(Event.id == stall.event_id)).one()
    members = db.session.execute(
        select(CrewMember.id, CrewMember.name)
        .where(
            CrewMember.merchant_id == stall.merchant_id,
            CrewMember.event_id == stall.event_id,
            CrewMember.retired_at.is_(None),
        )
        .order_by(CrewMember.position, CrewMember.id)
    )
    return CheckInPage(event_name, [(id, name) for id, name in members], pass_token)


def _build_totp(stall: Stall) -> pyotp.TOTP | None:
    """The generator of the stall's codes; None without a rotating code, or with a secret of an earlier SECRET_KEY."""
    if stall.check_in_secret is None:
        return None
    secret = decrypt_token(_get_purpose(stall), stall.check_in_secret)
    return pyotp.TOTP(secret.decode(), digits=DIGITS, interval=STEP_SECONDS) if secret is not None else None


def _get_step(now: datetime) -> int:
    return int(now.timestamp()) // STEP_SECONDS


def _get_purpose(stall: Stall) -> str:
    return f"check-in {stall.merchant_id} {stall.event_id}"


def _build_stall_token(merchant_id: str, event_id: str) -> str:
    return merchant_id + event_id + derived_text("check-in", merchant_id, event_id)[:SIGNATURE_LENGTH]


def _parse_stall_token(stall_token: str) -> tuple[str, str]:
    merchant_id, event_id = stall_token[:24], stall_token[24:48]
    is_signed = is_id(merchant_id) and is_id(event_id) and same(stall_token, _build_stall_token(merchant_id, event_id))
    if not is_signed:
        raise NotFound()
    return merchant_id, event_id
