"""Links by which an applicant goes on: one valid link per application and purpose, with a token of 256 bits.

A token is a keyed hash of its row, so a repeated mail has the same link. The database stores only the token's
fingerprint: a stolen copy opens nothing. `advance_application` decides which step, and so which link, is next.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from flask import current_app
from sqlalchemy import (
    ColumnElement,
    Row,
    Select,
    String,
    and_,
    case,
    cast,
    column,
    func,
    insert,
    literal,
    select,
    update,
    values,
)
from sqlalchemy.orm import Session as OrmSession
from sqlalchemy.sql.dml import ReturningInsert

from app.accounts.models import Account, OrganiserProfile
from app.accounts.organisation_details import contact_sql
from app.accounts.permissions import MERCHANT
from app.accounts.queries import owner_id_sql
from app.applications import calendar, states
from app.applications.calendar import (
    EVENT_CALENDAR_COLUMNS,
    LAST_OFFER_BEFORE_EVENT,
    TIME_TO_ACTIVATE,
    Deadline,
    EventCalendar,
)
from app.applications.errors import LinkExpired, LinkUsed
from app.applications.models import Application, ApplicationLink
from app.applications.states import ACTIVATION as ACTIVATION
from app.applications.states import DOCUMENTS as DOCUMENTS
from app.applications.states import OFFER as OFFER
from app.applications.states import PAYMENT as PAYMENT
from app.core.db import Timestamp, db
from app.core.errors import Gone, NotFound
from app.core.ids import new_id
from app.core.tokens import derived_text, fingerprint
from app.events.models import Event
from app.events.visibility import CANCELLED
from app.invitations.participation import add_participant

PAGE_PATHS = {DOCUMENTS: "documents", PAYMENT: "pay", ACTIVATION: "activate", OFFER: "place-offer"}
EVENT_CONTEXT_COLUMNS = (
    *EVENT_CALENDAR_COLUMNS,
    Event.name,
    OrganiserProfile.org_name,
    contact_sql(Application.organiser_id),
    Account.email,
    Account.language,
    OrganiserProfile.transfers_only,
    Event.visibility == CANCELLED,
)
"""The fields of `EventCalendar` and of `EventContext` after it."""
LAST_OFFER_END_SQL = case((ApplicationLink.purpose == OFFER, Event.starts_at - LAST_OFFER_BEFORE_EVENT))
IS_OVER_SQL = func.least(ApplicationLink.expires_at, LAST_OFFER_END_SQL) <= func.now()
"""True for a link that has ended, in a query that joins Event: an offer ends two days before an event that has moved."""
LINK_COLUMNS = (Application, ApplicationLink, IS_OVER_SQL, *EVENT_CONTEXT_COLUMNS)

LinkQuery = Select[*tuple[object, ...]]
AnyRow = Row[*tuple[object, ...]]


@dataclass(frozen=True)
class EventContext:
    """The event's days and name, the organisation's name and contact address, and the owner's address and language.

    They are None without an event. With `transfers_only` nobody pays the fee from a mobile wallet.
    """

    calendar: EventCalendar
    event: str | None = None
    organiser: str | None = None
    contact: str | None = None
    owner_email: str | None = None
    language: str | None = None
    transfers_only: bool = field(default=False, kw_only=True)
    is_cancelled: bool = field(default=False, kw_only=True)

    @property
    def timezone(self) -> str | None:
        return self.calendar.timezone


@dataclass(frozen=True)
class ResolvedLink:
    """A link with its application. `error_class` is the error that an unusable link raises."""

    application: Application
    link: ApplicationLink
    event_context: EventContext
    error_class: type[Gone] | None

    @property
    def deadline(self) -> Deadline:
        """When the purpose of the link is due, and when the link ends."""
        return build_link_deadline(self.link, self.application, self.event_context)


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
    link_ends: dict[str, datetime | None] = dict.fromkeys(purposes)
    if set(purposes) != {ACTIVATION}:
        session.flush()  # The decision may be of this moment; then the database sets its time.
        application, starts_at, ends_at, timezone, now = session.execute(
            select(Application, *EVENT_CALENDAR_COLUMNS)
            .outerjoin(Event, Event.id == Application.event_id)
            .where(Application.id == application.id)
        ).one()
        event_calendar = EventCalendar(starts_at, ends_at, timezone, now)
        link_ends = {
            purpose: calendar.calculate_link_end(
                purpose,
                event_calendar,
                decided_at=application.get_due_since(purpose),
                scheduled_for=application.scheduled_for,
            )
            for purpose in purposes
        }
    return list(session.scalars(link_renewal_sql(application.id, link_ends, shown_to_decider=shown_to_decider)))


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
    application_id: str, link_ends: Mapping[str, datetime | None], *, shown_to_decider: bool = False
) -> ReturningInsert[ApplicationLink]:
    """One statement that ends the valid links and inserts the new ones, by their purposes with the end of each.

    An activation needs no end: its link ends after a week, or with the event.
    """
    replaced_links = (
        update(ApplicationLink)
        .where(
            ApplicationLink.application_id == application_id,
            ApplicationLink.purpose.in_(list(link_ends)),
            ApplicationLink.replaced_at.is_(None),
        )
        .values(replaced_at=func.now())
        .returning(ApplicationLink.id)
        .cte("replaced_link")
    )
    new_links = values(
        *(column(name, String) for name in ("id", "purpose", "token_hash")),
        column("link_end", Timestamp),
        name="new_link",
    ).data([_build_link_values(application_id, purpose, link_end) for purpose, link_end in link_ends.items()])
    event_end = (
        select(Event.ends_at)
        .join(Application, Application.event_id == Event.id)
        .where(Application.id == application_id)
        .scalar_subquery()
    )
    # Counting the replaced links makes PostgreSQL end them first; the unique index allows only one valid link.
    rows = select(
        new_links.c.id,
        new_links.c.purpose,
        new_links.c.token_hash,
        func.least(func.coalesce(cast(new_links.c.link_end, Timestamp), func.now() + TIME_TO_ACTIVATE), event_end),
        literal(application_id),
        literal(shown_to_decider),
    ).where(select(func.count()).select_from(replaced_links).scalar_subquery() >= 0)
    column_names = ["id", "purpose", "token_hash", "expires_at", "application_id", "shown"]
    return insert(ApplicationLink).from_select(column_names, rows, include_defaults=False).returning(ApplicationLink)


def _build_link_values(
    application_id: str, purpose: str, link_end: datetime | None
) -> tuple[str, str, str, datetime | None]:
    id = new_id()
    return id, purpose, fingerprint(_derive_token(application_id, purpose, id)), link_end


def build_link_deadline(link: ApplicationLink, application: Application, event_context: EventContext) -> Deadline:
    """When the purpose of a link is due, and when the link ends."""
    return calendar.build_deadline(
        link.purpose,
        link.expires_at,
        event_context.calendar,
        decided_at=application.get_due_since(link.purpose),
        scheduled_for=application.scheduled_for,
    )


def insert_offer_link(session: OrmSession, application: Application, offer_end: datetime) -> ApplicationLink:
    """The link of the only offer that an application gets."""
    id = new_id()
    link = ApplicationLink(id=id, application_id=application.id, purpose=OFFER, expires_at=offer_end)
    link.token_hash = fingerprint(_derive_token(application.id, OFFER, id))
    session.add(link)
    session.flush()
    return link


def is_unanswered_offer(application_id: str) -> ColumnElement[bool]:
    """The condition of the link of an application's offer that has no answer and was not ended."""
    return and_(
        ApplicationLink.application_id == application_id,
        ApplicationLink.purpose == OFFER,
        ApplicationLink.used_at.is_(None),
        ApplicationLink.replaced_at.is_(None),
    )


def renew_open_offer(session: OrmSession, application: Application) -> list[ApplicationLink]:
    """The link of the open offer with a new token, in place of the one that was mailed; none without an open offer.

    It stays the same row: an application gets one offer only.
    """
    id = new_id()
    renewal = (
        update(ApplicationLink)
        .where(is_unanswered_offer(application.id), ApplicationLink.expires_at > func.now())
        .values(id=id, token_hash=fingerprint(_derive_token(application.id, OFFER, id)))
        .returning(ApplicationLink)
    )
    return list(session.scalars(renewal.execution_options(synchronize_session=False)))


def list_due_purposes(application: Application) -> list[str]:
    """The purposes for which the application needs a link now."""
    if application.status == states.ACTIVATED:
        return [DOCUMENTS] if application.documents_due else []
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
    starts_at, ends_at, timezone, now, *texts, transfers_only, is_cancelled = column_values
    assert isinstance(starts_at, datetime | None) and isinstance(ends_at, datetime | None)
    assert isinstance(timezone, str | None) and isinstance(now, datetime)
    event_calendar = EventCalendar(starts_at, ends_at, timezone, now)
    lines = (None if value is None else str(value) for value in texts)
    return EventContext(event_calendar, *lines, transfers_only=bool(transfers_only), is_cancelled=bool(is_cancelled))


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
