"""The answer to an invitation link that was mailed to one address: declining it. Accepting it is an application."""

from sqlalchemy import func, select, update

from app.audit.actions import Action
from app.audit.log import record
from app.core.errors import NotFound
from app.core.outbox import enqueue
from app.core.transaction import transaction
from app.events.models import Event
from app.invitations.models import InviteLink
from app.invitations.queries import ERROR_BY_LINK_STATE, parse_slug
from app.invitations.sql import link_state_sql
from app.invitations.states import LINK_DECLINED, OPEN


def decline_link(*, slug: str) -> None:
    """Ends a link that was mailed to one address, and mails the organiser. Declining again changes nothing.

    The address can be invited again. Raises NotFound, also for a link without an address, and InviteExpired,
    InviteWithdrawn, InviteUsed.
    """
    link_id = parse_slug(slug)
    with transaction() as session:
        # One conditional UPDATE, like that of an application: of both at once, one finds the link open.
        declined = (
            update(InviteLink)
            .where(
                InviteLink.id == link_id,
                InviteLink.email.is_not(None),
                Event.id == InviteLink.event_id,
                link_state_sql() == OPEN,
            )
            .values(declined_at=func.now(), invited_address=None)
            .returning(InviteLink.event_id)
        )
        event_id = session.scalars(declined, execution_options={"synchronize_session": False}).first()
        if event_id is None:
            state_query = select(link_state_sql()).select_from(InviteLink).join(Event, Event.id == InviteLink.event_id)
            state = session.scalar(state_query.where(InviteLink.id == link_id))
            if state == LINK_DECLINED:
                return
            raise ERROR_BY_LINK_STATE.get(state or "", NotFound)()
        record(session, Action.INVITE_LINK_DECLINED, event_id=event_id, subject=link_id)
        enqueue("invitations.mail_link_declined", key=f"invite-link-declined-{link_id}", link_id=link_id)
