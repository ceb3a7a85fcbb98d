"""Mails of accounts, cleanup of retired accounts, and deletion of expired rows."""

from datetime import timedelta
from typing import Any

import structlog
from flask import current_app
from sqlalchemy import delete, func, select

from app.accounts import one_time_codes
from app.accounts.account_lifecycle import clean_up_retired_account, is_replaceable
from app.accounts.address_reservations import build_undo_token, delete_expired_changes, find_reservation_end
from app.accounts.languages import find_account_language
from app.accounts.models import Account, AccountSession, OneTimeCode, ResetToken, SpentIdentityToken
from app.accounts.own_account_models import AddressChange, SignInChallenge
from app.accounts.queries import find_account, find_account_by_email
from app.accounts.team_models import TeamInvite
from app.clients.email_templates import render_email
from app.clients.mail import send
from app.core import throttle
from app.core.addresses import mask_address
from app.core.db import db
from app.core.formatting import format_time
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
    if not _is_code_valid(purpose, email, nonce):
        return
    if purpose == one_time_codes.CHANGE_EMAIL:
        _mail_address_code(run, account, email, nonce, language)
        return
    if account is None:
        if registration:
            _mail_reservation(run, email, language)
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


def _mail_address_code(run: Run, account: Account | None, email: str, nonce: str, language: str | None) -> None:
    """Mails the code for a new address, or says that the address belongs to an account. Greets nobody by name."""
    if account is not None and not is_replaceable(account):
        if account.email_verified_at is not None:
            _send_notice(run, account, "address_in_use", language=language)
        return
    if _mail_reservation(run, email, language):
        return
    code = one_time_codes.compute_code(one_time_codes.CHANGE_EMAIL, email, nonce)
    with use_language(language):
        message = render_email(
            "change_email", to=email, key=run.key, name=None, code=code, minutes=CODE_LIFETIME_MINUTES
        )
    send(message, fence=run.fence)


def _mail_reservation(run: Run, email: str, language: str | None) -> bool:
    """Mails that the address is reserved, if no account that waits for its code has reserved it. Whether it did."""
    waiting_accounts = select(AddressChange.account_id).where(
        AddressChange.new_email == email, AddressChange.confirmed_at.is_(None), AddressChange.ended_at.is_(None)
    )
    reserved_until = find_reservation_end(db.session(), email, except_account_ids=waiting_accounts)
    if reserved_until is None:
        return False
    with use_language(language):
        until = format_time(reserved_until)
        message = render_email("address_reserved", to=email, key=run.key, name=None, until=until)
    send(message, fence=run.fence)
    return True


@job("accounts.mail_address_changed", Delivery.AT_LEAST_ONCE, critical=True)
def mail_address_changed(run: Run, *, change_id: str) -> None:
    """Mails the link that undoes a change of address to the old address."""
    change = db.session.get(AddressChange, change_id)
    account = find_account(change.account_id) if change is not None else None
    if change is None or account is None or change.ended_at is not None or change.undo_until is None:
        return
    message = render_email(
        "address_changed",
        to=change.old_email,
        key=run.key,
        name=account.name,
        new_address=mask_address(change.new_email),
        undo_url=_build_url(f"undo-address-change/{build_undo_token(change.id)}"),
        until=format_time(change.undo_until),
    )
    send(message, fence=run.fence)


@job("accounts.mail_address_restored", Delivery.AT_LEAST_ONCE)
def mail_address_restored(run: Run, *, account_id: str, email: str) -> None:
    """Tells an address that its account has its earlier address again."""
    account = find_account(account_id)
    if account is None:
        return
    message = render_email(
        "address_restored", to=email, key=run.key, name=account.name, old_address=mask_address(account.email)
    )
    send(message, fence=run.fence)


@job("accounts.renew_code", Delivery.LOCAL)
def renew_code(run: Run, *, purpose: str, email: str, registration: bool = False, language: str | None = None) -> None:
    """Creates and mails the code that had to wait for the interval between two codes."""
    with transaction() as session:
        run.done_in(session)
        one_time_codes.renew_voided_code(session, purpose, email, registration=registration, language=language)


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
    """Deletes expired codes, tokens, throttle windows, sessions and invitations to teams."""
    with transaction() as session:
        run.done_in(session)
        day_ago, month_ago = func.now() - timedelta(days=1), func.now() - timedelta(days=30)
        session.execute(delete(OneTimeCode).where(OneTimeCode.expires_at < day_ago))
        session.execute(delete(ResetToken).where(ResetToken.expires_at < day_ago))
        session.execute(delete(SignInChallenge).where(SignInChallenge.expires_at < day_ago))
        delete_expired_changes(session)
        session.execute(delete(TeamInvite).where(func.coalesce(TeamInvite.ended_at, TeamInvite.expires_at) < month_ago))
        session.execute(delete(SpentIdentityToken).where(SpentIdentityToken.expires_at < day_ago))
        session.execute(delete(AccountSession).where(AccountSession.ends_at < month_ago))
        throttle.delete_expired(session)


def _send_notice(run: Run, account: Account, template: str, language: str | None = None, **context: Any) -> None:
    context = {"reset_url": _build_reset_url(), **context}
    with use_language(find_account_language(account.id) or language):
        message = render_email(template, to=account.email, key=run.key, name=account.name, **context)
    send(message, fence=run.fence)


def _build_reset_url(path: str = "") -> str:
    return _build_url(f"reset-password/{path}").rstrip("/")


def _build_url(path: str) -> str:
    return f"{current_app.extensions['settings'].PUBLIC_BASE_URL}/{path}"


def _is_code_valid(purpose: str, email: str, nonce: str) -> bool:
    query = select(OneTimeCode.nonce).where(
        OneTimeCode.purpose == purpose,
        OneTimeCode.email == email,
        OneTimeCode.nonce == nonce,
        ~OneTimeCode.used,
        OneTimeCode.expires_at > func.now(),
    )
    return db.session.scalar(query) is not None
