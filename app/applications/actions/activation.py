"""Activation, the last step of an application: opens the merchant's account, an existing one or a new one."""

from dataclasses import dataclass

from flask import current_app
from sqlalchemy import func, update
from sqlalchemy.orm import aliased
from sqlalchemy.sql.dml import ReturningUpdate

from app.accounts import authentication, one_time_codes, second_factor
from app.accounts.account_lifecycle import (
    Applicant,
    add_role_if_unchanged,
    create_account,
    is_replaceable,
    retire_account,
)
from app.accounts.address_reservations import is_reserved
from app.accounts.authentication import check_login_limits, verify_account_password
from app.accounts.errors import AddressReserved, CurrentPasswordWrong, SecondFactorRequired
from app.accounts.models import Account
from app.accounts.outgoing_mail import build_notice_job
from app.accounts.queries import find_account_by_email, lock_account_by_email, lock_address
from app.accounts.sessions import UNKNOWN_ORIGIN, LoginResult, SessionOrigin
from app.applications import links
from app.applications.emails import build_activated_email_jobs
from app.applications.errors import LinkExpired, NothingDue
from app.applications.links import ResolvedLink
from app.applications.models import Application, ApplicationLink
from app.applications.open_events import can_go_on_sql, check_event_open
from app.applications.states import ACTIVATED, READY, check_step
from app.core.db import ReadOrWriteSession, db, release_connection
from app.core.errors import AppError, ValidationFailed
from app.core.languages import find_page_language, mark_for_translation
from app.core.outbox import Work, enqueue_all
from app.core.transaction import transaction
from app.invitations.participation import add_participant_sql

KnownAccount = aliased(Account)
WRONG_PASSWORD_MESSAGE = mark_for_translation(
    "This is not the password of the account that has this address. Enter that one, or reset it first."
)


@dataclass(frozen=True)
class ActivationResult:
    """A merchant with their session or what it still needs, the path to go to, the event and its organiser."""

    email: str
    login_result: LoginResult | SecondFactorRequired
    path: str
    event: str | None
    organiser_id: str | None


@dataclass(frozen=True)
class Owner:
    """The person who becomes a merchant, with an existing account or without."""

    applicant: Applicant
    existing_account: Account | None
    is_email_proven: bool


def activate_account(
    *,
    token: str,
    name: str,
    password: str,
    message: str,
    path: str,
    email: str | None = None,
    origin: SessionOrigin = UNKNOWN_ORIGIN,
) -> ActivationResult:
    """Opens the merchant's account, or links an existing one, and signs in. The merchant takes part in the event now.

    An existing account with a second factor gets no session yet: the result has the error with its challenge.

    Of concurrent activations one succeeds. Raises NotFound, LinkExpired, LinkUsed, CurrentPasswordWrong,
    AccountSuspended, ApplicationsClosed, AddressReserved, ValidationFailed, Throttled.
    """
    resolved_link, known_account = _get_link_with_account(token)
    owner = _build_owner(resolved_link, known_account, name=name, password=password, email=email)
    with transaction() as session:
        account = open_account(session, owner)
        if account is None:
            if is_reserved(session, owner.applicant.email):
                raise AddressReserved()
            raise _find_activation_error(session, token) or CurrentPasswordWrong(WRONG_PASSWORD_MESSAGE)
        if not _complete_activation(session, resolved_link, account, message):
            raise _find_activation_error(session, token) or LinkExpired()
        application = resolved_link.application
        enqueue_all([*build_activated_email_jobs(application, path=path), *_build_owner_notifications(owner, account)])
        login_result = second_factor.start_session(session, account, origin)
        event_name = resolved_link.event_context.event
        return ActivationResult(account.email, login_result, path, event_name, application.organiser_id)


def _complete_activation(
    session: ReadOrWriteSession, resolved_link: ResolvedLink, account: Account, message: str
) -> bool:
    """Uses the link, activates the application and adds the participant, in one conditional statement.

    False if link or application have changed meanwhile; then the transaction must be rolled back.
    """
    used_link_id = session.scalars(
        complete_activation_sql(resolved_link, account, message), execution_options={"populate_existing": True}
    ).first()
    return used_link_id is not None


def complete_activation_sql(resolved_link: ResolvedLink, account: Account, message: str) -> ReturningUpdate[str]:
    """The statement of `_complete_activation`. The application is locked first, as everywhere, then the link is checked."""
    application, link = resolved_link.application, resolved_link.link
    activated_application = (
        update(Application)
        .where(Application.id == application.id, Application.status == READY, can_go_on_sql())
        .values(
            status=check_step(READY, ACTIVATED),
            version=Application.version + 1,
            account_id=account.id,
            activation_message=message or None,
            activated_at=func.now(),
            updated_at=func.now(),
            email=func.coalesce(Application.email, account.email),
            language=find_page_language() or Application.language,
        )
        .returning(Application.id)
        .cte("activated_application")
    )
    link_use = (
        update(ApplicationLink)
        .where(
            ApplicationLink.id == link.id,
            ApplicationLink.application_id == activated_application.c.id,
            ApplicationLink.used_at.is_(None),
            ApplicationLink.replaced_at.is_(None),
            ApplicationLink.expires_at > func.now(),
        )
        .values(used_at=func.now())
        .returning(ApplicationLink.id)
        .execution_options(synchronize_session=False)
    )
    if application.event_id is None:
        return link_use
    participant_insert = add_participant_sql(
        event_id=application.event_id,
        merchant_id=account.id,
        stall_type=application.stall_type,
        fee_minor=application.amount_minor,
    )
    return link_use.add_cte(participant_insert.cte("participant"))


def _find_activation_error(session: ReadOrWriteSession, token: str) -> AppError | None:
    """The reason why the activation failed, from the state of link and application now; None if neither is the reason.

    Raises ApplicationsClosed.
    """
    resolved_link = links.get_link(token, links.ACTIVATION, session=session)
    if resolved_link.error_class is not None:
        return resolved_link.error_class()
    application = resolved_link.application
    if application.status == READY:
        check_event_open(session, application)
        return None
    return NothingDue(status=application.status, due=links.list_due_purposes(application))


def _get_link_with_account(token: str) -> tuple[ResolvedLink, Account | None]:
    """A usable activation link, and the applicant's account if there is one, in one query.

    Raises NotFound, LinkExpired, LinkUsed.
    """
    has_same_email = Application.account_id.is_(None) & (KnownAccount.email == Application.email)
    statement = links.link_by_token_query(token, links.ACTIVATION).add_columns(KnownAccount)
    row = db.session.execute(
        statement.outerjoin(KnownAccount, (KnownAccount.id == Application.account_id) | has_same_email)
    ).first()
    resolved_link = links.require_active_link(links.build_resolved_link(row))
    known_account = row[-1] if row else None
    return resolved_link, known_account if isinstance(known_account, Account) else None


def _build_owner(
    resolved_link: ResolvedLink, known_account: Account | None, *, name: str, password: str, email: str | None
) -> Owner:
    """The owner after the check of the password. Writes nothing.

    The checks, and the time for the password, are the same with and without an account. An unverified account with a
    different password is replaced, because anybody may have registered the email. Raises CurrentPasswordWrong,
    Throttled, and ValidationFailed without any email or for a common password.
    """
    owner_email = known_account.email if known_account else resolved_link.application.email or email
    if owner_email is None:
        raise ValidationFailed.of("email", "required", "The application names no address; give yours.")
    existing_account = known_account or (
        None if resolved_link.application.email else find_account_by_email(owner_email)
    )
    is_production: bool = current_app.extensions["settings"].production
    authentication.reject_common_password(password, owner_email, name, production=is_production)
    if existing_account is not None and _check_existing_password(existing_account, password):
        return Owner(
            _build_applicant(resolved_link, existing_account.email, existing_account.name, ""),
            existing_account,
            is_email_proven=False,
        )
    check_login_limits(owner_email, None)
    release_connection()
    # A link proves the email only if nobody saw it outside the mailbox: neither a decider, nor the account that
    # applied, whose page shows it.
    application, was_shown = resolved_link.application, resolved_link.link.shown
    is_email_proven = owner_email == application.email and application.account_id is None and not was_shown
    return Owner(
        _build_applicant(resolved_link, owner_email, name, authentication.hash_password(password)),
        None,
        is_email_proven,
    )


def _check_existing_password(existing_account: Account, password: str) -> bool:
    """Whether the password is that of the account. False only for an account that a new one may replace.

    Raises CurrentPasswordWrong, which counts as a failed sign-in, and Throttled.
    """
    if is_replaceable(existing_account):
        release_connection()
        return authentication.verify_password(existing_account.password_hash, password)
    release_connection()
    if not verify_account_password(existing_account, password):
        raise CurrentPasswordWrong(WRONG_PASSWORD_MESSAGE)
    return True


def open_account(session: ReadOrWriteSession, owner: Owner) -> Account | None:
    """The owner's account with the merchant role. An unverified account with the same email is retired.

    None if another account took the email meanwhile, or the password of the account has changed.
    """
    if owner.existing_account is not None:
        return add_role_if_unchanged(session, owner.existing_account, owner.applicant)
    lock_address(session, owner.applicant.email)
    account = create_account(session, owner.applicant, verified=owner.is_email_proven)
    if account is not None:
        return account
    current_account = lock_account_by_email(session, owner.applicant.email)
    if current_account is None or not is_replaceable(current_account):
        return None
    retire_account(session, current_account)
    return create_account(session, owner.applicant, verified=owner.is_email_proven)


def _build_owner_notifications(owner: Owner, account: Account) -> list[Work]:
    """The mails to the owner: the code for an unverified email, or the notice of a new role."""
    if owner.existing_account is None:
        if owner.is_email_proven:
            return []
        return [one_time_codes.build_renewal_job(one_time_codes.VERIFY_EMAIL, account.email)]
    role = owner.applicant.role
    if role in owner.existing_account.roles:
        return []
    return [build_notice_job("role_added", account.id, role=role)]


def _build_applicant(resolved_link: ResolvedLink, email: str, name: str, password_hash: str) -> Applicant:
    business_name = resolved_link.application.business_name or name
    return Applicant(
        role="merchant",
        email=email,
        name=name,
        password_hash=password_hash,
        phone=resolved_link.application.phone,
        language=find_page_language() or resolved_link.application.language,
        profile={"business_name": business_name, "stall_name": None},
    )
