"""Answering invitations on their pages: applying by a link, declining it, and the invitations of merchants."""

from typing import Any

import pytest
from sqlalchemy import literal, text

from app.accounts.models import Account
from app.core.transaction import transaction
from app.invitations.actions import decline_link, link_answers
from app.invitations.errors import InviteUsed
from app.invitations.queries import INVITE_KIND, build_slug
from tests.factories.accounts import PASSWORD, create_account, create_signed_in_client, list_mails_to
from tests.factories.applications import LIST, build_application_body
from tests.factories.events import create_event, create_organiser_client, create_published_event
from tests.factories.merchants import create_merchant_account, invite_merchants
from tests.http import Client, data, read_error
from tests.pages.pages import Visitor
from tests.races import run_concurrently

INVITED, OFFICE = "stall@kapana.example", "office@lights.example"
TYPED = {"contactName": "Tuli Hamutenya", "destination": "bank"}


@pytest.fixture
def owner(client: Client) -> Client:
    return create_signed_in_client(client, create_account("organiser", name="Windhoek Lights", email=OFFICE))


def create_link(owner: Client, event: dict[str, Any] | None = None, **terms: Any) -> str:
    """The path of a new link's page."""
    event_id = (event or create_event(owner, name="Night market"))["id"]
    return f"/merchant-invite/{data(owner.post(f'/api/events/{event_id}/merchant-invite', terms), 201)['slug']}"


def read_row(statement: str) -> Any:
    with transaction() as session:
        return session.execute(text(statement)).one()


def test_link_fixes_its_terms(owner: Client, visitor: Visitor) -> None:
    path = create_link(owner, email=INVITED, businessName="Kapana Corner", stallType="Food", feeMinor=120000)
    page = visitor.open(path)
    assert "Kapana Corner" in page.text and INVITED not in page.text and "s•••@kapana.example" in page.text
    assert not {"businessName", "email", "stallType", "amount"} & visitor.forms[0].fields.keys()
    changed = {"businessName": "Other", "email": "x@example.com", "stallType": "Castle", "amount": "1"}
    page = visitor.send(form=0, **TYPED, **changed)
    assert "We have your application" in page.text and "N$\u00a01\u202f200.00" in page.text
    (row,) = data(owner.get(LIST))["applications"]
    assert (row["businessName"], row["email"], row["stallType"]) == ("Kapana Corner", INVITED, "Food")
    assert (row["amountMinor"], row["eventName"]) == (120000, "Night market")
    assert list_mails_to(INVITED)[0]["subject"] == "Night market: we have your application"
    assert visitor.open(path).status_code == 410


def test_form_of_a_link_for_one_that_is_sent_twice_is_confirmed(owner: Client, visitor: Visitor) -> None:
    visitor.open(create_link(owner, email=INVITED, businessName="Kapana Corner", stallType="Food", feeMinor=120000))
    for _ in range(2):
        assert visitor.press(form=0, **TYPED).headers["Location"] == "/apply/sent"
    assert len(data(owner.get(LIST))["applications"]) == 1
    assert visitor.press(form=0, **{**TYPED, "products": "Something else"}).status_code == 410


@pytest.mark.parametrize(
    ("terms", "stall_types", "typed", "expected"),
    [
        ({}, [], {"stallType": "Crafts", "amount": "50"}, ("Crafts", 5000)),
        ({}, [{"name": "Food", "feeMinor": 700}], {"stallType": "Food"}, ("Food", 700)),
        ({"stallType": "food"}, [{"name": "Food", "feeMinor": 700}], {}, ("Food", 700)),
        ({"stallType": "Tent"}, [{"name": "Food", "feeMinor": 700}], {"amount": "8"}, ("Tent", 800)),
        ({"feeMinor": 5}, [{"name": "Food", "feeMinor": 700}], {"stallType": "Food"}, ("Food", 5)),
    ],
)
def test_open_terms_are_chosen_by_the_applicant(
    owner: Client,
    visitor: Visitor,
    terms: dict[str, Any],
    stall_types: list[dict[str, Any]],
    typed: dict[str, str],
    expected: tuple[str, int],
) -> None:
    visitor.open(create_link(owner, create_event(owner, stallTypes=stall_types), **terms))
    page = visitor.send(form=0, businessName="Kapana Corner", email=INVITED, **TYPED, **typed)
    assert "We have your application" in page.text
    (row,) = data(owner.get(LIST))["applications"]
    assert (row["stallType"], row["amountMinor"]) == expected


def test_errors_keep_the_terms_and_what_was_typed(owner: Client, visitor: Visitor) -> None:
    visitor.open(create_link(owner, email=INVITED, businessName="Kapana Corner"))
    page = visitor.send(form=0, contactName="", phone="12", destination="bank", stallType="")
    assert page.status_code == 422 and "Enter your name." in page.text and "Kapana Corner" in page.text
    assert visitor.forms[0].fields["phone"] == "12"
    assert read_row("SELECT uses FROM invite_link").uses == 0


def test_mailed_link_can_be_declined_once(owner: Client, client: Client, visitor: Visitor) -> None:
    event = create_event(owner, name="Night market")
    path = create_link(owner, event, email=INVITED, businessName="Kapana Corner")
    visitor.open(path)
    page = visitor.send(form=1)
    assert page.status_code == 200 and "You have declined" in page.text and "Send the application" not in page.text
    decline_link(slug=path.rpartition("/")[2])
    (mail,) = list_mails_to(OFFICE)
    assert mail["subject"] == "Kapana Corner does not take part" and "Night market" in mail["text"]
    slug = path.rpartition("/")[2]
    assert read_error(client.get(f"/api/events/merchant-invite/{slug}")) == (410, "INVITE_DECLINED")
    assert read_error(client.post(LIST, build_application_body(inviteSlug=slug))) == (410, "INVITE_DECLINED")
    assert create_link(owner, event, email=INVITED) != path


def test_link_without_an_address_cannot_be_declined(owner: Client, visitor: Visitor) -> None:
    path = create_link(owner)
    assert "Decline" not in visitor.open(path).text
    token = visitor.forms[0].fields["csrf_token"]
    assert visitor.flask.post(f"{path}/decline", data={"csrf_token": token}).status_code == 404
    assert visitor.flask.post(f"{path}x/decline", data={"csrf_token": token}).status_code == 404


def test_used_link_cannot_be_declined(owner: Client, visitor: Visitor) -> None:
    path = create_link(owner, email=INVITED, businessName="Kapana Corner", stallType="Food")
    visitor.open(path)
    visitor.press(form=0, **TYPED)
    assert visitor.press(form=1).status_code == 410
    assert read_row("SELECT declined_at FROM invite_link").declined_at is None


def decline_and_apply(client: Client, owner: Client) -> tuple[int, int]:
    """How many of the requests declined an invitation, and how many applied with it, all at the same time."""
    slug = create_link(owner, email=INVITED, maxUses=100).rpartition("/")[2]

    def act(number: int) -> str:
        if number % 2:
            body = build_application_body(inviteSlug=slug)
            return str(client.post(LIST, body, environ_base={"REMOTE_ADDR": f"127.3.{number}.1"}).status_code)
        with client.flask.application.app_context():
            decline_link(slug=slug)
        return "declined"

    run_concurrently(16, act)
    applied_later = "SELECT count(*) AS count FROM merchant_application, invite_link"
    return (
        read_row("SELECT count(*) AS count FROM outbox WHERE kind = 'invitations.mail_link_declined'").count,
        read_row(f"{applied_later} WHERE merchant_application.created_at > declined_at").count,
    )


def test_of_many_who_decline_and_apply_one_declines_and_none_applies_later(client: Client, owner: Client) -> None:
    declined, _ = decline_and_apply(client, owner)
    assert declined == 1 and len(list_mails_to(OFFICE)) >= 1
    subjects = [mail["subject"] for mail in list_mails_to(OFFICE)]
    assert sum("does not take part" in subject for subject in subjects) == 1
    row = read_row("SELECT uses, (SELECT count(*) FROM merchant_application) AS applications FROM invite_link")
    assert row.uses == row.applications


@pytest.mark.control
def test_without_the_condition_a_used_link_would_be_declined(
    owner: Client, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    slug = create_link(owner, email=INVITED).rpartition("/")[2]
    data(client.post(LIST, build_application_body(inviteSlug=slug)), 201)
    with pytest.raises(InviteUsed):
        decline_link(slug=slug)
    monkeypatch.setattr(link_answers, "link_state_sql", lambda: literal("open"))
    decline_link(slug=slug)
    assert read_row("SELECT declined_at FROM invite_link").declined_at is not None


def invite(owner: Client, merchant: Account, **terms: Any) -> str:
    """The path of the page of a merchant's new invitation."""
    event = create_published_event(owner, name="Night market")
    invite_id = invite_merchants(owner, event["id"], merchant, **terms)["invited"][0]["inviteId"]
    return f"/merchant-invite/{build_slug(invite_id, INVITE_KIND)}"


def sign_in(visitor: Visitor, account: Account, path: str = "/sign-in") -> None:
    visitor.open(path)
    visitor.send(email=account.email, password=PASSWORD)


def test_merchant_signs_in_from_the_mail_and_accepts(owner: Client, visitor: Visitor) -> None:
    merchant = create_merchant_account("Kapana Corner")
    path = invite(owner, merchant, stallType="Food", feeMinor=0)
    (mail,) = list_mails_to(merchant.email)
    assert path in mail["text"] and "accept or decline" in mail["text"] and "app where" not in mail["text"]
    assert "Sign in to accept or decline." in visitor.open(path).text
    sign_in(visitor, merchant, f"/sign-in?next={path}")
    assert visitor.page.request.path == path
    page = visitor.send(form=1, message="We need a power socket.", status="accepted")
    assert "You take part" in page.text
    row = read_row("SELECT status, reply FROM event_invite")
    assert tuple(row) == ("accepted", "We need a power socket.")
    assert list_mails_to(OFFICE)[0]["subject"] == "Kapana Corner takes part"


def test_accepted_invitation_with_a_fee_leads_to_its_payment(owner: Client, visitor: Visitor) -> None:
    merchant = create_merchant_account("Kapana Corner")
    path = invite(owner, merchant, stallType="Food", feeMinor=150000)
    sign_in(visitor, merchant)
    visitor.open(path)
    page = visitor.send(form=1, status="accepted")
    assert "The link to pay it is in your e-mail." in page.text and "You take part." not in page.text
    assert "/pay/" in list_mails_to(merchant.email)[0]["text"]
    with transaction() as session:
        participation = (
            "INSERT INTO participation (merchant_id, event_id) SELECT merchant_id, event_id FROM event_invite"
        )
        session.execute(text(participation))
    assert "You take part." in visitor.open(path).text


def test_merchant_declines(owner: Client, visitor: Visitor) -> None:
    merchant = create_merchant_account("Kapana Corner")
    path = invite(owner, merchant)
    sign_in(visitor, merchant)
    visitor.open(path)
    assert "You have declined" in visitor.send(form=2, status="declined").text
    assert read_row("SELECT status FROM event_invite").status == "declined"


def test_answer_needs_a_choice(owner: Client, visitor: Visitor) -> None:
    merchant = create_merchant_account()
    path = invite(owner, merchant)
    sign_in(visitor, merchant)
    visitor.open(path)
    page = visitor.send(form=1, message="Maybe" * 300)
    assert page.status_code == 422 and "Shorten the message to 1,000 characters." in page.text
    assert read_row("SELECT status FROM event_invite").status == "pending"


def test_nobody_else_can_answer(owner: Client, visitor: Visitor) -> None:
    path = invite(owner, create_merchant_account())
    visitor.open("/sign-in")
    token = {"csrf_token": visitor.forms[0].fields["csrf_token"]}
    unsigned = visitor.flask.post(f"{path}/answer", data={**token, "status": "accepted"})
    assert unsigned.status_code == 303 and unsigned.headers["Location"].endswith(f"/sign-in?next={path}")
    other = create_merchant_account()
    sign_in(visitor, other)
    page = visitor.open(path)
    assert f"You are signed in as {other.email}." in page.text and "Accept" not in page.text
    token = {"csrf_token": visitor.forms[0].fields["csrf_token"]}
    assert visitor.flask.post(f"{path}/answer", data={**token, "status": "accepted"}).status_code == 303
    assert read_row("SELECT status FROM event_invite").status == "pending"


def test_answer_needs_a_verified_address(owner: Client, visitor: Visitor) -> None:
    merchant = create_merchant_account()
    path = invite(owner, merchant)
    sign_in(visitor, merchant)
    with transaction() as session:
        session.execute(text("UPDATE account SET email_verified_at = NULL WHERE id = :id"), {"id": merchant.id})
    visitor.open(path)
    page = visitor.send(form=1, status="accepted")
    assert page.status_code == 403 and "Confirm your e-mail address first" in page.text
    assert "Confirm your e-mail address before you answer." in visitor.open("/invitations").text


def test_list_shows_states_and_answers(client: Client, owner: Client, visitor: Visitor) -> None:
    merchant = create_merchant_account()
    assert visitor.open("/invitations").headers["Location"] == "/sign-in?next=/invitations"
    sign_in(visitor, merchant)
    assert "Nobody has invited you yet." in visitor.open("/invitations").text
    assert 'href="/invitations"' in visitor.open("/account").text
    first = invite(owner, merchant, stallType="Food", feeMinor=150000)
    create_organiser_client(client)
    page = visitor.open("/invitations")
    for words in ("Night market", "open", "River grounds, Windhoek · Food · fee N$\u00a01\u202f500.00", first):
        assert words in page.text, words
    visitor.send(form=1, status="accepted")
    page = visitor.open("/invitations")
    assert "accepted" in page.text and len(visitor.forms) == 1


def test_list_is_for_merchants(client: Client, visitor: Visitor) -> None:
    sign_in(visitor, create_account("customer"))
    assert visitor.open("/invitations").status_code == 403
    assert 'href="/invitations"' not in visitor.open("/account").text
