"""At most six statements for any operation and page between the application and the stall, the hard ways included, and
a few more where `MORE` says what for."""

import pytest
from flask import Flask

from tests.ceiling import of_applications, of_campaigns, of_desk, of_gate, of_links, of_merchants, of_pages, of_stalls
from tests.ceiling.cases import CASES, Case
from tests.counting import count_statements
from tests.http import Client

MOST = 6
COUNTS_MAILS = (
    "a_fresh_link_with_a_key",
    "a_link_by_mail",
    "approving_with_nothing_due",
    "approving_with_two_links_due",
    "broadcasting_with_a_key",
    "declining",
    "inviting_some_and_some_again",
    "sending_a_copy_with_a_key",
)
LOCKS_THE_ADDRESS = (
    "activating_a_new_account",
    "activating_with_an_address_that_nobody_has_proven",
    "opening_an_account",
)
ASKS_FOR_UNANSWERED_PAYMENTS = ("paying", "paying_with_a_wrong_code", "the_right_code", "withdrawing_with_a_key")
BOOKS_A_FEE = ("paying", "the_right_code")
ASKS_FOR_THE_TIME = ("giving_a_campaign_another_time", "handing_in_four_documents")
LOOKS_FOR_DEVICES_AND_KEYS = ("a_new_password",)
HOLDS_THE_MERCHANT = ("a_merchant_applying_by_invitation_with_a_key", "having_a_code_sent")
ASKS_FOR_THE_DAYS_OF_THE_EVENT = ("a_fresh_link_with_a_key", "a_link_by_mail", "approving_with_two_links_due")
SHOWS_THE_ORGANISER = ("having_a_code_sent", "paying_with_a_wrong_code", "sending_too_little")
TAKES_A_PLACE = ("approving_with_nothing_due", "approving_with_two_links_due")
RECORDS_THE_ACT = (
    "a_fresh_link_with_a_key",
    "a_link_by_mail",
    "accepting",
    "accepting_documents",
    "accepting_on_the_page",
    "approving_with_nothing_due",
    "approving_with_two_links_due",
    "broadcasting_with_a_key",
    "calling_a_campaign_off_with_a_key",
    "changing_everything",
    "deleting",
    "giving_a_campaign_another_time",
    "handing_in_four_documents",
    "planning_for_named_people_with_a_key",
    "replacing_four_documents",
    "sending_a_copy_with_a_key",
    "sending_four_documents",
    "withdrawing_with_a_key",
)
"""These have all six and add an entry to the audit trail, one statement."""
ASKS_WHETHER_THE_EVENT_IS_OPEN = (
    "approving_with_two_links_due",
    "approving_with_nothing_due",
    "a_fresh_link_with_a_key",
    "receiving_a_fee",
    "handing_in_four_documents",
    "replacing_four_documents",
    "starting_to_pay",
    "paying_from_another_wallet",
    "sending_four_documents",
    "sending_too_little",
    "having_a_code_sent",
    "accepting_on_the_page",
    "asking_for_a_fresh_link_to_documents",
    "asking_for_a_fresh_link_to_pay",
)
MORE = {
    **dict.fromkeys(COUNTS_MAILS, 2),
    **dict.fromkeys(TAKES_A_PLACE, 3),
    **dict.fromkeys(ASKS_FOR_UNANSWERED_PAYMENTS, 2),
    **dict.fromkeys((*LOCKS_THE_ADDRESS, *ASKS_FOR_THE_TIME, *HOLDS_THE_MERCHANT, *LOOKS_FOR_DEVICES_AND_KEYS), 1),
    "planning_for_named_people_with_a_key": 3,
    **dict.fromkeys(BOOKS_A_FEE, 3),
    "a_merchant_applying_by_invitation_with_a_key": 4,
    "sending_the_form_of_a_link": 3,
    "accepting_on_the_page": 2,
    **dict.fromkeys(("receiving_a_fee", "waiving_a_fee"), 9),
    "refunding_a_fee": 15,
    **dict.fromkeys(("asking_for_a_document_again", "offering_a_place"), 11),
    "accepting_a_place": 4,
    "accepting_documents": 1,
    "correcting_the_contact": 7,
    "receiving_a_fee": 11,
    "replacing_four_documents": 1,
    "sending_four_documents": 3,
    "sending_too_little": 2,
    "deleting": 20,
    "scanning_a_party": 3,
    "undoing_a_scan": 6,
    "placing_a_stall": 2,
    "searching_everything": 3,
}
for name in ASKS_FOR_THE_DAYS_OF_THE_EVENT:
    MORE[name] += 1
for name in ASKS_WHETHER_THE_EVENT_IS_OPEN:
    MORE[name] = MORE.get(name, 0) + 1
for name in SHOWS_THE_ORGANISER:
    MORE[name] = MORE.get(name, 0) + 1
"""What these take beyond six: the sender of mail to others and their day's count, the list of stall types, the
lock of an address, the payments that the rail has not answered, the clock of the database, the devices and keys that a
new password does not end, the merchant or event that may go meanwhile, the acknowledgement of an application with its
limit and the note to the organiser, the person who is signed in on a page,
the days of the event that end a link, the organiser in the header of a page, the link to pay in the mail about
documents. An accepted place is an approval. A fee is booked in the ledger. A recorded fee
leads to the next step and its link. A deletion erases in its own transaction what all domains know of the person,
by the steps of the deletion of an account. A party is locked and read again; an undo reads the log before and after. A
stall that gets a number locks the plan, and looks whether another one has it. A search asks for each of eight kinds. A
refund issues the invoice if there is none, and the credit note. A request for a document is a mail with a new link: it
reads and marks the documents, and ends the link to activate. An offer is one too: it locks the stall type, counts its
places and finds the next in line. The page for documents reads first which are required. Another address of an
applicant gets a mail with new links, and its failed mails leave their list."""
BLUEPRINTS = (
    "applications",
    "application_links",
    "activation",
    "merchants",
    "invitations",
    "crew",
    "documents",
    "pay",
    "activate",
    "merchant_invite",
    "campaigns",
    "click",
    "admissions",
    "organiser_desk",
)
MODULES = (of_applications, of_campaigns, of_desk, of_gate, of_links, of_merchants, of_pages, of_stalls)


@pytest.mark.parametrize("case", [pytest.param(case, id=case.name) for case in CASES])
def test_no_request_takes_more_statements_than_it_may(client: Client, case: Case) -> None:
    ask = case.prepare(client)
    answer, seen = count_statements(ask)
    assert answer.status_code == case.status, answer.get_data(as_text=True)
    # A process reads the signing keys once a minute, which may be during this request.
    counted = [statement for statement in seen if "FROM signing_key" not in statement]
    most = MOST + MORE.get(case.name, 0) + (case.name in RECORDS_THE_ACT)
    assert len(counted) <= most, "\n\n".join([f"{len(counted)} statements, {most} are allowed", *counted])


def test_every_operation_and_page_is_counted(application: Flask) -> None:
    rules = {
        f"{method} {rule.rule}"
        for rule in application.url_map.iter_rules()
        for method in (rule.methods or set()) - {"HEAD", "OPTIONS"}
        if rule.endpoint.split(".")[0] in BLUEPRINTS
    }
    assert rules == {case.route for case in CASES}
    assert {case.prepare.__module__ for case in CASES} == {module.__name__ for module in MODULES}
