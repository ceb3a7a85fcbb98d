"""Mails of accounts, cleanup of retired accounts, and deletion of expired rows."""

from datetime import timedelta
from typing import Any

import structlog
from flask import current_app
from sqlalchemy import delete, func, select

from app.accounts import one_time_codes
from app.accounts.account_lifecycle import clean_up_retired_account
from app.accounts.languages import find_account_language
from app.accounts.models import Account, AccountSession, OneTimeCode, ResetToken, SpentIdentityToken
from app.accounts.queries import find_account, find_account_by_email
from app.clients.email_templates import render_email
from app.clients.mail import send
from app.core import throttle
from app.core.db import db
from app.core.jobs import Delivery, Run, job
from app.core.languages import use_language
from app.core.throttle import Rule
from app.core.transaction import transaction

TEMPLATE_BY_PURPOSE = {one_time_codes.VERIFY_EMAIL: "verify_email", one_time_codes.RESET_PASSWORD: "reset_code"}
NOTICES_PER_DAY = Rule("notices-a-day", 20, timedelta(days=1))
log = structlog.get_logger(__name__)
CODE_LIFETIME_MINUTES = int(one_time_codes.CODE_LIFETIME.total_seconds() // 60)


@job("accounts.mail_code", Delivery.AT_LEAST_ONCE, critical=True)
def mail_code(
    run: Run, *, purpose: str, email: str, nonce: str, registration: bool = False, language: str | None = None
) -> None:
    """Mails a code if it is still valid and the address has an account that needs it.

    After a registration with a verified address, its owner gets a mail about the existing account instead. `language`
    is that of the page; the account's own goes first.
    """
    account = find_account_by_email(email)
    if account is None or not _is_code_valid(purpose, email, nonce):
        return
    if purpose == one_time_codes.VERIFY_EMAIL and account.email_verified_at:
        if registration:
            _send_notice(run, account, "already_registered", language=language)
        return
    reset_link: dict[str, Any] = {}
    if purpose == one_time_codes.RESET_PASSWORD:
        reset_link["reset_url"] = _build_reset_url(f"link/{one_time_codes.create_reset_link_token(account, nonce)}")
    with use_language(find_account_language(account.id) or language):
        message = render_email(
            TEMPLATE_BY_PURPOSE[purpose],
            to=email,
            key=run.key,
            name=account.name,
            code=one_time_codes.compute_code(purpose, email, nonce),
            minutes=CODE_LIFETIME_MINUTES,
            **reset_link,
        )
    send(message, fence=run.fence)


@job("accounts.renew_code", Delivery.LOCAL)
def renew_code(run: Run, *, purpose: str, email: str, registration: bool = False) -> None:
    """Creates and mails the code that had to wait for the interval between two codes."""
    with transaction() as session:
        run.done_in(session)
        one_time_codes.renew_voided_code(session, purpose, email, registration=registration)


@job("accounts.mail_codes_blocked", Delivery.AT_LEAST_ONCE)
def mail_codes_blocked(run: Run, *, purpose: str, email: str, tries: int, seconds: int) -> None:
    """Tells the owner of an address that wrong codes have blocked its codes, and what still works."""
    account = find_account_by_email(email)
    if account is not None:
        hours = max(1, round(seconds / 3600))
        _send_notice(
            run,
            account,
            "codes_blocked",
            tries=tries,
            hours=hours,
            is_password_reset=purpose == one_time_codes.RESET_PASSWORD,
        )


@job("accounts.mail_notice", Delivery.AT_LEAST_ONCE)
def mail_notice(run: Run, *, template: str, account_id: str, **context: Any) -> None:
    """Mails a notice about an account to its verified address; an unverified address may belong to a stranger.

    Beyond NOTICES_PER_DAY of the same notice, the mail is dropped and logged.
    """
    account = find_account(account_id)
    if account is None or account.email_verified_at is None:
        return
    with transaction() as session:
        daily_limit = throttle.hit(session, NOTICES_PER_DAY, f"{template}:{account_id}")
    if daily_limit.exceeded:
        log.warning("notice.limit_reached", account_id=account_id, template=template, key=run.key)
        return
    _send_notice(run, account, template, **context)


@job("accounts.clean_up_retired_account", Delivery.LOCAL)
def clean_up_account(run: Run, *, account_id: str) -> None:
    """Runs the cleanups that other domains have registered for retired accounts."""
    with transaction() as session:
        run.done_in(session)
        clean_up_retired_account(session, account_id)


@job("accounts.sweep", Delivery.LOCAL, every=timedelta(hours=1))
def delete_expired_rows(run: Run) -> None:
    """Deletes expired codes, tokens, throttle windows and sessions."""
    with transaction() as session:
        run.done_in(session)
        day_ago = func.now() - timedelta(days=1)
        session.execute(delete(OneTimeCode).where(OneTimeCode.expires_at < day_ago))
        session.execute(delete(ResetToken).where(ResetToken.expires_at < day_ago))
        session.execute(delete(SpentIdentityToken).where(SpentIdentityToken.expires_at < day_ago))
        session.execute(delete(AccountSession).where(AccountSession.ends_at < func.now() - timedelta(days=30)))
        throttle.delete_expired(session)


def _send_notice(run: Run, account: Account, template: str, language: str | None = None, **context: Any) -> None:
    context = {"reset_url": _build_reset_url(), **context}
    with use_language(find_account_language(account.id) or language):
        message = render_email(template, to=account.email, key=run.key, name=account.name, **context)
    send(message, fence=run.fence)


def _build_reset_url(path: str = "") -> str:
    base_url = current_app.extensions["settings"].PUBLIC_BASE_URL
    return f"{base_url}/reset-password/{path}".rstrip("/")


def _is_code_valid(purpose: str, email: str, nonce: str) -> bool:
    query = select(OneTimeCode.nonce).where(
        OneTimeCode.purpose == purpose,
        OneTimeCode.email == email,
        OneTimeCode.nonce == nonce,
        ~OneTimeCode.used,
        OneTimeCode.expires_at > func.now(),
    )
    return db.session.scalar(query) is not None
