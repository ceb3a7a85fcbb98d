"""Applications of merchants who accepted an invitation from the directory with a fee: they take part once it is settled.

The acceptance takes a place of the stall type, with or without a fee.
"""

from typing import NamedTuple

from sqlalchemy import exists, func, select, update

from app.accounts.models import Account
from app.applications import links, states
from app.applications.emails import enqueue_email
from app.applications.errors import HasStall
from app.applications.models import Application
from app.applications.stall_types import check_place_left
from app.core.db import ReadOrWriteSession
from app.events.models import Event
from app.invitations.acceptance_hooks import on_invite_accepted
from app.invitations.models import EventInvite, Participation
from app.invitations.participation import end_participation, lock_participation
from app.invitations.states import ACCEPTED, WITHDRAWN
from app.merchants.models import MerchantProfile


class StallTerms(NamedTuple):
    """The stall type and the fee of a participant."""

    stall_type: str | None
    fee_minor: int | None


@on_invite_accepted
def request_invite_fee(session: ReadOrWriteSession, invite: EventInvite) -> bool:
    """Takes a place for the merchant. With a fee, makes their application and mails the payment link.

    Returns whether there is a fee. Raises StallTypeFull, and HasStall if the merchant would pay for a second one.
    """
    if invite.fee_minor and _has_stall(session, invite):
        raise HasStall()
    check_place_left(session, invite.event_id, invite.stall_type, merchant_id=invite.merchant_id)
    if not invite.fee_minor:
        return False
    application = _build_application(session, invite, invite.fee_minor)
    session.add(application)
    links.advance_application(session, application)
    session.flush()
    (payment_link,) = links.renew_links(session, application, [links.PAYMENT])
    enqueue_email("application_fee_due", application, payment_link)
    return True


def _has_stall(session: ReadOrWriteSession, invite: EventInvite) -> bool:
    """Whether the merchant takes part in the event, or is on the way there. Acceptances hold the merchant's lock."""
    takes_part = exists().where(
        Participation.event_id == invite.event_id, Participation.merchant_id == invite.merchant_id
    )
    is_accepted = exists().where(
        Application.event_id == invite.event_id,
        Application.account_id == invite.merchant_id,
        Application.status.in_(states.ACCEPTED_STATES),
    )
    return bool(session.scalar(select(takes_part | is_accepted)))


def _build_application(session: ReadOrWriteSession, invite: EventInvite, fee_minor: int) -> Application:
    """The application of the merchant's account, approved by the organiser who invited them; it needs no documents."""
    account, business_name, organiser_id = session.execute(
        select(Account, MerchantProfile.business_name, Event.organiser_id)
        .select_from(Account)
        .join(Event, Event.id == invite.event_id)
        .outerjoin(MerchantProfile, MerchantProfile.account_id == Account.id)
        .where(Account.id == invite.merchant_id)
    ).one()
    application = Application(
        status=states.SUBMITTED,
        version=1,
        account_id=invite.merchant_id,
        event_id=invite.event_id,
        organiser_id=organiser_id,
        event_invite_id=invite.id,
        business_name=business_name,
        contact_name=account.name,
        email=account.email,
        phone=account.phone,
        stall_type=invite.stall_type,
        amount_minor=fee_minor,
        destination="payrail",
        mode="now",
        documents_required=[],
    )
    application.set_status(states.APPROVED)
    application.decision, application.decided_by, application.decided_at = (
        states.APPROVED,
        invite.invited_by,
        func.now(),
    )
    return application


def withdraw_accepted_invite(session: ReadOrWriteSession, application: Application) -> None:
    """Withdraws the invitation of an application that ends, so that the merchant can be invited again."""
    if application.event_invite_id is None:
        return
    session.execute(
        update(EventInvite)
        .where(
            EventInvite.id == application.event_invite_id,
            EventInvite.event_id == application.event_id,
            EventInvite.status == ACCEPTED,
        )
        .values(status=WITHDRAWN, version=EventInvite.version + 1)
        .execution_options(synchronize_session=False)
    )


def end_stall(session: ReadOrWriteSession, application: Application) -> None:
    """Ends the participation that an activated application has made, which is declined now.

    If the merchant has another activated application for the event, or a free invitation that they accepted, they go on
    taking part by its terms. Raises StallHasShifts.
    """
    if application.event_id is None or application.account_id is None:
        return
    participation = lock_participation(session, application.event_id, application.account_id)
    if participation is None:
        return
    session.flush()
    terms = find_other_terms(session, application)
    if terms is None:
        end_participation(session, participation)
    else:
        participation.stall_type, participation.fee_minor = terms


def find_other_terms(session: ReadOrWriteSession, application: Application) -> StallTerms | None:
    """The terms by which the merchant takes part in the event besides this application; None if there are none."""
    activated = select(Application.stall_type, Application.amount_minor).where(
        Application.event_id == application.event_id,
        Application.account_id == application.account_id,
        Application.status == states.ACTIVATED,
        Application.id != application.id,
    )
    free_invite = select(EventInvite.stall_type, EventInvite.fee_minor).where(
        EventInvite.event_id == application.event_id,
        EventInvite.merchant_id == application.account_id,
        EventInvite.status == ACCEPTED,
        func.coalesce(EventInvite.fee_minor, 0) == 0,
    )
    row = session.execute(activated.order_by(Application.activated_at)).first() or session.execute(free_invite).first()
    return StallTerms(*row) if row else None
