"""Links that lead an applicant on: 256 bits each, one living link per application and purpose.

A token is a keyed hash of its row, so a mail that goes out twice says the same, and the database holds only the
token's fingerprint: a stolen copy opens nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from flask import current_app
from sqlalchemy import Interval, Select, String, column, func, insert, literal, select, update, values
from sqlalchemy.orm import Session as OrmSession
from sqlalchemy.sql.dml import ReturningInsert

from app.accounts.models import Account, OrganiserProfile
from app.applications.errors import LinkExpired, LinkUsed
from app.applications.models import Application, ApplicationLink
from app.applications.states import ACCEPTED_STATES, DECLINED, EXPIRED, READY, WITHDRAWN
from app.core.db import db
from app.core.errors import Gone, NotFound
from app.core.ids import new_id
from app.core.tokens import derived_text, fingerprint
from app.events.models import Event

DOCUMENTS, PAYMENT, ACTIVATION = "documents", "payment", "activation"
LIFETIMES = {DOCUMENTS: timedelta(days=14), PAYMENT: timedelta(days=14), ACTIVATION: timedelta(days=7)}
PAGE_PATHS = {DOCUMENTS: "documents", PAYMENT: "pay", ACTIVATION: "activate"}
EVENT_CONTEXT_COLUMNS = (Event.name, Event.timezone, OrganiserProfile.org_name, Account.email)
ENDED_STATES = (DECLINED, WITHDRAWN, EXPIRED)


@dataclass(frozen=True, kw_only=True)
class EventContext:
    """What an applicant is told about where they are: the event, and who organises it."""

    event: str | None = None
    timezone: str | None = None
    organiser: str | None = None
    contact: str | None = None


@dataclass(frozen=True)
class ResolvedLink:
    """What stands behind a link."""

    application: Application
    link: ApplicationLink
    event_context: EventContext
    error_class: type[Gone] | None


def get_link(token: str, purpose: str, *, session: OrmSession | None = None) -> ResolvedLink:
    """What a token leads to, dead or alive; locked when a session is given. Raises NotFound."""
    statement = link_by_token_query(token, purpose)
    if session is not None:
        # Who has waited for a lock sees the rows that they lock as they are now, and those joined to them as they
        # were. The application comes first, as everywhere: two orders of locking would wait for each other.
        statement = statement.with_for_update(of=[Application, ApplicationLink])
    return build_resolved_link((session or db.session).execute(statement).first())


def build_resolved_link(row: Any) -> ResolvedLink:
    """What the row of `asked` leads to. Raises NotFound when there is none."""
    if row is None:
        raise NotFound("This link is not one of ours; copy the whole address from the mail.")
    application, link, is_expired = row[:3]
    return ResolvedLink(
        application,
        link,
        build_event_context(row[3 : 3 + len(EVENT_CONTEXT_COLUMNS)]),
        find_link_error(application, link, is_expired),
    )


def get_active_link(token: str, purpose: str, *, session: OrmSession | None = None) -> ResolvedLink:
    """What stands behind a living link. Raises NotFound, LinkExpired, LinkUsed."""
    return require_active_link(get_link(token, purpose, session=session))


def require_active_link(resolved_link: ResolvedLink) -> ResolvedLink:
    """The same, if its link is alive. Raises LinkExpired, LinkUsed."""
    if resolved_link.error_class is not None:
        raise resolved_link.error_class()
    return resolved_link


def find_link_error(application: Application, link: ApplicationLink, is_expired: bool) -> type[Gone] | None:
    """Why a link no longer opens anything; None while it does."""
    if link.used_at is not None:
        return LinkUsed
    return LinkExpired if is_expired or link.replaced_at is not None or application.status in ENDED_STATES else None


def renew_links(
    session: OrmSession, application: Application, purposes: Sequence[str], *, shown_to_decider: bool = False
) -> list[ApplicationLink]:
    """A fresh link for each purpose, in place of the living ones."""
    if not purposes:
        return []
    return list(session.scalars(link_renewal_sql(application.id, purposes, shown_to_decider=shown_to_decider)))


def link_renewal_sql(
    application_id: str, purposes: Sequence[str], *, shown_to_decider: bool = False
) -> ReturningInsert[Any]:
    """The one statement that ends living links and makes the fresh ones."""
    ended_links = (
        update(ApplicationLink)
        .where(
            ApplicationLink.application_id == application_id,
            ApplicationLink.purpose.in_(purposes),
            ApplicationLink.replaced_at.is_(None),
        )
        .values(replaced_at=func.now())
        .returning(ApplicationLink.id)
        .cte("gone")
    )
    new_links = values(
        *(column(name, String) for name in ("id", "purpose", "token_hash")), column("lives", Interval), name="fresh"
    ).data([_build_link_values(application_id, purpose) for purpose in purposes])
    # Asking how many are gone makes PostgreSQL end them first: two that live at once would break the index.
    rows = select(
        new_links.c.id,
        new_links.c.purpose,
        new_links.c.token_hash,
        func.now() + new_links.c.lives,
        literal(application_id),
        literal(shown_to_decider),
    ).where(select(func.count()).select_from(ended_links).scalar_subquery() >= 0)
    column_names = ["id", "purpose", "token_hash", "expires_at", "application_id", "shown"]
    return insert(ApplicationLink).from_select(column_names, rows, include_defaults=False).returning(ApplicationLink)


def _build_link_values(application_id: str, purpose: str) -> tuple[str, str, str, timedelta]:
    id = new_id()
    return id, purpose, fingerprint(_derive_token(application_id, purpose, id)), LIFETIMES[purpose]


def list_due_purposes(application: Application) -> list[str]:
    """The purposes for which the application needs a link now."""
    if application.status not in ACCEPTED_STATES:
        return []
    if application.status == READY:
        return [ACTIVATION]
    is_due_by_purpose = {DOCUMENTS: application.documents_due, PAYMENT: application.payment_due}
    return [purpose for purpose, is_due in is_due_by_purpose.items() if is_due]


def build_token(link: ApplicationLink) -> str:
    return _derive_token(link.application_id, link.purpose, link.id)


def _derive_token(application_id: str, purpose: str, id: str) -> str:
    return derived_text("application-link", application_id, purpose, id)


def build_link_url(link: ApplicationLink) -> str:
    """The page that the link opens."""
    base_url = current_app.extensions["settings"].PUBLIC_BASE_URL
    return f"{base_url}/{PAGE_PATHS[link.purpose]}/{build_token(link)}"


def build_event_context(columns: Sequence[Any]) -> EventContext:
    """What the columns of `AROUND` say."""
    return EventContext(**dict(zip(("event", "timezone", "organiser", "contact"), columns, strict=True)))


def join_event_context(statement: Any) -> Select[Any]:
    """The statement with `AROUND` to select from: joined, never asked one by one."""
    joined_statement: Select[Any] = (
        statement.outerjoin(Event, Event.id == Application.event_id)
        .outerjoin(Account, Account.id == Application.organiser_id)
        .outerjoin(OrganiserProfile, OrganiserProfile.account_id == Application.organiser_id)
    )
    return joined_statement


def link_by_token_query(token: str, purpose: str) -> Select[Any]:
    """The statement for what stands behind a token; columns may be added to it."""
    statement = (
        select(Application, ApplicationLink, ApplicationLink.expires_at <= func.now(), *EVENT_CONTEXT_COLUMNS)
        .select_from(ApplicationLink)
        .join(Application, Application.id == ApplicationLink.application_id)
    )
    conditions = (ApplicationLink.token_hash == fingerprint(token), ApplicationLink.purpose == purpose)
    return join_event_context(statement).where(*conditions).execution_options(populate_existing=True)
