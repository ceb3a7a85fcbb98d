"""Links by which anybody who holds one can apply for a stall."""

from typing import Any

from sqlalchemy import func, update
from sqlalchemy.orm import Session as OrmSession

from app.accounts.caller import Caller
from app.core.errors import NotFound
from app.core.outbox import enqueue
from app.core.transaction import transaction
from app.invitations.errors import InviteUsed
from app.invitations.inviting import inviting_event, terms
from app.invitations.models import InviteLink
from app.invitations.slugs import id_of, slug_of, url_of
from app.invitations.states import OPEN, REVOKED


def make_link(
    *,
    caller: Caller,
    event_id: str,
    email: str | None = None,
    business_name: str | None = None,
    max_uses: int | None = None,
    **sent: Any,
) -> dict[str, Any]:
    """A new link with its terms, mailed when there is an address; such a link counts once unless told otherwise.

    Raises NotFound, EventClosed, ValidationFailed.
    """
    with transaction() as session:
        event = inviting_event(session, caller, event_id)
        link = InviteLink(
            event_id=event_id,
            made_by=caller.id,
            email=email,
            business_name=business_name or None,
            max_uses=max_uses or (1 if email else None),
            **terms(event, sent),
        )
        session.add(link)
        session.flush()
        if email:
            enqueue("invitations.mail_link", key=f"invite-link-{link.id}", link_id=link.id)
    return {**_shown(link), "state": OPEN, "mailed": email is not None}


def withdraw_link(*, caller: Caller, event_id: str, slug: str) -> dict[str, Any]:
    """Ends a link; ending it again changes nothing. Raises NotFound, EventClosed."""
    with transaction() as session:
        inviting_event(session, caller, event_id)
        statement = update(InviteLink).where(InviteLink.id == id_of(slug), InviteLink.event_id == event_id)
        link = session.scalar(
            statement.values(revoked_at=func.coalesce(InviteLink.revoked_at, func.now())).returning(InviteLink)
        )
        if link is None:
            raise NotFound()
        return {**_shown(link), "state": REVOKED, "mailed": False}


def use_link(session: OrmSession, link_id: str) -> None:
    """Counts one application by a link, in the open transaction. Raises InviteUsed when all uses are taken."""
    statement = update(InviteLink).where(
        InviteLink.id == link_id, func.coalesce(InviteLink.uses < InviteLink.max_uses, True)
    )
    counted = session.execute(
        statement.values(uses=InviteLink.uses + 1)
        .returning(InviteLink.id)
        .execution_options(synchronize_session=False)
    )  # fmt: skip
    if counted.first() is None:
        raise InviteUsed()


def _shown(link: InviteLink) -> dict[str, Any]:
    own = {each.key: getattr(link, each.key) for each in InviteLink.__table__.columns}
    return {**own, "slug": slug_of(link.id), "url": url_of(link.id)}
