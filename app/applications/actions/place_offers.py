"""Offers of a place, and the answers: accepting one approves the application in the organiser's name."""

from sqlalchemy import func, select

from app.accounts.caller import Caller
from app.applications import links, states
from app.applications.actions.decisions import approve, build_kept_terms
from app.applications.emails import build_email_jobs
from app.applications.errors import ApplicationsClosed, LinkUsed, PlaceOfferChanged, PlaceOfferEnded, StallTypeFull
from app.applications.link_queries import PlaceOfferPage, build_place_offer_page
from app.applications.models import Application
from app.applications.queries import can_decide_sql, record_application_act
from app.applications.stall_types import HAS_OPEN_OFFER_SQL, count_places_left
from app.applications.waitlist import build_offer_jobs, offer_place_to_next
from app.audit.actions import Action
from app.core.db import ReadOrWriteSession
from app.core.errors import NotFound
from app.core.languages import find_page_language
from app.core.outbox import enqueue_all
from app.core.transaction import transaction
from app.events.models import Event
from app.invitations.sql import is_event_open_sql

NO_OFFER = "This application is not next in line, has had its offer, has no address, or the event is too soon for one."


def answer_offer(*, token: str, answer: str, fee_minor: int | None = None) -> PlaceOfferPage:
    """Accepts or declines the offered place. The same answer again changes nothing.

    `fee_minor` is the fee that the applicant has seen; with another one the place is not accepted. Raises NotFound,
    PlaceOfferEnded, PlaceOfferChanged, LinkUsed after the other answer, ApplicationsClosed if the event is cancelled or
    archived.
    """
    with transaction() as session:
        resolved_link = links.get_link(token, links.OFFER, session=session)
        application, link = resolved_link.application, resolved_link.link
        if link.used_at is not None:
            if link.answer != answer:
                raise LinkUsed()
            return build_place_offer_page(resolved_link)
        if resolved_link.error_class is not None or application.status != states.WAITLISTED:
            raise PlaceOfferEnded()
        if answer == states.ACCEPTED and fee_minor not in (None, application.amount_minor):
            raise PlaceOfferChanged(amountMinor=application.amount_minor)
        link.used_at, link.answer = func.now(), answer
        application.language = find_page_language() or application.language
        if answer == states.ACCEPTED:
            _accept(session, application)
        else:
            _decline(session, application)
        return build_place_offer_page(resolved_link)


def offer_place(caller: Caller, id: str) -> None:
    """Offers a free place to an application that is next in line, by mail. One that has an open offer keeps it.

    Raises NotFound, StepNotAllowed, StallTypeFull, SenderNotVerified, MailLimitReached.
    """
    with transaction() as session:
        # Not locked: the stall type is locked before its applications, as whenever a place is offered.
        row = session.execute(
            select(Application.status, Application.event_id, Application.stall_type, HAS_OPEN_OFFER_SQL).where(
                Application.id == id, can_decide_sql(caller)
            )
        ).first()
        if row is None:
            raise NotFound()
        status, event_id, stall_type, has_open_offer = row
        if status != states.WAITLISTED or event_id is None or stall_type is None:
            raise states.StepNotAllowed(status=status)
        if has_open_offer or offer_place_to_next(session, event_id, stall_type, expected_id=id):
            return
        if count_places_left(session, event_id, stall_type) == 0:
            raise StallTypeFull()
        raise states.StepNotAllowed(NO_OFFER, status=status)


def _accept(session: ReadOrWriteSession, application: Application) -> None:
    """Raises ApplicationsClosed."""
    event_query = select(Event.organiser_id).where(Event.id == application.event_id, is_event_open_sql())
    organiser_id = session.scalar(event_query)
    if organiser_id is None:
        raise ApplicationsClosed()
    record_application_act(session, Action.PLACE_ACCEPTED, application)
    approve(session, application, organiser_id, build_kept_terms(application), is_new=True, has_place=True)


def _decline(session: ReadOrWriteSession, application: Application) -> None:
    jobs = build_offer_jobs(application)
    application.set_status(states.DECLINED)
    application.decision, application.decided_at = states.DECLINED, func.now()
    record_application_act(session, Action.PLACE_DECLINED, application)
    enqueue_all([*build_email_jobs("application_offer_ended", application), *jobs])
