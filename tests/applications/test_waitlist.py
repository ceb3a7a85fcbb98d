"""The waitlist of a stall type: who is next in line gets one offer when a place is free."""

from collections import Counter
from datetime import UTC, datetime, timedelta
from threading import Barrier
from typing import Any

import pytest

from app.applications import stall_types, waitlist
from app.applications.models import Application
from tests.factories.accounts import list_mails_to
from tests.factories.applications import LIST, create_application, find_mailed_token
from tests.factories.events import create_organiser_client, create_published_event, update_event
from tests.factories.merchants import create_merchant_client
from tests.factories.payouts import execute_sql, fetch_scalar
from tests.http import Client, data, list_problems, read_error
from tests.pages.pages import Visitor
from tests.races import run_concurrently

LISTED = [{"name": "Food stall", "feeMinor": 150000, "quantity": 1}, {"name": "Crafts", "feeMinor": 80000}]
TYPE = {"stallType": "food stall", "amountMinor": 150000}


@pytest.fixture
def owner(client: Client) -> Client:
    return create_organiser_client(client)


@pytest.fixture
def event(owner: Client) -> dict[str, Any]:
    return create_published_event(owner, name="Windhoek Lights", stallTypes=LISTED)


def address(name: str) -> str:
    return f"{name}@example.com"


def apply(client: Client, event: dict[str, Any], name: str, **fields: Any) -> dict[str, Any]:
    return create_application(client, eventId=event["id"], email=address(name), **{**TYPE, **fields})


def decide(owner: Client, application: dict[str, Any], decision: str, **fields: Any) -> Any:
    return owner.patch(f"{LIST}/{application['id']}", {"decision": decision, **fields})


def read(owner: Client, application: dict[str, Any]) -> dict[str, Any]:
    return data(owner.get(f"{LIST}/{application['id']}"))


def wait_in_line(client: Client, owner: Client, event: dict[str, Any], *names: str, **ranks: int) -> list[Any]:
    """Applications on the waitlist, in the order of their names."""
    applications = [apply(client, event, name) for name in names]
    for name, application in zip(names, applications, strict=True):
        rank = {"waitlistRank": ranks[name]} if name in ranks else {}
        assert data(decide(owner, application, "waitlisted", **rank))["status"] == "waitlisted"
    return applications


def take_the_place(client: Client, owner: Client, event: dict[str, Any]) -> dict[str, Any]:
    application = apply(client, event, "first")
    data(decide(owner, application, "approved", documentsRequired=[]))
    return application


def offer_places() -> None:
    """What the service does every minute."""
    while waitlist.lapse_offers():
        pass
    for event_id, stall_type in waitlist.list_waiting_types():
        while waitlist.offer_next_place(event_id, stall_type):
            pass


def answer(client: Client, token: str, given: str = "accepted", number: int = 0) -> Any:
    return client.post(f"{LIST}/offer/{token}", {"answer": given}, environ_base={"REMOTE_ADDR": f"127.6.{number}.1"})


def find_offer(name: str) -> str:
    return find_mailed_token("place-offer", address(name))


def has_offer(name: str) -> bool:
    return any("/place-offer/" in mail["text"] for mail in list_mails_to(address(name)))


def test_next_in_line_gets_an_offer_when_a_place_is_free(client: Client, owner: Client, event: dict[str, Any]) -> None:
    first = take_the_place(client, owner, event)
    second, third = wait_in_line(client, owner, event, "second", "third")
    assert "you are on the waitlist" in list_mails_to(address("second"))[0]["subject"]
    offer_places()
    assert not has_offer("second")
    data(decide(owner, first, "declined", reason="They cannot come"))
    offer_places()
    assert has_offer("second") and not has_offer("third")
    offer = read(owner, second)["offer"]
    assert offer["status"] == "open"
    page = data(client.get(f"{LIST}/offer/{find_offer('second')}"))
    assert page["expiresAt"] == offer["expiresAt"] and page["answer"] is None and page["amountMinor"] == 150000
    left = datetime.fromisoformat(offer["expiresAt"]) - datetime.now(UTC)
    assert timedelta(days=3) - timedelta(minutes=5) < left < timedelta(days=4)
    assert read(owner, third)["offer"] is None


def test_accepting_approves_and_mails_the_due_links(client: Client, owner: Client, event: dict[str, Any]) -> None:
    (second,) = wait_in_line(client, owner, event, "second")
    offer_places()
    answered = data(answer(client, find_offer("second")))
    assert (answered["answer"], answered["status"]) == ("accepted", "awaiting_documents")
    row = read(owner, second)
    assert row["decision"] == "approved" and row["offer"]["status"] == "accepted"
    assert find_mailed_token("documents", address("second")) and find_mailed_token("pay", address("second"))
    assert data(answer(client, find_offer("second")))["answer"] == "accepted"
    assert read_error(answer(client, find_offer("second"), "declined")) == (410, "LINK_USED")
    assert len([mail for mail in list_mails_to(address("second")) if "approved" in mail["subject"]]) == 1


def test_an_approval_keeps_what_was_decided_for_the_waitlist(
    client: Client, owner: Client, event: dict[str, Any]
) -> None:
    application = apply(client, event, "second")
    data(decide(owner, application, "waitlisted", documentsRequired=["identity"], reviewerNotes="Good bread"))
    data(decide(owner, application, "approved"))
    row = read(owner, application)
    assert [document["kind"] for document in row["documents"] if document["required"]] == ["identity"]
    assert row["reviewerNotes"] == "Good bread"


def test_documents_that_the_decider_chose_are_required(client: Client, owner: Client, event: dict[str, Any]) -> None:
    application = apply(client, event, "second")
    data(decide(owner, application, "waitlisted", documentsRequired=[], feeMinor=90000, reason="A school"))
    offer_places()
    assert data(answer(client, find_offer("second")))["status"] == "awaiting_payment"
    assert read(owner, application)["amountMinor"] == 90000


def test_saying_no_ends_it_and_the_next_is_offered(client: Client, owner: Client, event: dict[str, Any]) -> None:
    second, third = wait_in_line(client, owner, event, "second", "third")
    offer_places()
    declined = data(answer(client, find_offer("second"), "declined"))
    assert (declined["answer"], declined["status"]) == ("declined", "declined")
    assert "ended" in list_mails_to(address("second"))[0]["subject"]
    assert has_offer("third")
    assert [read(owner, each)["offer"]["status"] for each in (second, third)] == ["declined", "open"]


def test_offer_that_lapses_goes_to_the_next(client: Client, owner: Client, event: dict[str, Any]) -> None:
    second, _ = wait_in_line(client, owner, event, "second", "third")
    offer_places()
    token = find_offer("second")
    execute_sql("UPDATE application_link SET expires_at = now() WHERE purpose = 'offer'")
    assert read_error(answer(client, token)) == (410, "PLACE_OFFER_ENDED")
    offer_places()
    row = read(owner, second)
    assert (row["status"], row["offer"]["status"]) == ("expired", "ended")
    assert "ended" in list_mails_to(address("second"))[0]["subject"]
    assert has_offer("third")
    assert read_error(client.get(f"{LIST}/offer/{token}")) == (410, "PLACE_OFFER_ENDED")


def test_line_is_the_order_of_the_organiser_then_of_time(client: Client, owner: Client, event: dict[str, Any]) -> None:
    names = ("second", "third", "fourth")
    second, _, fourth = wait_in_line(client, owner, event, *names, fourth=1)
    assert read(owner, fourth)["waitlistRank"] == 1
    version = read(owner, second)["version"]
    assert data(decide(owner, second, "waitlisted"))["version"] == version
    assert data(decide(owner, fourth, "waitlisted", waitlistRank=None))["waitlistRank"] is None
    assert data(decide(owner, fourth, "waitlisted", waitlistRank=5))["waitlistRank"] == 5
    offer_places()
    assert [has_offer(name) for name in names] == [False, False, True]


def test_approval_counts_an_open_offer_as_a_taken_place(client: Client, owner: Client, event: dict[str, Any]) -> None:
    (second,) = wait_in_line(client, owner, event, "second")
    other = apply(client, event, "other")
    offer_places()
    token = find_offer("second")
    assert read_error(decide(owner, other, "approved")) == (409, "STALL_TYPE_FULL")
    assert data(decide(owner, second, "approved"))["status"] == "awaiting_documents"
    assert read_error(answer(client, token)) == (410, "PLACE_OFFER_ENDED")
    assert read_error(decide(owner, other, "approved")) == (409, "STALL_TYPE_FULL")


def test_organiser_declines_who_has_an_offer(client: Client, owner: Client, event: dict[str, Any]) -> None:
    second, _ = wait_in_line(client, owner, event, "second", "third")
    offer_places()
    token = find_offer("second")
    assert data(decide(owner, second, "declined"))["status"] == "declined"
    assert read_error(answer(client, token)) == (410, "PLACE_OFFER_ENDED")
    assert has_offer("third")
    data(decide(owner, second, "submitted", reason="a mistake"))
    data(decide(owner, second, "waitlisted"))
    update_event(owner, event, stallTypes=[{**LISTED[0], "quantity": 2}, LISTED[1]])
    offer_places()
    assert read(owner, second)["offer"]["status"] == "ended"


def test_withdrawal_frees_the_place_for_the_next(client: Client, owner: Client, event: dict[str, Any]) -> None:
    merchant = create_merchant_client(client)
    mine = create_application(merchant, eventId=event["id"], **TYPE)
    data(decide(owner, mine, "approved"))
    wait_in_line(client, owner, event, "second")
    data(merchant.post(f"{LIST}/{mine['id']}/withdraw"))
    assert has_offer("second")


def test_a_raised_quantity_frees_places(client: Client, owner: Client, event: dict[str, Any]) -> None:
    take_the_place(client, owner, event)
    wait_in_line(client, owner, event, "second", "third", "fourth")
    update_event(owner, event, stallTypes=[{**LISTED[0], "quantity": 3}, LISTED[1]])
    offer_places()
    assert [has_offer(name) for name in ("second", "third", "fourth")] == [True, True, False]


def test_who_has_no_address_is_left_to_the_organiser(client: Client, owner: Client, event: dict[str, Any]) -> None:
    silent = create_application(client, eventId=event["id"], email=None, phone=None, **TYPE)
    data(decide(owner, silent, "waitlisted"))
    wait_in_line(client, owner, event, "second")
    offer_places()
    assert has_offer("second") and read(owner, silent)["offer"] is None


@pytest.mark.parametrize(
    ("starts", "least", "most"),
    [("7 days", "3 days", "4 days"), ("3 days", "1 day", "1 day"), ("59 hours", None, None), ("1 day", None, None)],
)
def test_offer_ends_two_days_before_the_event(
    client: Client, owner: Client, event: dict[str, Any], starts: str, least: str | None, most: str | None
) -> None:
    wait_in_line(client, owner, event, "second")
    execute_sql(f"UPDATE event SET starts_at = now() + interval '{starts}', ends_at = now() + interval '9 days'")
    offer_places()
    assert has_offer("second") == (least is not None)
    if least is not None:
        earliest, latest = f"created_at + interval '{least}' - interval '1 minute'", f"created_at + interval '{most}'"
        assert fetch_scalar(f"SELECT expires_at BETWEEN {earliest} AND {latest} FROM application_link")


def test_no_offer_for_an_event_that_is_cancelled(client: Client, owner: Client, event: dict[str, Any]) -> None:
    wait_in_line(client, owner, event, "second")
    execute_sql("UPDATE event SET visibility = 'cancelled'")
    offer_places()
    assert not has_offer("second")
    execute_sql("UPDATE event SET visibility = 'published'")
    offer_places()
    execute_sql("UPDATE event SET visibility = 'cancelled'")
    assert read_error(answer(client, find_offer("second"))) == (409, "APPLICATIONS_CLOSED")


def test_organiser_who_is_not_verified_makes_no_offers(client: Client, owner: Client, event: dict[str, Any]) -> None:
    wait_in_line(client, owner, event, "second")
    execute_sql("UPDATE account SET email_verified_at = NULL WHERE id = (SELECT organiser_id FROM event LIMIT 1)")
    offer_places()
    assert not has_offer("second") and fetch_scalar("SELECT count(*) FROM application_link") == 0


def test_only_types_with_a_quantity_have_a_waitlist(client: Client, owner: Client, event: dict[str, Any]) -> None:
    crafts = apply(client, event, "second", stallType="Crafts", amountMinor=80000)
    assert read_error(decide(owner, crafts, "waitlisted")) == (409, "NO_WAITLIST")
    approved = take_the_place(client, owner, event)
    assert read_error(decide(owner, approved, "waitlisted")) == (409, "ALREADY_DECIDED")
    assert list_problems(decide(owner, crafts, "approved", waitlistRank=1)) == {"waitlistRank": "unexpected_value"}
    (second,) = wait_in_line(client, owner, event, "second")
    assert read_error(decide(owner, second, "submitted", reason="Later")) == (409, "APPLICATION_STATE")


def test_rank_is_for_deciders_only(client: Client, owner: Client, event: dict[str, Any]) -> None:
    merchant = create_merchant_client(client)
    mine = create_application(merchant, eventId=event["id"], **TYPE)
    data(decide(owner, mine, "waitlisted", waitlistRank=3))
    row = read(merchant, mine)
    assert "waitlistRank" not in row and row["offer"] is None
    assert [each["code"] for each in row["requirements"]] == ["ON_WAITLIST"]


def test_page_of_an_offer(client: Client, owner: Client, event: dict[str, Any]) -> None:
    wait_in_line(client, owner, event, "second", "third")
    offer_places()
    token = find_offer("second")
    visitor = Visitor(client.flask)
    page = visitor.open(f"/place-offer/{token}")
    assert "Answer by" in page.text and "Food stall" in page.text
    assert "Do you not want the place?" in visitor.open(f"/place-offer/{token}?decline=1").text
    visitor.open(f"/place-offer/{token}")
    accepted = visitor.press(answer="accepted")
    assert accepted.status_code == 303
    page = visitor.open(f"/place-offer/{token}")
    assert "The place is yours" in page.text and "/documents/" in page.text
    execute_sql("UPDATE application_link SET expires_at = now() WHERE purpose = 'offer'")
    page = visitor.open(f"/place-offer/{token}")
    assert "The place is yours" in page.text and "/documents/" not in page.text
    assert visitor.open("/place-offer/unknown").status_code == 404


def test_page_of_an_offer_that_has_ended(client: Client, owner: Client, event: dict[str, Any]) -> None:
    wait_in_line(client, owner, event, "second", "third")
    offer_places()
    token, visitor = find_offer("second"), Visitor(client.flask)
    visitor.open(f"/place-offer/{token}?decline=1")
    assert visitor.press(answer="declined").status_code == 303
    assert "You did not take the place" in visitor.open(f"/place-offer/{token}").text
    other_token = find_offer("third")
    execute_sql("UPDATE application_link SET expires_at = now() WHERE purpose = 'offer'")
    ended = visitor.open(f"/place-offer/{other_token}")
    assert ended.status_code == 410 and "This offer has ended" in ended.text


def test_page_of_an_accepted_offer_ends_with_the_application(
    client: Client, owner: Client, event: dict[str, Any]
) -> None:
    (second,) = wait_in_line(client, owner, event, "second")
    offer_places()
    token = find_offer("second")
    data(answer(client, token))
    data(decide(owner, second, "declined", reason="a mistake"))
    ended = Visitor(client.flask).open(f"/place-offer/{token}")
    assert ended.status_code == 410 and "The place is yours" not in ended.text


def test_64_answers_accept_once(client: Client, owner: Client, event: dict[str, Any]) -> None:
    wait_in_line(client, owner, event, "second")
    offer_places()
    token = find_offer("second")
    answers = run_concurrently(64, lambda number: answer(client, token, number=number))
    assert {each.status_code for each in answers} <= {200, 503}
    assert fetch_scalar("SELECT count(*) FROM outbox WHERE payload->>'template' = 'application_approved'") == 1
    assert fetch_scalar("SELECT count(*) FROM application_link WHERE purpose = 'pay' OR purpose = 'payment'") == 1


def change_fee(owner: Client, application: dict[str, Any], fee_minor: int) -> None:
    data(decide(owner, application, "waitlisted", feeMinor=fee_minor, reason="A better place"))


def test_a_fee_that_changed_since_it_was_shown_is_not_accepted(
    client: Client, owner: Client, event: dict[str, Any]
) -> None:
    (second,) = wait_in_line(client, owner, event, "second")
    offer_places()
    path = f"{LIST}/offer/{find_offer('second')}"
    change_fee(owner, second, 990000)
    refused = client.post(path, {"answer": "accepted", "amountMinor": 150000})
    assert read_error(refused) == (409, "PLACE_OFFER_CHANGED")
    assert refused.get_json()["data"] == {"amountMinor": 990000}
    assert read(owner, second)["status"] == "waitlisted"
    assert data(client.post(path, {"answer": "accepted", "amountMinor": 990000}))["amountMinor"] == 990000
    assert read(owner, second)["amountMinor"] == 990000


def test_the_page_shows_a_changed_fee_before_it_is_accepted(
    client: Client, owner: Client, event: dict[str, Any]
) -> None:
    (second,) = wait_in_line(client, owner, event, "second")
    offer_places()
    token, visitor = find_offer("second"), Visitor(client.flask)
    visitor.open(f"/place-offer/{token}")
    change_fee(owner, second, 990000)
    refused = visitor.press(answer="accepted")
    assert refused.status_code == 409 and "has changed the fee" in refused.text
    assert "9\u202f900.00" in refused.text.replace("\u00a0", "\u202f")
    assert read(owner, second)["status"] == "waitlisted"
    visitor.open(f"/place-offer/{token}")
    assert visitor.press(answer="accepted").status_code == 303
    assert read(owner, second)["status"] == "awaiting_documents"


def test_a_changed_list_does_not_change_an_offer(client: Client, owner: Client, event: dict[str, Any]) -> None:
    (second,) = wait_in_line(client, owner, event, "second")
    offer_places()
    update_event(owner, event, stallTypes=[{**LISTED[0], "feeMinor": 990000}, LISTED[1]])
    body = {"answer": "accepted", "amountMinor": 150000}
    assert data(client.post(f"{LIST}/offer/{find_offer('second')}", body))["amountMinor"] == 150000
    assert read(owner, second)["amountMinor"] == 150000


def test_fee_that_changes_while_the_offer_is_accepted_is_shown_or_refused(
    client: Client, owner: Client, event: dict[str, Any]
) -> None:
    (second,) = wait_in_line(client, owner, event, "second")
    offer_places()
    path, body = f"{LIST}/offer/{find_offer('second')}", {"answer": "accepted", "amountMinor": 150000}
    fee_change = {"decision": "waitlisted", "feeMinor": 990000, "reason": "A better place"}
    calls = (
        lambda: client.post(path, body).status_code,
        lambda: owner.patch(f"{LIST}/{second['id']}", fee_change).status_code,
    )
    accepted, changed = run_concurrently(2, lambda at: calls[at]())
    assert (accepted, changed) in ((200, 409), (409, 200))
    assert read(owner, second)["amountMinor"] == (150000 if accepted == 200 else 990000)


def test_the_offer_counts_the_mail_after_it(client: Client, owner: Client, event: dict[str, Any]) -> None:
    wait_in_line(client, owner, event, "second")
    hits = "SELECT coalesce(sum(hits), 0) FROM throttle WHERE key LIKE 'mails-sender%'"
    before = fetch_scalar(hits)
    offer_places()
    assert fetch_scalar(hits) == before + 2
    data(answer(client, find_offer("second")))
    assert fetch_scalar(hits) == before + 2


def test_of_accepting_and_declining_at_once_one_counts(client: Client, owner: Client, event: dict[str, Any]) -> None:
    wait_in_line(client, owner, event, "second")
    offer_places()
    token, given = find_offer("second"), ("accepted", "declined")
    answers = run_concurrently(16, lambda number: answer(client, token, given[number % 2], number))
    assert Counter(each.status_code for each in answers) == {200: 8, 410: 8}


def test_accepting_while_the_offer_lapses_ends_in_one_way(client: Client, owner: Client, event: dict[str, Any]) -> None:
    applications = wait_in_line(client, owner, event, "second", "third")
    offer_places()
    token = find_offer("second")
    execute_sql(
        "UPDATE application_link SET expires_at = clock_timestamp() + interval '150 ms' WHERE purpose = 'offer'"
    )

    def run(number: int) -> Any:
        with client.flask.application.app_context():
            return offer_places() if number % 2 else answer(client, token, number=number)

    for _ in range(4):
        run_concurrently(8, run)
    taken = [read(owner, each) for each in applications]
    assert [row["status"] for row in taken] in (["awaiting_documents", "waitlisted"], ["expired", "waitlisted"])
    assert (taken[1]["offer"] is None) == (taken[0]["status"] == "awaiting_documents")


def test_stall_types_are_listed_with_their_places_and_lines(
    client: Client, owner: Client, event: dict[str, Any]
) -> None:
    path = f"/api/events/{event['id']}/stall-types"
    wait_in_line(client, owner, event, "second", "third", third=1)
    food, crafts = data(owner.get(path))["stallTypes"]
    assert (food["name"], food["quantity"], food["taken"], food["left"]) == ("Food stall", 1, 0, 1)
    assert [row["waitlistRank"] for row in food["line"]] == [1, None]
    assert (crafts["quantity"], crafts["left"], crafts["line"]) == (None, None, [])
    offer_places()
    (food, _) = data(owner.get(path))["stallTypes"]
    assert (food["taken"], food["left"]) == (1, 0)
    assert [(row["hasOffer"], row["canGetOffer"]) for row in food["line"]] == [(True, False), (False, True)]
    assert read_error(create_organiser_client(client).get(path)) == (404, "NOT_FOUND")


def offer(owner: Client, application: dict[str, Any]) -> Any:
    return owner.post(f"{LIST}/{application['id']}/offer-place")


def test_decider_offers_a_place_to_the_next_in_line(client: Client, owner: Client, event: dict[str, Any]) -> None:
    submitted = apply(client, event, "first")
    second, third = wait_in_line(client, owner, event, "second", "third")
    assert read_error(offer(owner, submitted)) == (409, "APPLICATION_STATE")
    assert read_error(offer(owner, third)) == (409, "APPLICATION_STATE")
    assert data(offer(owner, second))["offer"]["status"] == "open" and has_offer("second")
    assert read_error(offer(owner, third)) == (409, "STALL_TYPE_FULL")
    version = data(offer(owner, second))["version"]
    answers = run_concurrently(6, lambda _: offer(owner, second))
    assert {data(response)["version"] for response in answers} == {version}
    offers = [mail for mail in list_mails_to(address("second")) if "/place-offer/" in mail["text"]]
    assert len(offers) == 1


def test_of_many_offers_at_once_one_is_made(client: Client, owner: Client, event: dict[str, Any]) -> None:
    applications = wait_in_line(client, owner, event, "second", "third")
    answers = run_concurrently(8, lambda number: offer(owner, applications[number % 2]).status_code)
    assert set(answers) <= {200, 409} and fetch_scalar("SELECT count(*) FROM application_link") == 1
    assert has_offer("second") and not has_offer("third")


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE event SET starts_at = now() + interval '1 day', ends_at = now() + interval '2 days'",
        "UPDATE event SET visibility = 'cancelled'",
        "UPDATE merchant_application SET email = NULL",
    ],
)
def test_offer_that_nobody_can_answer_is_refused(
    client: Client, owner: Client, event: dict[str, Any], change: str
) -> None:
    (second,) = wait_in_line(client, owner, event, "second")
    execute_sql(change)
    assert read_error(offer(owner, second)) == (409, "APPLICATION_STATE")
    assert fetch_scalar("SELECT count(*) FROM application_link") == 0


def offer_at_once(client: Client, event: dict[str, Any], callers: int = 8) -> int:
    """How many offers simultaneous runs made."""

    def run(_: int) -> None:
        with client.flask.application.app_context():
            waitlist.offer_next_place(event["id"], "Food stall")

    run_concurrently(callers, run)
    return int(fetch_scalar("SELECT count(*) FROM application_link WHERE purpose = 'offer'"))


def test_one_place_is_offered_once(client: Client, owner: Client, event: dict[str, Any]) -> None:
    wait_in_line(client, owner, event, "second", "third", "fourth", "fifth")
    assert offer_at_once(client, event) == 1


@pytest.mark.control
def test_without_the_lock_one_place_is_offered_several_times(
    client: Client, owner: Client, event: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """All runs count the places before one of them makes its offer, and each takes another application."""
    applications = iter(wait_in_line(client, owner, event, "second", "third", "fourth", "fifth"))
    barrier, count_taken = Barrier(4), waitlist.count_taken

    def count_at_the_same_time(session: Any, event_id: str, name: str) -> int:
        taken = count_taken(session, event_id, name)
        barrier.wait(timeout=90)
        return taken

    monkeypatch.setattr(stall_types, "lock_name", lambda *_: None)
    monkeypatch.setattr(waitlist, "count_taken", count_at_the_same_time)
    monkeypatch.setattr(
        waitlist, "_lock_next_in_line", lambda session, *_: session.get(Application, next(applications)["id"])
    )
    assert offer_at_once(client, event, 4) == 4
