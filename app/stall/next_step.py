"""The next step of a merchant: always exactly one, from what is known about their stalls.

The order is that of urgency: what stops everything, what an organiser waits for, what an event needs, then money.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from app.core.formatting import format_day, format_money
from app.core.languages import gettext, lazy_gettext

CONFIRM_ADDRESS, OFFER, DOCUMENTS, PAYMENT, ACTIVATION = (
    "confirm_address",
    "offer",
    "documents",
    "payment",
    "activation",
)
RESUME, ANSWER_INVITATION, OPEN_STALL, ADD_CREW = "resume", "answer_invitation", "open_stall", "add_crew"
PAYOUT_DETAILS, REQUEST_PAYOUT, WAIT = "payout_details", "request_payout", "wait"

CREW_LEAD_TIME = timedelta(days=14)
"""How long before an event a stall without crew is the next step."""


@dataclass(frozen=True)
class ApplicationFacts:
    """An application that has not ended. `paths` has the pages of the steps that are due, by step."""

    event_name: str | None
    paths: dict[str, str]
    is_awaiting_decision: bool = False
    is_payment_processing: bool = False


@dataclass(frozen=True)
class InvitationFacts:
    """An invitation without an answer."""

    event_name: str
    path: str


@dataclass(frozen=True)
class StallFacts:
    """A stall at an event that is not over."""

    event_id: str
    event_name: str
    timezone: str
    starts_at: datetime
    is_closed: bool
    crew_size: int


@dataclass(frozen=True)
class MerchantFacts:
    """What is known about a merchant, each list in the order of the events' times.

    What the person may not see or do is left out: a cashier has stalls only, and only the owner `may_resume`.
    """

    now: datetime
    is_address_confirmed: bool = True
    is_paused: bool = False
    may_resume: bool = False
    may_manage: bool = False
    applications: Sequence[ApplicationFacts] = ()
    invitations: Sequence[InvitationFacts] = ()
    stalls: Sequence[StallFacts] = ()
    available_minor: int = 0
    held_minor: int = 0
    has_destination: bool = True


@dataclass(frozen=True)
class NextStep:
    """What to do now: a title, a sentence, and a button with the path it leads to, which a step to wait has not."""

    kind: str
    title: str
    text: str
    button: str = ""
    path: str = ""


def find_next_step(facts: MerchantFacts) -> NextStep:
    """The one step that the merchant should do now; of the kind WAIT if there is none."""
    if not facts.is_address_confirmed:
        return NextStep(
            CONFIRM_ADDRESS,
            gettext("Confirm your address"),
            gettext(
                "We sent you an e-mail with a code. Until you enter it, you cannot accept invitations or get payouts."
            ),
            gettext("Enter the code"),
            "/verify",
        )
    return (
        _find_application_step(facts.applications)
        or _find_stall_step(facts)
        or _find_money_step(facts)
        or _build_wait(facts)
    )


def _find_application_step(applications: Sequence[ApplicationFacts]) -> NextStep | None:
    for kind, (title, text, button) in APPLICATION_STEPS.items():
        for application in applications:
            is_waiting = kind == PAYMENT and application.is_payment_processing
            if kind in application.paths and not is_waiting:
                if application.event_name:
                    title = gettext("%(step)s for %(event)s", step=title, event=application.event_name)
                return NextStep(kind, str(title), str(text), str(button), application.paths[kind])
    return None


def list_step_buttons() -> dict[str, str]:
    """The text of the button for each step of an application."""
    return {kind: str(button) for kind, (_, _, button) in APPLICATION_STEPS.items()}


def _find_stall_step(facts: MerchantFacts) -> NextStep | None:
    if facts.is_paused:
        if not facts.may_resume:
            return None
        text = gettext("While your business is paused, your stalls are closed and no money is paid out.")
        return NextStep(RESUME, gettext("Resume your business"), text, gettext("Resume"), "/stall/resume")
    for invitation in facts.invitations:
        text = gettext("Accept or decline, so that the organiser can plan.")
        title = gettext("Answer the invitation to %(event)s", event=invitation.event_name)
        return NextStep(ANSWER_INVITATION, title, text, gettext("See the invitation"), invitation.path)
    for stall in facts.stalls:
        if stall.is_closed and stall.starts_at <= facts.now:
            text = gettext("The event has begun, and guests see that your stall is closed.")
            title = gettext("Open your stall at %(event)s", event=stall.event_name)
            return NextStep(OPEN_STALL, title, text, gettext("Open it"), f"#stall-{stall.event_id}")
    for stall in facts.stalls:
        if facts.may_manage and not stall.crew_size and stall.starts_at - facts.now <= CREW_LEAD_TIME:
            text = gettext("Everybody who works at the stall gets a code with which their shift begins.")
            path = f"/stall/{stall.event_id}/crew"
            title = gettext("Add your crew for %(event)s", event=stall.event_name)
            return NextStep(ADD_CREW, title, text, gettext("Add your crew"), path)
    return None


def _find_money_step(facts: MerchantFacts) -> NextStep | None:
    if facts.is_paused:
        return None
    if not facts.has_destination and facts.available_minor:
        text, title = (
            gettext(
                "%(amount)s are available. Enter the wallet or bank account to which we pay them.",
                amount=format_money(facts.available_minor),
            ),
            gettext("Add payout details"),
        )
        return NextStep(PAYOUT_DETAILS, title, text, title, "/stall/payout-details")
    if facts.available_minor > 0:
        text, title = (
            gettext("%(amount)s are available.", amount=format_money(facts.available_minor)),
            gettext("Request a payout"),
        )
        return NextStep(REQUEST_PAYOUT, title, text, title, "/stall/payouts")
    return None


def _build_wait(facts: MerchantFacts) -> NextStep:
    """Says for what the merchant waits: their pause, a payment, a decision, the next event, or an invitation."""
    title = gettext("Nothing to do now")
    if facts.is_paused:
        return NextStep(WAIT, title, gettext("The business is paused. Its owner can resume it."))
    for application in facts.applications:
        if application.is_payment_processing:
            text = (
                gettext(
                    "Your payment for the stall at %(event)s is under way. We write when it has arrived.",
                    event=application.event_name,
                )
                if application.event_name
                else gettext("Your payment for the stall is under way. We write when it has arrived.")
            )
            return NextStep(WAIT, title, text)
    for stall in facts.stalls:
        if stall.starts_at <= facts.now:
            return NextStep(WAIT, title, gettext("%(event)s is on.", event=stall.event_name))
        day = format_day(stall.starts_at, stall.timezone)
        text = gettext("Your next event is %(event)s, on %(day)s.", event=stall.event_name, day=day)
        return NextStep(WAIT, title, text)
    for application in facts.applications:
        if application.is_awaiting_decision:
            text = (
                gettext(
                    "The organiser decides about your stall at %(event)s. We write when they have.",
                    event=application.event_name,
                )
                if application.event_name
                else gettext("The organiser decides about your stall. We write when they have.")
            )
            return NextStep(WAIT, title, text)
    if facts.held_minor:
        text = gettext("%(amount)s are on their way to you.", amount=format_money(facts.held_minor))
        return NextStep(WAIT, title, text)
    return NextStep(WAIT, title, gettext("Invitations of organisers appear here, and we send them by e-mail too."))


APPLICATION_STEPS = {
    OFFER: (
        lazy_gettext("Take the place that is free"),
        lazy_gettext("You are next on the waitlist. The offer ends soon."),
        lazy_gettext("See the offer"),
    ),
    DOCUMENTS: (
        lazy_gettext("Upload your documents"),
        lazy_gettext("The organiser needs them for your stall."),
        lazy_gettext("Upload documents"),
    ),
    PAYMENT: (
        lazy_gettext("Pay the stall fee"),
        lazy_gettext("Your stall is confirmed when the fee has arrived."),
        lazy_gettext("Pay the stall fee"),
    ),
    ACTIVATION: (
        lazy_gettext("Finish your registration"),
        lazy_gettext("This is the last step to your stall."),
        lazy_gettext("Finish"),
    ),
}
"""The steps of an application in their order: title, sentence, button. The keys are the purposes of its links."""
