"""The one next step of a merchant, from every combination of facts that matters."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from app.stall.next_step import (
    ACTIVATION,
    ADD_CREW,
    ANSWER_INVITATION,
    CONFIRM_ADDRESS,
    CREW_LEAD_TIME,
    DOCUMENTS,
    OFFER,
    OPEN_STALL,
    PAYMENT,
    PAYOUT_DETAILS,
    REQUEST_PAYOUT,
    RESUME,
    WAIT,
    ApplicationFacts,
    InvitationFacts,
    MerchantFacts,
    StallFacts,
    find_next_step,
)

NOW = datetime(2026, 12, 1, 12, tzinfo=UTC)
SECOND = timedelta(seconds=1)
OWNER = MerchantFacts(now=NOW, may_resume=True, may_manage=True)
CASHIER = MerchantFacts(now=NOW)
LIGHTS, JAZZ = "Windhoek Lights", "Swakop Jazz"
DOCUMENTS_DUE = ApplicationFacts(LIGHTS, {DOCUMENTS: "/documents/t", PAYMENT: "/pay/t"})
PAYMENT_DUE = ApplicationFacts(JAZZ, {PAYMENT: "/pay/u"})
READY = ApplicationFacts(None, {ACTIVATION: "/activate/v"})
OFFERED = ApplicationFacts(JAZZ, {OFFER: "/place-offer/o"})
PROCESSING = replace(PAYMENT_DUE, is_payment_processing=True)
SUBMITTED = ApplicationFacts(LIGHTS, {}, is_awaiting_decision=True)
INVITATION = InvitationFacts(JAZZ, "/merchant-invite/s")


def stall(
    starts_in: timedelta = timedelta(days=3), *, is_closed: bool = True, crew_size: int = 1, name: str = LIGHTS
) -> StallFacts:
    return StallFacts("e1", name, "Africa/Windhoek", NOW + starts_in, is_closed=is_closed, crew_size=crew_size)


EVERYTHING = replace(
    OWNER,
    is_address_confirmed=False,
    is_paused=True,
    applications=[PAYMENT_DUE, DOCUMENTS_DUE, READY],
    invitations=[INVITATION],
    stalls=[stall(-SECOND, crew_size=0)],
    available_minor=100,
    has_destination=False,
)

CASES = [
    (EVERYTHING, CONFIRM_ADDRESS, "/verify"),
    (replace(EVERYTHING, is_address_confirmed=True), DOCUMENTS, "/documents/t"),
    (replace(OWNER, applications=[READY, PAYMENT_DUE]), PAYMENT, "/pay/u"),
    (replace(OWNER, applications=[DOCUMENTS_DUE, OFFERED]), OFFER, "/place-offer/o"),
    (replace(OWNER, applications=[PROCESSING, READY]), ACTIVATION, "/activate/v"),
    (replace(OWNER, applications=[PROCESSING]), WAIT, ""),
    (replace(OWNER, applications=[PROCESSING, DOCUMENTS_DUE]), DOCUMENTS, "/documents/t"),
    (replace(OWNER, is_paused=True, invitations=[INVITATION], available_minor=1), RESUME, "/stall/resume"),
    (replace(OWNER, is_paused=True, may_resume=False, invitations=[INVITATION], available_minor=1), WAIT, ""),
    (replace(OWNER, invitations=[INVITATION], stalls=[stall(crew_size=0)]), ANSWER_INVITATION, "/merchant-invite/s"),
    (replace(OWNER, stalls=[stall(timedelta(0), crew_size=0)]), OPEN_STALL, "#stall-e1"),
    (replace(CASHIER, stalls=[stall(timedelta(0), crew_size=0)]), OPEN_STALL, "#stall-e1"),
    (replace(OWNER, stalls=[stall(SECOND)]), WAIT, ""),
    (replace(OWNER, stalls=[stall(timedelta(0), is_closed=False)]), WAIT, ""),
    (replace(OWNER, stalls=[stall(timedelta(0), is_closed=False, crew_size=0)]), ADD_CREW, "/stall/e1/crew"),
    (replace(OWNER, stalls=[stall(CREW_LEAD_TIME, crew_size=0)]), ADD_CREW, "/stall/e1/crew"),
    (replace(OWNER, stalls=[stall(CREW_LEAD_TIME + SECOND, crew_size=0)]), WAIT, ""),
    (replace(CASHIER, stalls=[stall(crew_size=0)]), WAIT, ""),
    (replace(OWNER, has_destination=False), WAIT, ""),
    (replace(OWNER, has_destination=False, stalls=[stall()]), WAIT, ""),
    (replace(OWNER, has_destination=False, available_minor=1), PAYOUT_DETAILS, "/stall/payout-details"),
    (replace(OWNER, available_minor=1, stalls=[stall()]), REQUEST_PAYOUT, "/stall/payouts"),
    (replace(OWNER, held_minor=1), WAIT, ""),
    (OWNER, WAIT, ""),
    (CASHIER, WAIT, ""),
]


@pytest.mark.parametrize(("facts", "kind", "path"), CASES)
def test_there_is_exactly_one_next_step(facts: MerchantFacts, kind: str, path: str) -> None:
    step = find_next_step(facts)
    assert (step.kind, step.path) == (kind, path)
    assert step.title and step.text and bool(step.button) == bool(path)


def test_title_names_the_event() -> None:
    titles = {
        find_next_step(facts).title
        for facts in (
            replace(OWNER, applications=[DOCUMENTS_DUE]),
            replace(OWNER, applications=[READY]),
            replace(OWNER, invitations=[INVITATION]),
        )
    }
    assert titles == {
        "Upload your documents for Windhoek Lights",
        "Finish your registration",
        "Answer the invitation to Swakop Jazz",
    }


@pytest.mark.parametrize(
    ("facts", "text"),
    [
        (replace(OWNER, stalls=[stall()]), "Your next event is Windhoek Lights, on Fri 4 December 2026."),
        (replace(OWNER, stalls=[stall(-SECOND, is_closed=False)]), "Windhoek Lights is on."),
        (replace(OWNER, applications=[SUBMITTED], stalls=[stall(name=JAZZ)]), "Your next event is Swakop Jazz"),
        (replace(OWNER, applications=[SUBMITTED]), "The organiser decides about your stall at Windhoek Lights."),
        (replace(OWNER, held_minor=5000), "N$\u00a050.00 are on their way to you."),
        (OWNER, "Invitations of organisers appear here"),
    ],
)
def test_without_a_step_the_home_says_what_comes(facts: MerchantFacts, text: str) -> None:
    assert text in find_next_step(facts).text
