"""What pages show beside what the API tells: why a link is dead, and where the next one leads."""

from dataclasses import dataclass

from sqlalchemy import func, select

from app.applications import links
from app.applications.errors import LinkUsed
from app.applications.models import ApplicationLink
from app.core.addresses import masked
from app.core.db import db


@dataclass(frozen=True)
class Dead:
    """A link that no longer opens anything, and what can be done about it."""

    event: str | None
    business: str | None
    contact: str | None
    used: bool
    over: bool
    address: str | None

    @property
    def can_ask(self) -> bool:
        """Whether a fresh link can be mailed."""
        return not self.used and not self.over and self.address is not None


def dead(token: str, purpose: str) -> Dead:
    """Why the link is dead. Raises NotFound."""
    found = links.behind(token, purpose)
    application = found.application
    return Dead(
        event=found.around.event,
        business=application.business_name,
        contact=found.around.contact,
        used=found.death is LinkUsed,
        over=application.status in links.OVER,
        address=masked(application.email) if application.email else None,
    )


def payment_path(application_id: str) -> str | None:
    """The page of the living payment link, for somebody who has just handed his documents in."""
    link = db.session.scalar(
        select(ApplicationLink).where(
            ApplicationLink.application_id == application_id,
            ApplicationLink.purpose == links.PAYMENT,
            ApplicationLink.replaced_at.is_(None),
            ApplicationLink.expires_at > func.now(),
        )
    )
    return f"/{links.PAGES[links.PAYMENT]}/{links.token_of(link)}" if link else None
