"""Links by which an applicant goes on: one valid link per application and purpose, with a token of 256 bits.

A token is a keyed hash of its row, so a repeated mail has the same link. The database stores only the token's
fingerprint: a stolen copy opens nothing. `advance_application` decides which step, and so which link, is next.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from flask import current_app
from sqlalchemy import Interval, Row, Select, String, column, func, insert, literal, select, update, values
from sqlalchemy.orm import Session as OrmSession
from sqlalchemy.sql.dml import ReturningInsert

from app.accounts.models import Account, OrganiserProfile
from app.accounts.permissions import MERCHANT
from app.accounts.queries import owner_id_sql
from app.applications import states
from app.applications.errors import LinkExpired, LinkUsed
from app.applications.models import Application, ApplicationLink
from app.core.db import db
from app.core.errors import Gone, NotFound
from app.core.ids import new_id
from app.core.tokens import derived_text, fingerprint
from app.events.models import Event
from app.invitations.participation import add_participant

DOCUMENTS, PAYMENT, ACTIVATION = "documents", "payment", "activation"
LIFETIMES = {DOCUMENTS: timedelta(days=14), PAYMENT: timedelta(days=14), ACTIVATION: timedelta(days=7)}
PAGE_PATHS = {DOCUMENTS: "documents", PAYMENT: "pay", ACTIVATION: "activate"}
EVENT_CONTEXT_COLUMNS = (Event.name, Event.timezone, OrganiserProfile.org_name, Account.email, Account.language)
"""The fields of `EventContext`."""
LINK_COLUMNS = (Application, ApplicationLink, ApplicationLink.expires_at <= func.now(), *EVENT_CONTEXT_COLUMNS)

LinkQuery = Select[*tuple[object, ...]]
AnyRow = Row[*tuple[object, ...]]


@dataclass(frozen=True)
class EventContext:
    """The event's name and time zone, the organisation's name, and the owner's email and language; None without event."""

    event: str | None = None
    timezone: str | None = None
    organiser: str | None = None
    contact: str | None = None
    language: str | None = None


@dataclass(frozen=True)
class ResolvedLink:
    """A link with its application. `error_class` is the error that an unusable link raises."""

    application: Application
    link: ApplicationLink
    event_context: EventContext
    error_class: type[Gone] | None


def get_link(token: str, purpose: str, *, session: OrmSession | None = None) -> ResolvedLink:
    """The link of a token, usable or not. With a session, link and application are locked. Raises NotFound."""
    statement = link_by_token_query(token, purpose)
    if session is not None:
        # After waiting for a lock, the locked rows are the newest ones, but rows joined to them are as old as the
        # statement. The application is locked first, as everywhere: a different order would cause deadlocks.
        statement = statement.with_for_update(of=[Application, ApplicationLink])
    return build_resolved_link((session or db.session).execute(statement).first())


def build_resolved_link(row: AnyRow | None) -> ResolvedLink:
    """The link in a row that starts with `LINK_COLUMNS`. Raises NotFound if there is no row."""
    if row is None:
        raise NotFound("This link is not one of ours; copy the whole address from the mail.")
    application, link, is_expired, *context_values = row[: len(LINK_COLUMNS)]
    assert isinstance(application, Application) and isinstance(link, ApplicationLink)
    return ResolvedLink(
        application, link, build_event_context(context_values), find_link_error(application, link, bool(is_expired))
    )


def get_active_link(token: str, purpose: str, *, session: OrmSession | None = None) -> ResolvedLink:
    """A usable link. Raises NotFound, LinkExpired, LinkUsed."""
    return require_active_link(get_link(token, purpose, session=session))


def require_active_link(resolved_link: ResolvedLink) -> ResolvedLink:
    """The same link, if it is usable. Raises LinkExpired, LinkUsed."""
    if resolved_link.error_class is not None:
        raise resolved_link.error_class()
    return resolved_link


def find_link_error(application: Application, link: ApplicationLink, is_expired: bool) -> type[Gone] | None:
    """The error of a link that cannot be used; None if it can."""
    if link.used_at is not None:
        return LinkUsed
    return (
        LinkExpired if is_expired or link.replaced_at is not None or application.status in states.ENDED_STATES else None
    )


def renew_links(
    session: OrmSession, application: Application, purposes: Sequence[str], *, shown_to_decider: bool = False
) -> list[ApplicationLink]:
    """New links for these purposes; they replace the valid ones."""
    if not purposes:
        return []
    return list(session.scalars(link_renewal_sql(application.id, purposes, shown_to_decider=shown_to_decider)))


def get_or_renew_link(session: OrmSession, application: Application, purpose: str) -> ApplicationLink:
    """The valid link of this purpose; a new one if there is none."""
    valid_link = session.scalar(
        select(ApplicationLink).where(
            ApplicationLink.application_id == application.id,
            ApplicationLink.purpose == purpose,
            ApplicationLink.replaced_at.is_(None),
            ApplicationLink.used_at.is_(None),
            ApplicationLink.expires_at > func.now(),
        )
    )
    return valid_link or renew_links(session, application, [purpose])[0]


def link_renewal_sql(
    application_id: str, purposes: Sequence[str], *, shown_to_decider: bool = False
) -> ReturningInsert[ApplicationLink]:
    """One statement that ends the valid links and inserts the new ones."""
    replaced_links = (
        update(ApplicationLink)
        .where(
            ApplicationLink.application_id == application_id,
            ApplicationLink.purpose.in_(purposes),
            ApplicationLink.replaced_at.is_(None),
        )
        .values(replaced_at=func.now())
        .returning(ApplicationLink.id)
        .cte("replaced_link")
    )
    new_links = values(
        *(column(name, String) for name in ("id", "purpose", "token_hash")),
        column("lifetime", Interval),
        name="new_link",
    ).data([_build_link_values(application_id, purpose) for purpose in purposes])
    # Counting the replaced links makes PostgreSQL end them first; the unique index allows only one valid link.
    rows = select(
        new_links.c.id,
        new_links.c.purpose,
        new_links.c.token_hash,
        func.now() + new_links.c.lifetime,
        literal(application_id),
        literal(shown_to_decider),
    ).where(select(func.count()).select_from(replaced_links).scalar_subquery() >= 0)
    column_names = ["id", "purpose", "token_hash", "expires_at", "application_id", "shown"]
    return insert(ApplicationLink).from_select(column_names, rows, include_defaults=False).returning(ApplicationLink)


def _build_link_values(application_id: str, purpose: str) -> tuple[str, str, str, timedelta]:
    id = new_id()
    return id, purpose, fingerprint(_derive_token(application_id, purpose, id)), LIFETIMES[purpose]


def list_due_purposes(application: Application) -> list[str]:
    """The purposes for which the application needs a link now."""
    if application.status not in states.ACCEPTED_STATES:
        return []
    if application.status == states.READY:
        return [ACTIVATION]
    is_due_by_purpose = {DOCUMENTS: application.documents_due, PAYMENT: application.payment_due}
    return [purpose for purpose, is_due in is_due_by_purpose.items() if is_due]


def advance_application(session: OrmSession, application: Application) -> list[ApplicationLink]:
    """Moves an approved application to its first outstanding step; without one, a known merchant takes part.

    Returns the new activation link if the application has become ready by this step and not by the approval itself.
    """
    next_status = states.get_outstanding_state(documents=application.documents_due, payment=application.payment_due)
    if next_status == application.status:
        application.version += 1
        return []
    is_just_approved = application.status == states.APPROVED
    application.set_status(next_status)
    if next_status != states.READY or activate_known_merchant(session, application) or is_just_approved:
        return []
    return renew_links(session, application, [ACTIVATION])


def activate_known_merchant(session: OrmSession, application: Application) -> bool:
    """Activates a ready application whose account is a verified merchant: they take part without an activation link.

    False for any other, and while the account is being deleted.
    """
    if application.account_id is None:
        return False
    is_merchant = (
        Account.id == application.account_id,
        Account.email_verified_at.is_not(None),
        Account.roles.contains([MERCHANT]),
    )
    # A deletion locks the account before the application, so this must not wait for it.
    account_query = select(Account.id).where(*is_merchant).with_for_update(key_share=True, skip_locked=True)
    if session.scalar(account_query) is None:
        return False
    application.set_status(states.ACTIVATED)
    application.activated_at = func.now()
    if application.event_id is not None:
        add_participant(
            session,
            event_id=application.event_id,
            merchant_id=application.account_id,
            stall_type=application.stall_type,
            fee_minor=application.amount_minor,
        )
    return True


def build_token(link: ApplicationLink) -> str:
    return _derive_token(link.application_id, link.purpose, link.id)


def _derive_token(application_id: str, purpose: str, id: str) -> str:
    return derived_text("application-link", application_id, purpose, id)


def build_link_url(link: ApplicationLink) -> str:
    """The URL of the page that the link opens."""
    base_url = current_app.extensions["settings"].PUBLIC_BASE_URL
    return f"{base_url}/{PAGE_PATHS[link.purpose]}/{build_token(link)}"


def build_event_context(column_values: Sequence[object]) -> EventContext:
    """The context from the values of `EVENT_CONTEXT_COLUMNS`."""
    return EventContext(*(None if value is None else str(value) for value in column_values))


def join_event_context(statement: LinkQuery) -> LinkQuery:
    """The statement with the tables of `EVENT_CONTEXT_COLUMNS` joined."""
    return (
        statement.outerjoin(Event, Event.id == Application.event_id)
        .outerjoin(Account, Account.id == owner_id_sql(Application.organiser_id))
        .outerjoin(OrganiserProfile, OrganiserProfile.account_id == Application.organiser_id)
    )


def link_by_token_query(token: str, purpose: str) -> LinkQuery:
    """The query of a link by its token; its columns are `LINK_COLUMNS`, and more may be added."""
    statement = (
        select(*LINK_COLUMNS)
        .select_from(ApplicationLink)
        .join(Application, Application.id == ApplicationLink.application_id)
    )
    conditions = (ApplicationLink.token_hash == fingerprint(token), ApplicationLink.purpose == purpose)
    return join_event_context(statement).where(*conditions).execution_options(populate_existing=True)
