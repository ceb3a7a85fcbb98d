"""The home of a merchant, as a browser without scripts uses it."""

import re
from datetime import UTC, datetime, timedelta

import pytest
from flask import Flask

from app.accounts.models import Account
from app.core.clock import rfc3339
from tests.counting import count_statements
from tests.factories.accounts import PASSWORD, create_account, create_customer, create_signed_in_client
from tests.factories.applications import (
    create_approved_application,
    find_mailed_token,
    pay_stall_fee,
    submit_documents,
)
from tests.factories.crew import replace_crew, start_shift
from tests.factories.events import create_organiser_client, create_published_event, update_event
from tests.factories.merchants import create_merchant_account, create_participant, invite_merchants
from tests.factories.payouts import WALLET, create_earning_merchant, execute_sql, fetch_scalar, request_payout
from tests.http import Client, data
from tests.pages.pages import Visitor
from tests.pages.test_account_page import sign_in_browser
from tests.pages.test_team_pages import press
from tests.teams.test_members import accept

HOME = "/stall"


def begin_event(event_id: str) -> None:
    execute_sql("UPDATE event SET starts_at = now() - interval '1 hour' WHERE id = :id", id=event_id)


def find_title(page: str) -> str:
    return page.split("<h1>")[1].split("</h1>")[0]


def create_stall_owner(client: Client) -> tuple[Client, Account, str]:
    """A merchant who takes part in an event: client, account, and the id of the event."""
    organiser = create_organiser_client(client)
    event_id: str = create_published_event(organiser, name="Windhoek Lights")["id"]
    me, account = create_participant(client, organiser, event_id)
    return me, account, event_id


def create_member(client: Client, owner: Account, role: str) -> Account:
    member = create_customer(name="Selma Nangolo")
    body = {"email": member.email, "role": role}
    data(create_signed_in_client(client, owner).post("/api/merchants/me/members", body), 201)
    accept(client, member)
    return member


def test_signed_in_merchant_lands_at_the_stall(app: Flask, visitor: Visitor, client: Client) -> None:
    merchant = create_merchant_account()
    visitor.open("/sign-in")
    page = visitor.send(email=merchant.email, password=PASSWORD)
    assert page.request.path == HOME and "Nothing to do now" in page.text
    assert visitor.flask.get("/sign-in").headers["Location"] == HOME
    both = create_account("merchant", roles=["merchant", "organiser"])
    other = Visitor(app.test_client())
    other.open("/sign-in")
    assert other.send(email=both.email, password=PASSWORD).request.path == "/account"


def test_member_of_a_merchants_team_lands_at_the_stall(client: Client, visitor: Visitor) -> None:
    _, owner, _ = create_stall_owner(client)
    member = create_member(client, owner, "cashier")
    visitor.open("/sign-in")
    assert visitor.send(email=member.email, password=PASSWORD).request.path == HOME


def test_visitor_signs_in_first_and_who_has_no_stall_is_told(app: Flask, visitor: Visitor) -> None:
    assert visitor.flask.get(HOME).headers["Location"] == "/sign-in?next=/stall"
    page = sign_in_browser(app, create_account("organiser")).open(HOME)
    assert page.status_code == 200 and "You have no stall yet" in page.text


def test_unverified_merchant_confirms_the_address_first(app: Flask) -> None:
    page = sign_in_browser(app, create_merchant_account(verified=False)).open(HOME).text
    assert find_title(page) == "Confirm your address" and 'href="/verify"' in page


def test_application_leads_to_documents_then_to_the_fee_then_to_the_invoice(app: Flask, client: Client) -> None:
    organiser = create_organiser_client(client)
    account = create_merchant_account()
    me = create_signed_in_client(client, account)
    event_id = create_published_event(organiser, name="Windhoek Lights")["id"]
    application = create_approved_application(me, organiser, eventId=event_id, email=None)
    visitor = sign_in_browser(app, account)
    page = visitor.open(HOME).text
    token = find_mailed_token("documents", account.email)
    assert find_title(page) == "Upload your documents for Windhoek Lights" and f'href="/documents/{token}"' in page
    assert "Documents are missing" in page and "Missing:</span> Identity document, " in page
    submit_documents(client, token)
    page = visitor.open(HOME).text
    token = find_mailed_token("pay", account.email)
    assert find_title(page) == "Pay the stall fee for Windhoek Lights" and f'href="/pay/{token}"' in page
    pay_stall_fee(client, token)
    page = visitor.open(HOME).text
    assert find_title(page) == "Nothing to do now", "with an account, they take part once the fee is paid"
    assert "Your next event is Windhoek Lights" in page
    assert "If the organiser pays money out to you" in page and "Available" not in page
    assert "Payout details" not in page and "For a stall fee you need none." in visitor.open("/stall/payouts").text
    assert f"Invoice for {application['reference']}" in page
    invoice = visitor.open(f"/stall/invoices/{application['id']}.pdf")
    assert invoice.data.startswith(b"%PDF") and "invoice-STL-" in invoice.headers["Content-Disposition"]
    stranger = sign_in_browser(app, create_merchant_account())
    assert stranger.open(f"/stall/invoices/{application['id']}.pdf").status_code == 404
    assert application["reference"] not in stranger.open(HOME).text


def test_invitation_is_the_next_step(app: Flask, client: Client) -> None:
    organiser, account = create_organiser_client(client), create_merchant_account()
    event = create_published_event(organiser, name="Swakop Jazz")
    invite_merchants(organiser, event["id"], account)
    visitor = sign_in_browser(app, account)
    page = visitor.open(HOME).text
    assert find_title(page) == "Answer the invitation to Swakop Jazz"
    path = page.split('class="button" href="')[1].split('"')[0]
    assert visitor.open(path).status_code == 200


def test_floor_status_is_set_with_one_press(app: Flask, client: Client) -> None:
    me, account, event_id = create_stall_owner(client)
    visitor = sign_in_browser(app, account)
    page = visitor.open(HOME).text
    assert "Guests see" not in page and "Stall number" not in page, "the event is far away"
    execute_sql("UPDATE participation SET stall_number = 'B12' WHERE event_id = :id", id=event_id)
    assert "Stall number B12" in visitor.open(HOME).text
    begin_event(event_id)
    assert find_title(visitor.open(HOME).text) == "Open your stall at Windhoek Lights"
    page = press(visitor, "/floor-status", status="busy")
    assert "Stall number B12" in page
    assert "Guests see: <strong>Busy</strong>" in page and 'value="busy" aria-pressed="true"' in page
    (event,) = data(me.get("/api/merchants/me/events"))["events"]
    assert event["floorStatus"] == "busy"
    for wrong in ({"status": "on fire"}, {"event": "x\u0000"}, {"event": "0" * 24}):
        assert visitor.press(form=1, **{"status": "open", **wrong}).status_code == 404


def test_pause_closes_the_stall_and_resume_needs_the_password(app: Flask, client: Client) -> None:
    _, account, event_id = create_stall_owner(client)
    begin_event(event_id)
    visitor = sign_in_browser(app, account)
    visitor.open(HOME)
    press(visitor, "/floor-status", status="open")
    page = press(visitor, "/pause")
    assert find_title(page) == "Resume your business" and "Guests see: <strong>Closed</strong>" in page
    visitor.open("/stall/resume")
    page = press(visitor, "/resume", password="not my password")
    assert "This password is wrong. Try again." in page
    page = press(visitor, "/resume", password=PASSWORD)
    assert "Your business is active again." in page
    assert fetch_scalar("SELECT status FROM merchant WHERE account_id = :id", id=account.id) == "active"


def test_people_at_work_and_who_is_missing(app: Flask, client: Client) -> None:
    me, account, event_id = create_stall_owner(client)
    path = f"/api/merchants/me/events/{event_id}/crew"
    selma, jonas = replace_crew(me, path, {"name": "Selma"}, {"name": "Jonas", "phone": "+264811234567"})
    now = datetime.now(UTC)
    times = {"startsAt": rfc3339(now), "endsAt": rfc3339(now + timedelta(hours=2))}
    shifts = [{"crewMemberId": member["id"], **times} for member in (selma, jonas)]
    data(me.put(f"{path}/planned-shifts", {"plannedShifts": shifts}))
    start_shift(me, path, selma["shiftCode"])
    visitor = sign_in_browser(app, account)
    page = visitor.open(HOME).text
    missing = page[page.index("Not checked in") : page.index("At work now")]
    assert "Jonas" in missing and 'href="tel:+264811234567"' in missing and "Selma" not in missing
    page = press(visitor, f"/check-out/{selma['id']}")
    assert "The shift is ended." in page and "At work now" not in page
    again = visitor.flask.post(
        f"/stall/{event_id}/check-out/{selma['id']}", data={"csrf_token": visitor.forms[0].fields["csrf_token"]}
    )
    assert again.status_code == 303, "sent twice"


def test_balance_shows_what_is_held_and_why(app: Flask, client: Client) -> None:
    me, account = create_earning_merchant(client, 9000)
    visitor = sign_in_browser(app, account)
    page = visitor.open(HOME).text
    assert find_title(page) == "Request a payout" and "N$\u00a090.00" in page
    request_payout(me, 4000, mode="schedule", scheduledFor="2027-01-04")
    page = visitor.open(HOME).text
    assert "N$\u00a050.00" in page and "N$\u00a040.00 to ••••567: it leaves on " in page
    press(visitor, "/pause")
    assert "it waits because your business is paused" in visitor.open(HOME).text
    assert WALLET not in page


def test_statement_of_a_past_month(app: Flask, client: Client) -> None:
    _, account = create_earning_merchant(client, 9000)
    visitor = sign_in_browser(app, account)
    assert "Statement of" not in visitor.open(HOME).text, "the month is not over"
    execute_sql(
        "SET LOCAL session_replication_role = replica; "
        "UPDATE ledger_entry SET posted_at = '2026-10-10' WHERE owner_id = '" + account.id + "'"
    )
    assert "Statement of October 2026" in visitor.open(HOME).text
    pdf = visitor.open("/stall/statements/2026-10.pdf")
    assert pdf.data.startswith(b"%PDF") and "statement-2026-10.pdf" in pdf.headers["Content-Disposition"]
    for month in ("2026-09", "2026-13", "october", "9999-99"):
        assert visitor.open(f"/stall/statements/{month}.pdf").status_code == 404
    assert sign_in_browser(app, create_merchant_account()).open("/stall/statements/2026-10.pdf").status_code == 404


@pytest.mark.parametrize("role", ["cashier", "manager"])
def test_member_sees_what_their_role_may(app: Flask, client: Client, role: str) -> None:
    me, account, event_id = create_stall_owner(client)
    organiser = create_organiser_client(client)
    create_approved_application(me, organiser, email=None)
    begin_event(event_id)
    member = create_member(client, account, role)
    visitor = sign_in_browser(app, member)
    page = visitor.open(HOME).text
    assert "Guests see" in page
    for hidden in ("Money", "Applications", "Documents are missing", "Pause the business"):
        assert (hidden in page) is (role == "manager"), hidden
    assert "Payout details" not in page
    press(visitor, "/floor-status", status="open")
    is_manager = role == "manager"
    for path, allowed in (
        ("/stall/payouts", is_manager),
        ("/stall/payout-details", False),
        ("/stall/resume", False),
        (f"/stall/{event_id}/crew", True),
        (f"/stall/{event_id}/plan", True),
        (f"/stall/{event_id}/hours", is_manager),
        (f"/stall/{event_id}/hours.csv", is_manager),
    ):
        assert visitor.flask.get(path).status_code == (200 if allowed else 403), path
    assert visitor.flask.post(
        "/stall/pause", data={"csrf_token": visitor.forms[0].fields["csrf_token"]}
    ).status_code == (303 if is_manager else 403)


def test_stalls_of_others_are_unknown(app: Flask, client: Client) -> None:
    _, _, event_id = create_stall_owner(client)
    visitor = sign_in_browser(app, create_merchant_account())
    for event in (event_id, "0" * 24, "no-id"):
        for page in ("crew", "plan", "hours", "hours.pdf", f"crew/{event_id}"):
            assert visitor.open(f"/stall/{event}/{page}").status_code == 404


def test_cancelled_event_is_past(app: Flask, client: Client) -> None:
    _, account, event_id = create_stall_owner(client)
    execute_sql("UPDATE event SET visibility = 'cancelled' WHERE id = :id", id=event_id)
    page = sign_in_browser(app, account).open(HOME).text
    assert page.index("Past events") < page.index("Windhoek Lights") < page.index("cancelled")


def test_application_to_a_cancelled_event_asks_for_nothing(app: Flask, client: Client) -> None:
    organiser, merchant = create_organiser_client(client), create_merchant_account()
    event_id = create_published_event(organiser, name="Windhoek Lights")["id"]
    me = create_signed_in_client(client, merchant)
    create_approved_application(me, organiser, eventId=event_id, email=None)
    visitor = sign_in_browser(app, merchant)
    assert 'href="/pay/' in visitor.open(HOME).text
    data(organiser.patch(f"/api/events/{event_id}", {"visibility": "cancelled"}))
    page = visitor.open(HOME).text
    assert "The event is cancelled. You have nothing to do or to pay any more." in page and "Event cancelled" in page
    assert "Nothing to do now" in page and not re.search(r'href="/(pay|documents|activate)/', page)


def test_application_on_the_waitlist_asks_for_nothing(app: Flask, client: Client) -> None:
    organiser, account = create_organiser_client(client), create_merchant_account()
    types = [{"name": "Grill", "feeMinor": 0, "quantity": 1}]
    event = create_published_event(organiser, stallTypes=types)
    body = {"eventId": event["id"], "stallType": "Grill", "amountMinor": 0, "destination": "bank", "mode": "now"}
    applied = data(create_signed_in_client(client, account).post("/api/merchant-applications", body), 201)
    data(organiser.patch(f"/api/merchant-applications/{applied['id']}", {"decision": "waitlisted"}))
    page = sign_in_browser(app, account).open(HOME).text
    assert "We write when a place is free." in page and "Missing:" not in page


def test_who_has_just_registered_finds_events_to_apply_to(app: Flask, client: Client) -> None:
    organiser = create_organiser_client(client)
    types = [{"name": "Food", "feeMinor": 250000}]
    for number in range(6):
        event = create_published_event(organiser, name=f"Market <{number}>", stallTypes=types)
        execute_sql(
            "UPDATE event SET starts_at = starts_at + :number * interval '1 minute' WHERE id = :id",
            number=number,
            id=event["id"],
        )
    create_published_event(organiser, name="Without stalls")
    update_event(organiser, create_published_event(organiser, name="Hidden", stallTypes=types), visibility="unlisted")
    ended = create_published_event(organiser, name="Too late", stallTypes=types)
    update_event(organiser, ended, applicationsEndAt="2020-03-01T12:00:00")
    visitor = sign_in_browser(app, create_merchant_account())
    page = visitor.open(HOME).text
    assert [f"Market &lt;{number}&gt;</strong>" in page for number in range(6)] == [True] * 5 + [False]
    assert page.count('href="/apply/') == 5
    assert not any(name in page for name in ("Without stalls", "Hidden", "Too late"))
    _, statements = count_statements(lambda: visitor.flask.get(HOME))
    assert len(statements) <= 20, statements


def test_who_has_a_stall_or_is_a_cashier_reads_no_list_of_events(app: Flask, client: Client) -> None:
    _, account, _ = create_stall_owner(client)
    types = [{"name": "Food", "feeMinor": 250000}]
    create_published_event(create_organiser_client(client), name="Market", stallTypes=types)
    cashier = create_member(client, account, "cashier")
    for person in (account, cashier):
        assert "Events that take applications" not in sign_in_browser(app, person).open(HOME).text
