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
from app.applications.states import ACCEPTED, DECLINED, EXPIRED, READY, WITHDRAWN
from app.core.db import db
from app.core.errors import Gone, NotFound
from app.core.ids import new_id
from app.core.tokens import derived_text, fingerprint
from app.events.models import Event

DOCUMENTS, PAYMENT, ACTIVATION = "documents", "payment", "activation"
LIFETIMES = {DOCUMENTS: timedelta(days=14), PAYMENT: timedelta(days=14), ACTIVATION: timedelta(days=7)}
PAGES = {DOCUMENTS: "documents", PAYMENT: "pay", ACTIVATION: "activate"}
AROUND = (Event.name, Event.timezone, OrganiserProfile.org_name, Account.email)
OVER = (DECLINED, WITHDRAWN, EXPIRED)


@dataclass(frozen=True, kw_only=True)
class Surroundings:
    """What an applicant is told about where he is: the event, and who organises it."""

    event: str | None = None
    timezone: str | None = None
    organiser: str | None = None
    contact: str | None = None


@dataclass(frozen=True)
class Opened:
    """What stands behind a link."""

    application: Application
    link: ApplicationLink
    around: Surroundings
    death: type[Gone] | None


def behind(token: str, purpose: str, *, session: OrmSession | None = None) -> Opened:
    """What a token leads to, dead or alive; locked when a session is given. Raises NotFound."""
    statement = asked(token, purpose)
    if session is not None:
        # Who has waited for a lock sees the rows that he locks as they are now, and those joined to them as they
        # were. The application comes first, as everywhere: two orders of locking would wait for each other.
        statement = statement.with_for_update(of=[Application, ApplicationLink])
    return found((session or db.session).execute(statement).first())


def found(row: Any) -> Opened:
    """What the row of `asked` leads to. Raises NotFound when there is none."""
    if row is None:
        raise NotFound("This link is not one of ours; copy the whole address from the mail.")
    application, link, late = row[:3]
    return Opened(application, link, around(row[3 : 3 + len(AROUND)]), death(application, link, late))


def opened(token: str, purpose: str, *, session: OrmSession | None = None) -> Opened:
    """What stands behind a living link. Raises NotFound, LinkExpired, LinkUsed."""
    return living(behind(token, purpose, session=session))


def living(opened: Opened) -> Opened:
    """The same, if its link is alive. Raises LinkExpired, LinkUsed."""
    if opened.death is not None:
        raise opened.death()
    return opened


def death(application: Application, link: ApplicationLink, late: bool) -> type[Gone] | None:
    """Why a link no longer opens anything; None while it does."""
    if link.used_at is not None:
        return LinkUsed
    return LinkExpired if late or link.replaced_at is not None or application.status in OVER else None


def renewed(
    session: OrmSession, application: Application, purposes: Sequence[str], *, shown: bool = False
) -> list[ApplicationLink]:
    """A fresh link for each purpose, in place of the living ones."""
    if not purposes:
        return []
    return list(session.scalars(renewal(application.id, purposes, shown=shown)))


def renewal(application_id: str, purposes: Sequence[str], *, shown: bool = False) -> ReturningInsert[Any]:
    """The one statement that ends living links and makes the fresh ones."""
    gone = (
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
    fresh = values(
        *(column(name, String) for name in ("id", "purpose", "token_hash")), column("lives", Interval), name="fresh"
    ).data([_fresh(application_id, purpose) for purpose in purposes])
    # Asking how many are gone makes PostgreSQL end them first: two that live at once would break the index.
    rows = select(
        fresh.c.id,
        fresh.c.purpose,
        fresh.c.token_hash,
        func.now() + fresh.c.lives,
        literal(application_id),
        literal(shown),
    ).where(select(func.count()).select_from(gone).scalar_subquery() >= 0)
    names = ["id", "purpose", "token_hash", "expires_at", "application_id", "shown"]
    return insert(ApplicationLink).from_select(names, rows, include_defaults=False).returning(ApplicationLink)


def _fresh(application_id: str, purpose: str) -> tuple[str, str, str, timedelta]:
    id = new_id()
    return id, purpose, fingerprint(_token(application_id, purpose, id)), LIFETIMES[purpose]


def due(application: Application) -> list[str]:
    """The purposes for which the application needs a link now."""
    if application.status not in ACCEPTED:
        return []
    if application.status == READY:
        return [ACTIVATION]
    wanted = {DOCUMENTS: application.documents_due, PAYMENT: application.payment_due}
    return [purpose for purpose, is_due in wanted.items() if is_due]


def token_of(link: ApplicationLink) -> str:
    return _token(link.application_id, link.purpose, link.id)


def _token(application_id: str, purpose: str, id: str) -> str:
    return derived_text("application-link", application_id, purpose, id)


def address(link: ApplicationLink) -> str:
    """The page that the link opens."""
    base = current_app.extensions["settings"].PUBLIC_BASE_URL
    return f"{base}/{PAGES[link.purpose]}/{token_of(link)}"


def around(columns: Sequence[Any]) -> Surroundings:
    """What the columns of `AROUND` say."""
    return Surroundings(**dict(zip(("event", "timezone", "organiser", "contact"), columns, strict=True)))


def joined(statement: Any) -> Select[Any]:
    """The statement with `AROUND` to select from: joined, never asked one by one."""
    whole: Select[Any] = (
        statement.outerjoin(Event, Event.id == Application.event_id)
        .outerjoin(Account, Account.id == Application.organiser_id)
        .outerjoin(OrganiserProfile, OrganiserProfile.account_id == Application.organiser_id)
    )
    return whole


def asked(token: str, purpose: str) -> Select[Any]:
    """The statement for what stands behind a token; columns may be added to it."""
    statement = (
        select(Application, ApplicationLink, ApplicationLink.expires_at <= func.now(), *AROUND)
        .select_from(ApplicationLink)
        .join(Application, Application.id == ApplicationLink.application_id)
    )
    here = (ApplicationLink.token_hash == fingerprint(token), ApplicationLink.purpose == purpose)
    return joined(statement).where(*here).execution_options(populate_existing=True)
