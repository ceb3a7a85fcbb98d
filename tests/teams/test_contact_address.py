"""The public contact address of an organisation: who changes it, and where it takes the place of the owner's address."""

from typing import Any

import pytest

from app.accounts.models import Account
from app.accounts.organisation_details import load_contact
from app.core.db import db
from app.inventory.emails import find_event_sender
from app.inventory.queries import load_buyer
from app.teams.actions import confirm_contact
from tests.factories.accounts import create_signed_in_client, list_mails_to, run_jobs
from tests.factories.allocations import Block, create_block
from tests.factories.applications import EMAIL, create_approved_application, find_mailed_token
from tests.factories.campaigns import CampaignEvent
from tests.factories.merchants import answer_invitation, create_merchant_account, invite_merchants
from tests.factories.payouts import execute_sql, fetch_scalar
from tests.factories.subscriptions import build_unsubscribe_path
from tests.http import Client, data, list_problems, read_error
from tests.pages.pages import Visitor
from tests.pages.test_account_page import sign_in_browser
from tests.races import run_concurrently
from tests.teams.test_second_factor_rule import ORGANISATION, create_profiled_owner

CONTACT = "hello@windhoek-lights.example"


def ask_for(owner: Client, address: str = CONTACT) -> str:
    """The path of the link that the address gets."""
    shown = data(owner.patch(ORGANISATION, {"contactEmail": f" {address.upper()}"}))
    assert shown["pendingContactEmail"] == address != shown["contactEmail"]
    run_jobs()
    return f"/confirm-contact/{find_mailed_token('confirm-contact', address)}"


@pytest.fixture
def block(client: Client) -> Block:
    """A block of an organisation with a contact address."""
    block = create_block(client, owner=create_profiled_owner(client))
    visitor = Visitor(client.flask)
    visitor.open(ask_for(block.owner))
    assert "This is the contact address now" in visitor.send().text
    shown = data(block.owner.get(ORGANISATION))
    assert (shown["contactEmail"], shown["pendingContactEmail"]) == (CONTACT, None)
    return block


def get_own_address(block: Block) -> str:
    return str(data(block.owner.get("/api/auth/me"))["email"])


def test_it_is_checked_changed_and_removed(client: Client, block: Block) -> None:
    assert list(list_problems(block.owner.patch(ORGANISATION, {"contactEmail": "hello"}))) == ["contactEmail"]
    assert data(block.owner.get(ORGANISATION))["contactEmail"] == CONTACT
    assert data(block.owner.patch(ORGANISATION, {"contactEmail": None}))["contactEmail"] is None
    assert load_contact(block.event["organiserId"]) == get_own_address(block)


def test_until_it_is_confirmed_people_see_the_former_one(client: Client, block: Block) -> None:
    path = ask_for(block.owner, "new@windhoek-lights.example")
    assert "wants guests, merchants and the public to write to" in client.get(path).text
    assert load_contact(block.event["organiserId"]) == CONTACT, "opening the link changes nothing"
    ask_for(block.owner, "newer@windhoek-lights.example")
    assert client.get(path).status_code == 410
    assert client.get(f"{path}x").status_code == 410
    execute_sql("UPDATE organiser_profile SET pending_contact_email = NULL")
    data(block.owner.patch(ORGANISATION, {"contactEmail": CONTACT}))
    assert load_contact(block.event["organiserId"]) == CONTACT


def test_the_address_of_the_owner_needs_no_link(block: Block) -> None:
    shown = data(block.owner.patch(ORGANISATION, {"contactEmail": get_own_address(block)}))
    assert (shown["contactEmail"], shown["pendingContactEmail"]) == (get_own_address(block), None)


def test_the_owner_is_told_of_every_change(block: Block) -> None:
    own = get_own_address(block)

    def list_notices() -> list[str]:
        run_jobs()
        return [
            mail["text"] for mail in list_mails_to(own) if mail["subject"] == "Your public contact address was changed"
        ]

    (told,) = list_notices()
    assert CONTACT in told
    data(block.owner.patch(ORGANISATION, {"contactEmail": own}))
    data(block.owner.patch(ORGANISATION, {"contactEmail": None}))
    assert len(list_notices()) == 3


def test_saving_again_sends_no_second_link_and_strangers_are_few(block: Block) -> None:
    ask_for(block.owner, "new@windhoek-lights.example")
    for number in range(25):
        data(
            block.owner.patch(ORGANISATION, {"contactEmail": "new@windhoek-lights.example", "name": f"Lights {number}"})
        )
    run_jobs()
    assert len(list_mails_to("new@windhoek-lights.example")) == 1
    asked_twice_before = 2
    for number in range(5 - asked_twice_before):
        data(block.owner.patch(ORGANISATION, {"contactEmail": f"stranger{number}@example.com"}))
    refused = block.owner.patch(ORGANISATION, {"contactEmail": "stranger9@example.com", "name": "Other"})
    assert refused.status_code == 429 and int(refused.headers["Retry-After"]) > 0
    assert data(block.owner.get(ORGANISATION))["pendingContactEmail"] == "stranger2@example.com"
    run_jobs()
    assert list_mails_to("stranger9@example.com") == []


def test_the_link_is_sent_again_without_losing_the_confirmed_address(block: Block) -> None:
    path = f"{ORGANISATION}/contact-link"
    assert read_error(block.owner.post(path)) == (404, "NOT_FOUND"), "none waits"
    ask_for(block.owner, "new@windhoek-lights.example")
    owner = db.session.get_one(Account, block.event["organiserId"])
    visitor = sign_in_browser(block.owner.flask.application, owner)
    assert CONTACT in visitor.open("/desk/settings").text
    assert "Another link is on its way." in visitor.send(form=1).text
    data(block.owner.post(path))
    run_jobs()
    links = [
        mail["text"].rpartition("/confirm-contact/")[2].split()[0]
        for mail in list_mails_to("new@windhoek-lights.example")
    ]
    assert len(links) == 3
    shown = data(block.owner.get(ORGANISATION))
    assert (shown["contactEmail"], shown["pendingContactEmail"]) == (CONTACT, "new@windhoek-lights.example")
    asked_before = 2 + 2
    for number in range(5 - asked_before):
        assert block.owner.post(path).status_code == 200, number
    assert read_error(block.owner.post(path)) == (429, "RATE_LIMITED")
    page = visitor.send(form=1)
    assert page.status_code == 429 and 'value="new@windhoek-lights.example"' in page.text, "the form is filled"


def test_a_form_without_the_field_leaves_it(block: Block) -> None:
    owner = db.session.get_one(Account, block.event["organiserId"])
    visitor = sign_in_browser(block.owner.flask.application, owner)
    visitor.open("/desk/settings")
    fields = {name: value for name, value in visitor.forms[1].fields.items() if name != "contactEmail"}
    visitor.flask.post("/desk/settings", data={**fields, "name": "Lights"})
    shown = data(block.owner.get(ORGANISATION))
    assert (shown["name"], shown["contactEmail"]) == ("Lights", CONTACT)


def test_a_link_that_is_used_by_many_at_once_confirms_once(client: Client, block: Block) -> None:
    token = ask_for(block.owner, "new@windhoek-lights.example").rpartition("/")[2]
    app = client.flask.application

    def confirm(_: int) -> str:
        with app.app_context():
            return confirm_contact(token=token).email

    assert set(run_concurrently(16, confirm)) == {"new@windhoek-lights.example"}
    assert fetch_scalar("SELECT count(*) FROM audit_entry WHERE data ? 'contact_email'") == 2


def test_the_audit_trail_masks_it_and_has_no_entry_for_the_same_value(block: Block) -> None:
    data(block.owner.patch(ORGANISATION, {"contactEmail": CONTACT}))
    recorded = fetch_scalar(
        "SELECT string_agg(data::text, ' ' ORDER BY at) FROM audit_entry WHERE action = 'access.organisation_changed'"
    )
    masked = "h•••@windhoek-lights.example"
    assert recorded == f'{{"pending_contact_email": "{masked}"}} {{"contact_email": "{masked}"}}'


@pytest.mark.parametrize(
    "path", ["/e/{slug}", "/apply/{event}", "/claim/{open}", "/allocator/{holder}", "/merchant-invite/{invite}"]
)
def test_pages_show_it_and_not_the_address_of_the_owner(client: Client, block: Block, path: str) -> None:
    values = {
        "slug": block.event["slug"],
        "event": block.event["id"],
        "open": block.open_link(),
        "holder": block.allocator(),
        "invite": data(block.owner.post(f"/api/events/{block.event['id']}/merchant-invite", {}), 201)["slug"],
    }
    page = client.get(path.format(**values), follow_redirects=True)
    assert page.status_code == 200
    assert CONTACT in page.text and get_own_address(block) not in page.text


def test_answers_to_mails_go_there(client: Client, block: Block) -> None:
    event_id = block.event["id"]
    block.invite("guest@example.com")
    merchant = create_merchant_account()
    invite_merchants(block.owner, event_id, merchant)
    data(block.owner.post(f"/api/events/{event_id}/merchant-invite", {"email": "new@example.com"}), 201)
    data(block.owner.post(f"{block.path}/invoice/email", {"to": "sponsor@bank.example"}), 202)
    create_approved_application(client, block.owner, eventId=event_id)
    campaign_event = CampaignEvent(client, owner=block.owner)
    campaign_event.sold("frieda@example.com")
    campaign_event.finished(campaign_event.send())
    run_jobs()
    people = (
        "guest@example.com",
        merchant.email,
        "new@example.com",
        "sponsor@bank.example",
        "frieda@example.com",
        EMAIL,
    )
    for address in people:
        mail = list_mails_to(address)[0]
        assert mail["headers"]["Reply-To"] == CONTACT, mail["subject"]
        assert get_own_address(block) not in str(mail)


def test_documents_of_money_and_stock_name_it(block: Block) -> None:
    data(block.owner.post(f"{block.path}/invoice/email", {"to": "sponsor@bank.example"}), 202)
    paper: dict[str, Any] = fetch_scalar("SELECT paper FROM invoice")
    assert paper["contact"] == CONTACT and get_own_address(block) not in str(paper)
    assert load_buyer(block.event["id"])[:2] == ("Windhoek Lights", CONTACT)
    sender = find_event_sender(block.event["id"])
    assert sender is not None and sender.contact == CONTACT


def test_the_page_to_unsubscribe_shows_it(client: Client, block: Block) -> None:
    path = build_unsubscribe_path("frieda@example.com", block.event["organiserId"])
    assert CONTACT in client.get(path, follow_redirects=True).text


def test_what_the_organiser_is_told_goes_to_the_owner(client: Client, block: Block) -> None:
    merchant = create_merchant_account()
    invited = invite_merchants(block.owner, block.event["id"], merchant)["invited"]
    me = create_signed_in_client(client, merchant)
    answer_invitation(me, invited[0]["inviteId"], "declined")
    run_jobs()
    assert len(list_mails_to(CONTACT)) == 1, "only the link"
    assert "does not take part" in list_mails_to(get_own_address(block))[0]["subject"]


def test_a_fee_is_asked_for_with_it(client: Client, block: Block) -> None:
    create_approved_application(client, block.owner, eventId=block.event["id"], documentsRequired=[])
    page = client.get(f"/pay/{find_mailed_token('pay')}", follow_redirects=True)
    assert CONTACT in page.text and get_own_address(block) not in page.text
