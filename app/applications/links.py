"""Links that lead an applicant on: 256 bits each, one living link per application and purpose.

A token is a keyed hash of its row, so a mail that goes out twice says the same, and the database holds only the
token's fingerprint: a stolen copy opens nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from flask import current_app
from sqlalchemy import Select, func, select, update
from sqlalchemy.orm import Session as OrmSession

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
    if session is not None:
        _lock(session, token)
    statement = _asked(token, purpose).execution_options(populate_existing=True)
    row = (session or db.session).execute(statement).first()
    if row is None:
        raise NotFound("This link is not one of ours; copy the whole address from the mail.")
    application, link, late = row[:3]
    return Opened(application, link, around(row[3:]), _death(application, link, late))


def opened(token: str, purpose: str, *, session: OrmSession | None = None) -> Opened:
    """What stands behind a living link. Raises NotFound, LinkExpired, LinkUsed."""
    found = behind(token, purpose, session=session)
    if found.death is not None:
        raise found.death()
    return found


def renewed(session: OrmSession, application: Application, purpose: str, *, shown: bool = False) -> ApplicationLink:
    """A fresh link in place of the living one."""
    session.execute(
        update(ApplicationLink)
        .where(
            ApplicationLink.application_id == application.id,
            ApplicationLink.purpose == purpose,
            ApplicationLink.replaced_at.is_(None),
        )
        .values(replaced_at=func.now())
        .execution_options(synchronize_session=False)
    )
    link = ApplicationLink(id=new_id(), application_id=application.id, purpose=purpose, shown=shown)
    link.token_hash = fingerprint(token_of(link))
    link.expires_at = func.now() + LIFETIMES[purpose]
    session.add(link)
    session.flush()
    return link


def due(application: Application) -> list[str]:
    """The purposes for which the application needs a link now."""
    if application.status not in ACCEPTED:
        return []
    if application.status == READY:
        return [ACTIVATION]
    wanted = {DOCUMENTS: application.documents_due, PAYMENT: application.payment_due}
    return [purpose for purpose, is_due in wanted.items() if is_due]


def token_of(link: ApplicationLink) -> str:
    return derived_text("application-link", link.application_id, link.purpose, link.id)


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


def _lock(session: OrmSession, token: str) -> None:
    """Locks the application alone, in a statement of its own.

    Who has waited for a lock sees the locked row as it is now, but rows joined to it as they were before the wait.
    """
    session.execute(
        select(Application.id)
        .join(ApplicationLink, ApplicationLink.application_id == Application.id)
        .where(ApplicationLink.token_hash == fingerprint(token))
        .with_for_update(of=Application)
    )


def _asked(token: str, purpose: str) -> Select[Any]:
    statement = (
        select(Application, ApplicationLink, ApplicationLink.expires_at <= func.now(), *AROUND)
        .select_from(ApplicationLink)
        .join(Application, Application.id == ApplicationLink.application_id)
    )
    return joined(statement).where(ApplicationLink.token_hash == fingerprint(token), ApplicationLink.purpose == purpose)


def _death(application: Application, link: ApplicationLink, late: bool) -> type[Gone] | None:
    if link.used_at is not None:
        return LinkUsed
    return LinkExpired if late or link.replaced_at is not None or application.status in OVER else None
