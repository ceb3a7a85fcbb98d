"""The decision about an application, its withdrawal by the applicant, and new links for the steps that are due.

A decider who asks for a link sees it; an applicant gets it only by mail.
"""

from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import TypedDict, Unpack
from zoneinfo import ZoneInfo

from sqlalchemy import func, select

from app.accounts.caller import Caller
from app.accounts.outgoing_mail import count_mails, load_sender
from app.applications import documents, links, stall_payments, states, waitlist
from app.applications.accepted_invites import end_stall, withdraw_accepted_invite
from app.applications.actions.fees import remove_waiver
from app.applications.calendar import EVENT_CALENDAR_COLUMNS, EventCalendar, end_of_day
from app.applications.carried_documents import build_carry_jobs
from app.applications.emails import build_activated_email_jobs, build_email_jobs, enqueue_email
from app.applications.errors import AlreadyDecided, NothingDue, NotWithdrawable
from app.applications.links import advance_application
from app.applications.models import Application
from app.applications.open_events import check_event_open
from app.applications.queries import can_decide_sql, lock_application, record_application_act
from app.applications.stall_types import check_place_left
from app.applications.states import StepNotAllowed
from app.audit.actions import Action
from app.core import throttle
from app.core.clock import rfc3339
from app.core.db import ReadOrWriteSession, database_now
from app.core.errors import StaleVersion, Throttled, ValidationFailed
from app.core.formatting import HOME
from app.core.languages import find_page_language
from app.core.outbox import enqueue_all
from app.core.throttle import Rule
from app.core.transaction import transaction
from app.events.models import Event
from app.invoicing.transfers import check_pay_by

GAP_LIMIT = Rule("application-link-gap", 1, timedelta(seconds=60))
DAILY_LIMIT = Rule("application-links-a-day", 5, timedelta(days=1))
REVISIONS = ((states.APPROVED, states.DECLINED), (states.DECLINED, states.SUBMITTED))
FEE_STATES = (states.SUBMITTED, states.WAITLISTED, states.AWAITING_DOCUMENTS, states.AWAITING_PAYMENT)


@dataclass(frozen=True)
class SentLink:
    """A new link as its decider sees it; `mailed_to` is None without an email."""

    purpose: str
    url: str
    expires_at: datetime
    mailed_to: str | None


class DecisionFields(TypedDict, total=False):
    """What a decider may say besides the decision. `reason` goes to the audit trail only."""

    fee_minor: int | None
    pay_by: date | None
    reason: str | None
    override_quota: bool
    documents_required: list[str] | None
    decline_reason: str | None
    reviewer_notes: str | None
    risk_level: str | None
    waitlist_rank: int | None


def decide_application(
    caller: Caller, id: str, *, decision: str, expected_version: int | None = None, **fields: Unpack[DecisionFields]
) -> None:
    """Approves, declines, or puts on the waitlist.

    The same decision again changes nothing; of two simultaneous decisions the first counts.

    An approval takes a place of the stall type; `override_quota` takes one beyond its quantity. `fee_minor` sets another
    fee than the application's, also of an approved one, and `pay_by` the day until which it is to be paid. With a reason,
    and while nothing is paid, an approval can become a refusal, and a refusal can be taken back (`submitted`). The refusal
    of an activated application ends the stall.

    Raises NotFound, StaleVersion, ValidationFailed, AlreadyDecided, StepNotAllowed, StallTypeFull, NoWaitlist,
    PaymentInProgress, StallHasShifts, ApplicationsClosed for an approval or the waitlist, SenderNotVerified,
    MailLimitReached.
    """
    with transaction() as session:
        application = lock_application(session, caller, id, can_decide_sql(caller))
        if expected_version not in (None, application.version):
            raise StaleVersion()
        fee_minor, reason = fields.get("fee_minor"), fields.get("reason")
        changes_fee = decision in (states.APPROVED, states.WAITLISTED) and fee_minor not in (
            None,
            application.amount_minor,
        )
        pay_by = fields.get("pay_by") if decision == states.APPROVED else None
        is_due = bool(application.amount_minor if fee_minor is None else fee_minor)
        due_at = _find_new_due_time(session, application, pay_by) if is_due and pay_by is not None else None
        if not reason and (changes_fee or fields.get("override_quota")):
            raise ValidationFailed.of(
                "reason", "required", "Say why the fee or the quantity of the list does not count."
            )
        if application.status == states.WAITLISTED:
            fields = build_kept_terms(application) | fields
        is_decided = application.decision is not None
        if decision in (application.decision, application.status) and not changes_fee and due_at is None:
            _set_rank(session, application, fields)
            return
        if is_decided and decision != application.decision:
            _check_revision(application, decision, reason)
        if decision == states.SUBMITTED:
            _reopen(session, application, reason)
            return
        if decision != states.DECLINED and application.status not in states.ENDED_STATES:
            check_event_open(session, application)
        if application.email is not None:
            count_mails(session, load_sender(session, application.organiser_id or caller.id), [application.email])
        if changes_fee and fee_minor is not None:
            _set_fee(session, application, fee_minor, reason)
        if due_at is not None:
            _check_fee_open(application)
            application.scheduled_for = due_at
            record_application_act(session, Action.STALL_FEE_SET, application, dueAt=rfc3339(due_at))
        if decision == states.WAITLISTED:
            _put_on_waitlist(session, application, fields)
            return
        has_place = application.status == states.WAITLISTED and waitlist.end_offer(session, application)
        if decision == states.DECLINED:
            _decline(session, application, caller, fields)
        else:
            approve(session, application, caller.id, fields, is_new=not is_decided, has_place=has_place)


def build_kept_terms(application: Application) -> DecisionFields:
    """What was decided when the application was put on the waitlist, for its approval."""
    return {
        "documents_required": application.documents_required,
        "reviewer_notes": application.reviewer_notes,
        "risk_level": application.risk_level,
    }


def approve(
    session: ReadOrWriteSession,
    application: Application,
    decided_by: str,
    fields: DecisionFields,
    *,
    is_new: bool,
    has_place: bool = False,
) -> None:
    """Approves the application, or goes on with an approved one whose fee has changed, and mails the due links.

    An application that `has_place` takes no other. Raises StallTypeFull.
    """
    if is_new:
        if application.event_id is not None and not has_place:
            check_place_left(
                session,
                application.event_id,
                application.stall_type,
                merchant_id=application.account_id,
                beyond_quota=bool(fields.get("override_quota")),
            )
        _set_decision(session, application, decided_by, states.APPROVED, fields)
        _set_required_documents(application, fields)
    advance_application(session, application)
    if application.status == states.ACTIVATED:
        enqueue_all(build_activated_email_jobs(application))
        return
    new_links = links.renew_links(session, application, links.list_due_purposes(application))
    enqueue_all(build_carry_jobs(application) if is_new else [])
    enqueue_email("application_approved" if is_new else "application_link", application, *new_links)


def _put_on_waitlist(session: ReadOrWriteSession, application: Application, fields: DecisionFields) -> None:
    """Puts the application on the waitlist of its stall type. Raises NoWaitlist, StepNotAllowed."""
    if application.status != states.WAITLISTED:
        waitlist.check_waitlist(session, application)
        application.set_status(states.WAITLISTED)
        application.reviewer_notes, application.risk_level = fields.get("reviewer_notes"), fields.get("risk_level")
        enqueue_email("application_waitlisted", application)
    _set_required_documents(application, fields)
    application.waitlist_rank = fields.get("waitlist_rank", application.waitlist_rank)
    record_application_act(session, Action.APPLICATION_WAITLISTED, application, waitlistRank=application.waitlist_rank)


def _set_rank(session: ReadOrWriteSession, application: Application, fields: DecisionFields) -> None:
    """Gives an application on the waitlist another place in line."""
    rank = fields.get("waitlist_rank", application.waitlist_rank)
    if application.status == states.WAITLISTED and rank != application.waitlist_rank:
        application.waitlist_rank = rank
        application.version += 1
        record_application_act(session, Action.APPLICATION_WAITLISTED, application, waitlistRank=rank)


def _set_required_documents(application: Application, fields: DecisionFields) -> None:
    required_kinds = fields.get("documents_required")
    if required_kinds is None:
        required_kinds = documents.list_required_kinds(application.stall_type)
    application.documents_required = [kind for kind in documents.KINDS if kind in required_kinds]


def _decline(session: ReadOrWriteSession, application: Application, caller: Caller, fields: DecisionFields) -> None:
    """Declines the application; its links end, and so does the stall of an activated one.

    Raises PaymentInProgress, StallHasShifts.
    """
    works, was_activated = waitlist.build_offer_jobs(application), application.status == states.ACTIVATED
    if application.decision is not None:
        stall_payments.end_open_payment(session, application.id)
        remove_waiver(session, application)
        withdraw_accepted_invite(session, application)
    _set_decision(session, application, caller.id, states.DECLINED, fields)
    if was_activated:
        end_stall(session, application)
    enqueue_all([*build_email_jobs("application_declined", application), *works])


def _set_decision(
    session: ReadOrWriteSession, application: Application, decided_by: str, decision: str, fields: DecisionFields
) -> None:
    application.set_status(decision)
    application.decision, application.decided_by, application.decided_at = decision, decided_by, func.now()
    application.documents_reopened_at = None
    application.decline_reason = fields.get("decline_reason") if decision == states.DECLINED else None
    application.reviewer_notes, application.risk_level = fields.get("reviewer_notes"), fields.get("risk_level")
    action = Action.APPLICATION_DECLINED if decision == states.DECLINED else Action.APPLICATION_APPROVED
    details = {name: value for name, value in fields.items() if name in ("reason", "override_quota") and value}
    record_application_act(session, action, application, **details)


def withdraw_application(caller: Caller, id: str) -> None:
    """Withdraws the caller's own application; its links end.

    Raises NotFound, NotWithdrawable, PaymentInProgress, StepNotAllowed.
    """
    with transaction() as session:
        application = lock_application(session, caller, id, Application.account_id == caller.id)
        if application.status == states.WITHDRAWN:
            return
        if application.holds_money:
            raise NotWithdrawable()
        stall_payments.end_open_payment(session, application.id)
        enqueue_all(waitlist.build_offer_jobs(application))
        application.set_status(states.WITHDRAWN)
        withdraw_accepted_invite(session, application)
        record_application_act(session, Action.APPLICATION_WITHDRAWN, application)


def _check_revision(application: Application, decision: str, reason: str | None) -> None:
    """Raises AlreadyDecided unless there is a reason, and the decision can be revised so.

    After a refund an approval can become a refusal, which then stays.
    """
    is_step = (application.decision, decision) in REVISIONS and application.erased_at is None
    has_money = application.holds_money if decision == states.DECLINED else application.paid_at is not None
    if not is_step or not reason or has_money:
        raise AlreadyDecided(decision=application.decision, status=application.status)


def _reopen(session: ReadOrWriteSession, application: Application, reason: str | None) -> None:
    """Takes a refusal back, so that the application can be decided again. Its documents are handed in again.

    The next decision may ask for others, and those of a refused application are erased after some time.
    """
    application.set_status(states.SUBMITTED)
    application.documents_submitted_at = None
    application.decision = application.decided_at = application.decided_by = application.decline_reason = None
    if application.mode == "now":
        application.scheduled_for = None
    record_application_act(session, Action.APPLICATION_REOPENED, application, reason=reason)


def _find_new_due_time(session: ReadOrWriteSession, application: Application, day: date) -> datetime | None:
    """The end of the day until which the fee is to be paid; None if that was the day before.

    Raises ValidationFailed for a day before today or after the event.
    """
    row = session.execute(select(*EVENT_CALENDAR_COLUMNS).where(Event.id == application.event_id)).first()
    calendar = EventCalendar(*row) if row else EventCalendar(None, None, None, database_now())
    zone = ZoneInfo(calendar.timezone or HOME)
    today = calendar.now.astimezone(zone).date()
    last_day = calendar.ends_at.astimezone(zone).date() if calendar.ends_at else None
    check_pay_by(day, today=today, last_day=last_day)
    due_at = end_of_day(datetime.combine(day, time(12), zone), calendar.timezone)
    return None if due_at == application.scheduled_for else due_at


def _check_fee_open(application: Application) -> None:
    """Raises StepNotAllowed once the fee is settled."""
    if application.status not in FEE_STATES or application.paid_at is not None or application.waived_at is not None:
        raise StepNotAllowed(status=application.status)


def _set_fee(session: ReadOrWriteSession, application: Application, fee_minor: int, reason: str | None) -> None:
    """Sets another fee while nothing is paid. Raises StepNotAllowed, PaymentInProgress."""
    _check_fee_open(application)
    stall_payments.end_open_payment(session, application.id)
    record_application_act(
        session,
        Action.STALL_FEE_SET,
        application,
        amountMinor=fee_minor,
        previousMinor=application.amount_minor,
        reason=reason,
    )
    application.amount_minor = fee_minor


def send_link(caller: Caller, id: str, *, purpose: str) -> SentLink:
    """A new link in place of the old one, mailed if there is an email and shown to the decider.

    Raises NotFound, NothingDue, ApplicationsClosed, SenderNotVerified, MailLimitReached.
    """
    with transaction() as session:
        application = lock_application(session, caller, id, can_decide_sql(caller))
        if purpose not in links.list_due_purposes(application):
            raise NothingDue(status=application.status, due=links.list_due_purposes(application))
        check_event_open(session, application)
        if application.email is not None:
            count_mails(session, load_sender(session, application.organiser_id or caller.id), [application.email])
        (link,) = links.renew_links(session, application, [purpose], shown_to_decider=True)
        enqueue_email("application_link", application, link)
        record_application_act(session, Action.APPLICATION_LINK_SHOWN, application, purpose=purpose)
        return SentLink(purpose, links.build_link_url(link), link.expires_at, mailed_to=application.email)


def request_links(*, token: str, purpose: str) -> list[str]:
    """Mails new links for the due purposes to the application's email. Returns the purposes; none without an email.

    Every token of the application may request this, also an expired one. Raises NotFound, ApplicationsClosed, Throttled.
    """
    with transaction() as session:
        application = links.get_link(token, purpose, session=session).application
        due_purposes = links.list_due_purposes(application) if application.email else []
        if not due_purposes:
            return []
        check_event_open(session, application)
        _count_link_request(session, application)
        application.language = find_page_language() or application.language
        enqueue_email("application_link", application, *links.renew_links(session, application, due_purposes))
        return due_purposes


def _count_link_request(session: ReadOrWriteSession, application: Application) -> None:
    for limit_status in throttle.hit_all(session, (GAP_LIMIT, application.id), (DAILY_LIMIT, application.id)):
        if limit_status.exceeded:
            raise Throttled(
                "A link was mailed already; look for it, also among unwanted mail.", retry_after=limit_status.seconds
            )
