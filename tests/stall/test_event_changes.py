"""An event that moves takes everything with it, and merchants get one mail about it."""

from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest

from app.core.throttle import Rule
from tests.factories.accounts import create_signed_in_client, list_mails_to
from tests.factories.applications import (
    EMAIL,
    LIST,
    create_application,
    create_offered_application,
    decide_application,
    find_mailed_token,
    upload_documents,
)
from tests.factories.crew import replace_crew
from tests.factories.events import create_event, create_organiser_client, create_published_event, update_event
from tests.factories.merchants import create_merchant_account, create_participant, invite_merchants
from tests.factories.payouts import execute_sql, fetch_scalar, run_all_jobs
from tests.http import Client, data
from tests.races import run_concurrently

ALL_KINDS = ("identity", "business_registration", "tax_clearance", "food_safety")


@pytest.fixture
def owner(client: Client) -> Client:
    return create_organiser_client(client)


def in_days(count: float) -> str:
    return (datetime.now(UTC) + timedelta(days=count)).isoformat()


def move(owner: Client, event: dict[str, Any], start: float, end: float) -> dict[str, Any]:
    moved_event = update_event(owner, event, startDate=in_days(start), endDate=in_days(end))
    run_all_jobs()
    return moved_event


def let_an_hour_pass() -> None:
    execute_sql("UPDATE outbox SET run_at = run_at - interval '61 minutes' WHERE state = 'ready'")
    run_all_jobs()


def list_moves(address: str = EMAIL) -> list[dict[str, Any]]:
    return [mail for mail in list_mails_to(address) if "another time" in mail["text"] or "The place of" in mail["text"]]


def get_fee(client: Client) -> dict[str, Any]:
    return data(client.get(f"{LIST}/pay/{find_mailed_token('pay')}"))


def approve(client: Client, owner: Client, event: dict[str, Any], **fields: Any) -> dict[str, Any]:
    documents = {"documentsRequired": fields.pop("documentsRequired", [])}
    return decide_application(owner, create_application(client, eventId=event["id"], **fields), **documents)


def test_links_are_prolonged_and_shortened_with_the_event(client: Client, owner: Client) -> None:
    event = create_published_event(owner, startDate=in_days(3), endDate=in_days(4))
    approve(client, owner, event)
    first = get_fee(client)
    assert first["dueAt"] == event["startsAt"] and first["expiresAt"] == event["endsAt"]
    later = move(owner, event, 9, 10)
    fee = get_fee(client)
    assert fee["dueAt"] == later["startsAt"] and fee["expiresAt"] == later["endsAt"]
    earlier = move(owner, event, 2, 3)
    fee = get_fee(client)
    assert fee["dueAt"] == earlier["startsAt"] and fee["expiresAt"] == earlier["endsAt"]
    update_event(owner, event, startDate=event["startsAt"], endDate=event["endsAt"])
    run_all_jobs()
    assert (get_fee(client)["dueAt"], get_fee(client)["expiresAt"]) == (first["dueAt"], first["expiresAt"])


def test_link_that_ended_before_the_new_due_day_works_again(client: Client, owner: Client) -> None:
    event = create_published_event(owner, startDate=in_days(3), endDate=in_days(4))
    approve(client, owner, event)
    token = find_mailed_token("pay")
    execute_sql("UPDATE application_link SET expires_at = now() - interval '1 minute'")
    assert client.get(f"{LIST}/pay/{token}").status_code == 410
    move(owner, event, 9, 10)
    assert client.get(f"{LIST}/pay/{token}").status_code == 200


def test_replaced_and_used_links_stay_ended(client: Client, owner: Client) -> None:
    event = create_published_event(owner, startDate=in_days(3), endDate=in_days(4))
    application = approve(client, owner, event)
    token = find_mailed_token("pay")
    data(owner.post(f"{LIST}/{application['id']}/links", {"purpose": "payment"}), 201)
    move(owner, event, 9, 10)
    assert client.get(f"{LIST}/pay/{token}").status_code == 410


def test_link_made_while_the_event_moved_follows_a_minute_later(client: Client, owner: Client) -> None:
    event = create_published_event(owner, startDate=in_days(3), endDate=in_days(4))
    approve(client, owner, event)
    later = move(owner, event, 9, 10)
    execute_sql("UPDATE application_link SET expires_at = now() + interval '4 days'")
    execute_sql("UPDATE outbox SET run_at = run_at - interval '1 minute' WHERE kind = 'applications.move_links'")
    run_all_jobs()
    assert get_fee(client)["expiresAt"] == later["endsAt"]


def test_chosen_day_after_the_event_is_due_when_it_begins(client: Client, owner: Client) -> None:
    event = create_published_event(owner, startDate=in_days(30), endDate=in_days(31))
    approve(client, owner, event, mode="schedule", scheduledFor=in_days(20))
    chosen = get_fee(client)
    assert chosen["dueAt"] > in_days(19)
    earlier = move(owner, event, 5, 6)
    fee = get_fee(client)
    assert fee["dueAt"] == earlier["startsAt"] and fee["expiresAt"] == earlier["endsAt"]
    let_an_hour_pass()
    (mail,) = list_moves()
    assert "when the fee was to be paid, the event is over. Pay earlier." in mail["text"] and "/pay/" in mail["text"]
    move(owner, event, 30, 31)
    assert get_fee(client)["dueAt"] == chosen["dueAt"]


def test_offers_of_places_follow(client: Client, owner: Client) -> None:
    waiting = create_offered_application(client, owner)
    run_all_jobs()
    event = data(owner.get(f"/api/events/{waiting['eventId']}"))
    token = find_mailed_token("place-offer")
    first = data(client.get(f"{LIST}/offer/{token}"))["expiresAt"]
    earlier = move(owner, event, 4, 5)
    moved_end = datetime.fromisoformat(data(client.get(f"{LIST}/offer/{token}"))["expiresAt"])
    assert moved_end == datetime.fromisoformat(earlier["startsAt"]) - timedelta(days=2)
    move(owner, event, 60, 61)
    assert data(client.get(f"{LIST}/offer/{token}"))["expiresAt"] == first


def test_invitations_follow(client: Client, owner: Client) -> None:
    event = create_published_event(owner, startDate=in_days(5), endDate=in_days(6))
    merchant = create_merchant_account()
    invite_id = invite_merchants(owner, event["id"], merchant)["invited"][0]["inviteId"]
    chosen = data(owner.post(f"/api/events/{event['id']}/merchant-invite", {"expiresAt": in_days(4)}), 201)
    me = create_signed_in_client(client, merchant)

    def get_deadline() -> datetime:
        (invite,) = data(me.get("/api/merchants/me/event-invites"))["invites"]
        assert invite["id"] == invite_id
        return datetime.fromisoformat(invite["expiresAt"])

    created = get_deadline()
    assert created == datetime.fromisoformat(event["startsAt"]) - timedelta(days=2)
    later = move(owner, event, 20, 21)
    assert get_deadline() < datetime.fromisoformat(later["startsAt"]) - timedelta(days=2)
    assert get_deadline() - created > timedelta(days=3)
    earlier = move(owner, event, 2.5, 3)
    assert get_deadline() == datetime.fromisoformat(earlier["startsAt"]) - timedelta(days=2)
    query = "SELECT expires_at FROM invite_link WHERE id = :id"
    assert fetch_scalar(query, id=chosen["id"]) == datetime.fromisoformat(earlier["endsAt"])


def test_planned_shifts_move_by_the_days_of_the_event(client: Client, owner: Client) -> None:
    event = create_published_event(owner, startDate="2027-06-04T18:00", endDate="2027-06-06T23:00")
    me, account = create_participant(client, owner, event["id"])
    path = f"/api/merchants/me/events/{event['id']}/crew"
    (member,) = replace_crew(me, path, {"name": "Selma"})
    shift = {"crewMemberId": member["id"], "startsAt": "2027-06-05T16:00", "endsAt": "2027-06-05T23:00"}
    data(me.put(f"{path}/planned-shifts", {"plannedShifts": [shift]}))
    update_event(owner, event, startDate="2027-06-11T20:00", endDate="2027-06-12T12:00")
    run_all_jobs()
    plan = data(me.get(f"{path}/planned-shifts"))
    assert plan["plannedShifts"][0]["startsAt"] == "2027-06-12T14:00:00.000Z"
    assert plan["plannedShifts"][0]["endsAt"] == "2027-06-12T21:00:00.000Z" and plan["version"] == 3
    let_an_hour_pass()
    (mail,) = list_moves(account.email)
    assert "Your planned shifts have moved" in mail["text"] and "1 planned shift begins when" in mail["text"]


def test_shifts_stay_when_only_the_time_of_day_changes(client: Client, owner: Client) -> None:
    event = create_published_event(owner, startDate="2027-06-04T18:00", endDate="2027-06-06T23:00")
    me, _ = create_participant(client, owner, event["id"])
    path = f"/api/merchants/me/events/{event['id']}/crew"
    (member,) = replace_crew(me, path, {"name": "Selma"})
    shift = {"crewMemberId": member["id"], "startsAt": "2027-06-05T16:00", "endsAt": "2027-06-05T23:00"}
    data(me.put(f"{path}/planned-shifts", {"plannedShifts": [shift]}))
    update_event(owner, event, startDate="2027-06-04T20:00")
    run_all_jobs()
    plan = data(me.get(f"{path}/planned-shifts"))
    assert plan["plannedShifts"][0]["startsAt"] == "2027-06-05T14:00:00.000Z" and plan["version"] == 2


def test_document_that_expires_before_the_new_end_is_asked_for_again(client: Client, owner: Client) -> None:
    event = create_published_event(owner, startDate=in_days(10), endDate=in_days(11))
    application = approve(client, owner, event, documentsRequired=list(ALL_KINDS))
    token = find_mailed_token("documents")
    expiry = (date.today() + timedelta(days=20)).isoformat()
    data(upload_documents(client, token, "identity", identityExpiresOn=expiry))
    submit = data(upload_documents(client, token, *ALL_KINDS[1:], submit="true"))
    assert submit["status"] == "awaiting_payment"
    move(owner, event, 30, 31)
    let_an_hour_pass()
    row = data(owner.get(f"{LIST}/{application['id']}"))
    assert row["status"] == "awaiting_documents" and row["documentsSubmittedAt"] is None
    (mail,) = list_moves()
    assert "Identity document: it is valid until" in mail["text"] and "/documents/" in mail["text"]
    data(upload_documents(client, find_mailed_token("documents"), "identity", submit="true"))
    assert data(owner.get(f"{LIST}/{application['id']}"))["status"] == "awaiting_payment"


def test_documents_stay_accepted_when_the_move_is_taken_back(client: Client, owner: Client) -> None:
    event = create_published_event(owner, startDate=in_days(10), endDate=in_days(11))
    application = approve(client, owner, event, documentsRequired=list(ALL_KINDS))
    token = find_mailed_token("documents")
    expiry = (date.today() + timedelta(days=20)).isoformat()
    data(upload_documents(client, token, "identity", identityExpiresOn=expiry))
    data(upload_documents(client, token, *ALL_KINDS[1:], submit="true"))
    move(owner, event, 30, 31)
    update_event(owner, event, startDate=event["startsAt"], endDate=event["endsAt"])
    run_all_jobs()
    let_an_hour_pass()
    assert data(owner.get(f"{LIST}/{application['id']}"))["status"] == "awaiting_payment" and not list_moves()


def test_several_changes_in_an_hour_are_one_mail(client: Client, owner: Client) -> None:
    event = create_published_event(owner, name="Windhoek Lights", startDate=in_days(20), endDate=in_days(21))
    approve(client, owner, event)
    me, account = create_participant(client, owner, event["id"])
    move(owner, event, 25, 26)
    moved = move(owner, event, 30, 31)
    update_event(owner, event, venue="Sports ground")
    run_all_jobs()
    assert not list_moves()
    let_an_hour_pass()
    let_an_hour_pass()
    for address in (EMAIL, account.email):
        (mail,) = list_moves(address)
        assert mail["subject"].startswith("Windhoek Lights has moved: ")
        assert "Before, it was: " in mail["text"] and "Sports ground, Windhoek" in mail["text"]
        assert "River grounds, Windhoek" in mail["text"] and moved["startsAt"][:4] in mail["text"]
    assert "/sign-in?next=/stall" in list_moves(account.email)[0]["text"]
    assert "Pay by " in list_moves()[0]["text"] and "/pay/" in list_moves()[0]["text"]
    update_event(owner, event, venue="River grounds")
    let_an_hour_pass()
    assert len(list_moves()) == 2 and "has a new place" in list_moves()[0]["subject"]


def test_merchant_with_a_stall_and_an_application_gets_one_mail(client: Client, owner: Client) -> None:
    event = create_published_event(owner, startDate=in_days(20), endDate=in_days(21))
    me, account = create_participant(client, owner, event["id"])
    approve(me, owner, event, email=account.email.upper())
    move(owner, event, 25, 26)
    let_an_hour_pass()
    (mail,) = list_moves(account.email)
    assert "Pay by " in mail["text"] and "Open your stall" in mail["text"]


@pytest.mark.parametrize("status", ["draft", "ended", "declined", "unverified_sender"])
def test_nobody_else_gets_a_mail(client: Client, owner: Client, status: str) -> None:
    if status == "draft":
        event = create_event(owner, startDate=in_days(20), endDate=in_days(21))
        _, account = create_participant(client, owner, event["id"])
        address = account.email
    else:
        event = create_published_event(owner, startDate=in_days(20), endDate=in_days(21))
        application = create_application(client, eventId=event["id"])
        address = EMAIL
        if status == "declined":
            decide_application(owner, application, "declined")
    move(owner, event, 25, 26)
    if status == "ended":
        data(owner.patch(f"/api/events/{event['id']}", {"visibility": "cancelled"}))
    if status == "unverified_sender":
        execute_sql("UPDATE account SET email_verified_at = NULL")
    let_an_hour_pass()
    assert not list_moves(address)


def test_mail_waits_for_the_daily_limit(client: Client, owner: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    event = create_published_event(owner, startDate=in_days(20), endDate=in_days(21))
    approve(client, owner, event)
    no_mails = Rule("mails-recipient", 0, timedelta(days=1))
    monkeypatch.setattr("app.accounts.outgoing_mail.MAILS_PER_RECIPIENT", no_mails)
    move(owner, event, 25, 26)
    let_an_hour_pass()
    assert not list_moves()
    monkeypatch.undo()
    let_an_hour_pass()
    assert len(list_moves()) == 1


def test_changes_at_once_enqueue_one_announcement(client: Client, owner: Client) -> None:
    event = create_published_event(owner, startDate=in_days(20), endDate=in_days(21))
    approve(client, owner, event)
    run_concurrently(8, lambda index: update_event(owner, event, venue=f"Field {index}"))
    query = "SELECT count(*) FROM outbox WHERE kind = 'stall.announce_event_change'"
    assert fetch_scalar(query) == 1
    let_an_hour_pass()
    assert len(list_moves()) == 1
