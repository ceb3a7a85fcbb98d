"""Mail of accounts, and the sweeping of what has had its time."""

from datetime import timedelta
from typing import Any

from flask import current_app
from sqlalchemy import delete, func, select

from app.accounts import codes
from app.accounts.models import AccountSession, OneTimeCode, ResetToken, SpentIdentityToken
from app.accounts.queries import by_email, by_id
from app.clients.letters import letter
from app.clients.mail import send
from app.core import throttle
from app.core.db import db
from app.core.jobs import Delivery, Run, job
from app.core.transaction import transaction

TEMPLATES = {codes.VERIFY: "verify_email", codes.RESET: "reset_code"}
MINUTES = int(codes.LIFETIME.total_seconds() // 60)


@job("accounts.mail_code", Delivery.AT_LEAST_ONCE, critical=True)
def mail_code(run: Run, *, purpose: str, email: str, nonce: str) -> None:
    """Mails a code, if it still counts and the address has an account that it is for."""
    account = by_email(email)
    if account is None or (purpose == codes.VERIFY and account.email_verified_at) or not _counts(purpose, email, nonce):
        return
    code = codes.code_of(purpose, email, nonce)
    message = letter(TEMPLATES[purpose], to=email, key=run.key, name=account.name, code=code, minutes=MINUTES)
    send(message, fence=run.fence)


@job("accounts.renew_code", Delivery.LOCAL)
def renew_code(run: Run, *, purpose: str, email: str) -> None:
    """Makes and mails the code that had to wait for the gap between two."""
    with transaction() as session:
        run.done_in(session)
        codes.issue_soon(session, purpose, email)


@job("accounts.mail_notice", Delivery.AT_LEAST_ONCE)
def mail_notice(run: Run, *, template: str, account_id: str, **context: Any) -> None:
    """Tells the owner of an account what happened to it."""
    account = by_id(account_id)
    if account is None:
        return
    base = current_app.extensions["settings"].PUBLIC_BASE_URL
    context = {"reset_url": f"{base}/reset-password", **context}
    send(letter(template, to=account.email, key=run.key, name=account.name, **context), fence=run.fence)


@job("accounts.sweep", Delivery.LOCAL, every=timedelta(hours=1))
def sweep(run: Run) -> None:
    """Removes codes, tokens, windows and sessions that can no longer matter."""
    with transaction() as session:
        run.done_in(session)
        day_ago = func.now() - timedelta(days=1)
        session.execute(delete(OneTimeCode).where(OneTimeCode.expires_at < day_ago))
        session.execute(delete(ResetToken).where(ResetToken.expires_at < day_ago))
        session.execute(delete(SpentIdentityToken).where(SpentIdentityToken.expires_at < day_ago))
        session.execute(delete(AccountSession).where(AccountSession.ends_at < func.now() - timedelta(days=30)))
        throttle.forget_ended(session)


def _counts(purpose: str, email: str, nonce: str) -> bool:
    living = select(OneTimeCode.nonce).where(
        OneTimeCode.purpose == purpose,
        OneTimeCode.email == email,
        OneTimeCode.nonce == nonce,
        ~OneTimeCode.used,
        OneTimeCode.expires_at > func.now(),
    )
    return db.session.scalar(living) is not None
