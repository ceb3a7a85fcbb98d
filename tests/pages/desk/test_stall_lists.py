"""Stall types with their places and waitlists, and bank statements, at the desk."""

from html import escape
from io import BytesIO
from typing import Any

from flask import Flask

from app.accounts.models import Account
from tests.allocations.blocks import block_of, festival
from tests.factories.accounts import create_signed_in_client
from tests.factories.applications import (
    LIST,
    TRANSFER_DAY,
    create_application,
    create_approved_application,
    decide_application,
)
from tests.factories.events import update_event
from tests.factories.merchants import create_merchant_account, create_participant, invite_merchants
from tests.factories.payouts import execute_sql
from tests.http import Client, data
from tests.pages.desk.test_events import EVENTS, open_as
from tests.pages.desk.test_stalls import apply, build_path, read
from tests.pages.desk.test_stalls import event as event
from tests.pages.pages import Reader, Visitor
from tests.pages.test_account_page import sign_in_browser
from tests.pages.test_team_pages import create_owner


def test_stall_types_show_places_and_the_line(
    client: Client, organiser: Client, event: dict[str, Any], desk: Visitor
) -> None:
    decide_application(organiser, apply(client, event))
    for name in ("Second Grill", "Third Grill"):
        decide_application(organiser, apply(client, event, name), "waitlisted")
    page = desk.open(f"{build_path(event)}/types").text
    assert "1 of 1 taken, 0 left" in page and "0 taken, no limit" in page
    assert page.index("Second Grill") < page.index("Third Grill")


def test_free_place_is_offered_to_the_next_in_line(
    client: Client, organiser: Client, event: dict[str, Any], desk: Visitor
) -> None:
    second, third = (apply(client, event, name) for name in ("Second Grill", "Third Grill"))
    for application in (second, third):
        decide_application(organiser, application, "waitlisted")
    for path in (build_path(event, third), f"{build_path(event)}/types"):
        page = desk.open(path).text
        assert "1 place is free, and goes to the first in line. Next: Second Grill." in page
        assert page.count(f'href="{build_path(event, second)}/offer"') == 1
        assert "has to become free" not in page
        execute_sql("UPDATE event SET starts_at = now() + interval '2 days 11 hours'")
        page = desk.open(path).text
        assert "1 place is free." in page and "Nobody in line can get one now" in page and "/offer" not in page
        execute_sql("UPDATE event SET starts_at = now() + interval '20 days'")
    desk.open(f"{build_path(event, third)}/offer")
    page = desk.send(form=1)
    assert page.status_code == 409 and "You cannot do this with the application now." in page.text
    desk.open(f"{build_path(event, second)}/offer")
    assert [desk.press(form=1).status_code for _ in range(2)] == [303, 303]
    assert read(organiser, second)["offer"]["status"] == "open"
    page = desk.open(f"{build_path(event)}/types").text
    assert "No place is free. The next one goes to the first in line. Next: Third Grill." in page
    assert "Offer a place" not in page
    decide_application(organiser, third, "declined")
    assert "Everybody in line has an offer." in desk.open(f"{build_path(event)}/types").text
    page = desk.open(build_path(event, second)).text
    assert "documents are asked for only after an approval." in page and page.count("Not asked for yet") == 4
    page = desk.open(build_path(event, third)).text
    assert "only after an approval" not in page and page.count("Not sent") == 4 and ">Missing<" not in page
    assert desk.open(f"{build_path(event, apply(client, event))}/offer").status_code == 404


def test_stall_types_are_added_changed_and_removed(
    client: Client, organiser: Client, event: dict[str, Any], desk: Visitor
) -> None:
    path, read_path = f"{build_path(event)}/types", f"/api/events/{event['id']}"
    desk.open(f"{path}/new")
    page = desk.send(form=1, name="Food", fee="x")
    assert page.status_code == 422 and "Enter an amount like 450" in page.text
    page = desk.send(form=1, name="Food", fee="100")
    assert page.status_code == 422 and "The event has a stall type with this name." in page.text
    assert "The stall type is added." in desk.send(form=1, name="Drinks", fee="900.50", quantity="3").text
    desk.open(f"{path}/2")
    assert "The stall type is saved." in desk.send(form=1, fee="950", quantity="").text
    stall_type = data(organiser.get(read_path))["stallTypes"][2]
    assert (stall_type["name"], stall_type["feeMinor"], stall_type.get("quantity")) == ("Drinks", 95000, None)
    apply(client, event)
    desk.open(f"{path}/0")
    page = desk.send(form=1, name="Meals")
    assert page.status_code == 409 and "you cannot rename or remove it" in page.text
    desk.open(f"{path}/0/remove")
    page = desk.send(form=1)
    assert page.status_code == 409 and "you cannot rename or remove it" in page.text
    desk.open(f"{path}/2/remove")
    update_event(organiser, event, city="Swakopmund")
    assert desk.send(form=1).status_code == 412
    desk.open(f"{path}/2/remove")
    assert "The stall type is removed." in desk.send(form=1).text
    assert desk.open(f"{path}/2").status_code == 404


def test_a_bank_statement_is_looked_at_and_then_recorded(
    client: Client, organiser: Client, event: dict[str, Any], desk: Visitor
) -> None:
    application = apply(client, event)
    decide_application(organiser, application, documentsRequired=[])
    content = (
        f"Date,Amount,Description\n{TRANSFER_DAY},2500.00,EFT {application['reference']}\n{TRANSFER_DAY},10.00,Rent\n"
    )
    path = f"{build_path(event)}/statement"
    desk.open(path)
    token = desk.forms[1].fields["csrf_token"]

    def send(text: str, **fields: str) -> Any:
        files = {"file": (BytesIO(text.encode()), "statement.csv")} if text else {}
        return desk.flask.post(path, data={"csrf_token": token, **fields, **files}, content_type="multipart/form-data")

    page = send("")
    assert page.status_code == 422 and "Choose a file." in page.text
    page = send("nothing of this")
    assert page.status_code == 422 and 'href="#file"' in page.text
    page = send(content)
    assert "Nothing is recorded yet." in page.text and "No reference of an application" in page.text
    assert read(organiser, application)["payment"]["status"] == "due"
    assert "Fees recorded as received" not in page.text
    fields = Reader(page.text).forms[1].fields
    checked = {name: fields[name] for name in ("rows", "recorded")}
    assert "Rent" not in checked["rows"]
    assert "Recorded (1)" in send("", **checked).text and read(organiser, application)["payment"]["status"] == "paid"
    page = send("", **checked)
    assert page.status_code == 422 and "Check the file again" in page.text
    page = send(content)
    assert "Recorded before (1)" in page.text and "Record what it pays" not in page.text
    assert send("", rows="\0nonsense").status_code == 422


def test_a_bank_statement_pays_invoices_of_blocks(organiser: Client, desk: Visitor) -> None:
    block = block_of(festival(organiser))
    path = f"{EVENTS}/{block.event_id}/stalls/statement"
    number = data(organiser.post(f"/api/events/{block.event_id}/allocations/{block.id}/invoice/email"), 202)["number"]
    desk.open(path)
    content = f"Date,Amount,Description\n{TRANSFER_DAY},2500.00,EFT {number}\n{TRANSFER_DAY},9000.00,{number}\n"
    body = {"csrf_token": desk.forms[1].fields["csrf_token"], "file": (BytesIO(content.encode()), "statement.csv")}
    page = desk.flask.post(path, data=body, content_type="multipart/form-data")
    assert "Pays a fee or an invoice (1)" in page.text and "More than is due for the invoice" in page.text
    assert page.text.count(f'/guests/{block.id}/invoice">{number}</a>') == 2
    fields = Reader(page.text).forms[1].fields
    page = desk.flask.post(path, data={name: fields[name] for name in ("csrf_token", "rows", "recorded")})
    assert "Payments of invoices recorded: 1." in page.text and "Fees recorded as received: 0." in page.text
    assert data(organiser.get(f"/api/events/{block.event_id}/allocations/{block.id}/invoice"))["dueMinor"] == 600000


def test_only_who_may_changes_types_and_records_statements(
    app: Flask, client: Client, owner: Account, organiser: Client, event: dict[str, Any]
) -> None:
    for role, may_write, may_settle in (("finance", 403, 200), ("viewer", 403, 403), ("manager", 200, 200)):
        visitor = open_as(app, client, owner, role)
        assert visitor.open(f"{build_path(event)}/types").status_code == 200
        assert ("Add a stall type" in visitor.page.text) == (may_write == 200)
        assert visitor.open(f"{build_path(event)}/types/new").status_code == may_write
        assert visitor.open(f"{build_path(event)}/statement").status_code == may_settle


def test_merchants_are_invited_and_invitations_withdrawn(
    client: Client, organiser: Client, event: dict[str, Any], desk: Visitor
) -> None:
    merchant = create_merchant_account("Omaere Grill")
    path = f"{build_path(event)}/invitations"
    page = desk.open(f"{path}?q=omaere").text
    assert "1 merchant " in page and "Invited" not in page.split("<tbody")[1]
    assert "Nobody was chosen." in desk.open(desk.open(f"{path}/new").location).text
    desk.open(f"{path}/new?id={merchant.id}")
    page = desk.send(form=1, fee="x")
    assert page.status_code == 422 and "Invite 1 merchant" in page.text
    page = desk.send(form=1, fee="", expiresAt="2020-01-01T10:00")
    assert page.status_code == 422 and "Choose a time in the future." in page.text
    page = desk.send(form=1, expiresAt="", stallType="Ships")
    assert page.status_code == 422 and "The event has no stall type of this name." in page.text
    page = desk.send(form=1, expiresAt="", stallType="food", message="Come!")
    assert "Invited: 1." in page.text and "Invited" in page.text.split("<tbody")[1]
    desk.open(f"{path}/new?id={merchant.id}")
    assert "Invited before: 1." in desk.send(form=1).text
    desk.open(path)
    assert "Withdrawn: 1." in desk.send(form=2, id=merchant.id).text
    desk.open(path)
    assert "nothing has changed" in desk.send(form=2, id=merchant.id).text


def test_who_has_applied_or_takes_part_cannot_be_chosen(
    client: Client, organiser: Client, event: dict[str, Any], desk: Visitor
) -> None:
    accounts = {name: create_merchant_account(name) for name in ("Free", "Guest", "Applied", "Declined")}
    _, accounts["There"] = create_participant(client, organiser, event["id"], business_name="There")
    for name in ("Applied", "Declined"):
        me = create_signed_in_client(client, accounts[name])
        application = create_application(me, eventId=event["id"], stallType="Crafts", amountMinor=80000)
    decide_application(organiser, application, "declined")
    invite_merchants(organiser, event["id"], accounts["Guest"])
    page = desk.open(f"{build_path(event)}/invitations").text
    chosen = {name for name, account in accounts.items() if f'name="id" value="{account.id}"' in page}
    assert chosen == {"Free", "Guest", "Declined"} and "To decide" in page
    rows = data(organiser.get(f"/api/events/{event['id']}/merchant-directory"))["merchants"]
    states = {row["businessName"]: row["applicationStatus"] for row in rows}
    assert states == {"Free": None, "Guest": None, "Applied": "submitted", "There": None, "Declined": None}


def test_only_what_waits_for_a_decision_can_be_chosen(
    client: Client, organiser: Client, event: dict[str, Any], desk: Visitor
) -> None:
    approved, waiting = apply(client, event), apply(client, event, "Second Grill")
    decide_application(organiser, approved)
    page = desk.open(build_path(event)).text
    assert f'value="{waiting["id"]}"' in page and f'value="{approved["id"]}"' not in page
    page = desk.open(f"{build_path(event)}/decide?id={approved['id']}&id={waiting['id']}").text
    assert "Decide 1 application" in page and "Kapana Corner" not in page
    decide_application(organiser, waiting, "declined")
    assert "Decide the chosen ones" not in desk.open(build_path(event)).text


def test_a_link_to_apply_is_made_and_ended(client: Client, event: dict[str, Any], desk: Visitor) -> None:
    path = f"{build_path(event)}/invitations/link"
    desk.open(path)
    page = desk.send(form=1, email="nobody")
    assert page.status_code == 422 and 'href="#email"' in page.text
    assert desk.send(form=1, email="", stallType="Ships").status_code == 422
    page = desk.send(form=1, email="ruusa@stalls.example", businessName="Ruusa Bakes", stallType="Food")
    assert "Mailed to ruusa@stalls.example." in page.text and "/merchant-invite/" in page.text
    address = page.text.split('value="http')[1].split('"')[0]
    invitation = f"/merchant-invite/{address.rsplit('/', 1)[1]}"
    assert client.get(invitation).status_code == 200
    assert "The link has ended." in desk.send(form=1).text
    assert client.get(f"/api/events{invitation}").status_code == 410


def test_only_who_may_invites(
    app: Flask, client: Client, owner: Account, organiser: Client, event: dict[str, Any]
) -> None:
    path = f"{build_path(event)}/invitations"
    for role, status in (("viewer", 403), ("finance", 403), ("manager", 200)):
        visitor = open_as(app, client, owner, role)
        assert visitor.open(path).status_code == 200
        assert visitor.open(f"{path}/link").status_code == status
        assert visitor.open(f"{path}/new?id={event['id']}").status_code == status
    stranger = sign_in_browser(app, create_owner("Other"))
    assert stranger.open(path).status_code == stranger.open(f"{path}/link").status_code == 404


def test_an_application_and_its_stall_in_the_plan_lead_to_each_other(
    client: Client, organiser: Client, event: dict[str, Any], desk: Visitor
) -> None:
    account = create_merchant_account()
    me = create_signed_in_client(client, account)
    fields = {"eventId": event["id"], "stallType": "Crafts", "amountMinor": 80000, "documentsRequired": []}
    needs = "Two <fryers> of 2000 W, and water"
    application = create_approved_application(me, organiser, **fields, description=needs)
    data(organiser.post(f"{LIST}/{application['id']}/fee/waive", {"reason": "A school"}))
    assert "Stall number" not in desk.open(build_path(event, application)).text
    page = desk.open(f"{build_path(event)}/plan/{account.id}").text
    assert f"Their application says: “{escape(needs)}”" in page
    page = desk.send(form=1, stallNumber="B12").text
    assert f'<a href="{build_path(event, application)}">' in page
    page = desk.open(build_path(event, application)).text
    assert f'<dt>Stall number</dt><dd><a href="{build_path(event)}/plan">B12</a></dd>' in page


def test_the_stall_plan_is_changed_and_printed(
    app: Flask, client: Client, owner: Account, organiser: Client, event: dict[str, Any], desk: Visitor
) -> None:
    path = f"{build_path(event)}/plan"
    assert "Stalls appear here" in desk.open(path).text
    _, first = create_participant(client, organiser, event["id"], business_name="Omaere Grill")
    _, second = create_participant(client, organiser, event["id"], business_name="Ruusa Bakes")
    page = desk.open(path).text
    assert "Omaere Grill" in page and f'<a href="{build_path(event)}/None' not in page
    desk.open(f"{path}/{first.id}")
    assert "The place is saved." in desk.send(form=1, stallNumber="B12", power="16 A", water="true", note="Gate").text
    desk.open(f"{path}/{second.id}")
    page = desk.send(form=1, stallNumber="B12")
    assert page.status_code == 422 and "Another stall has this number." in page.text
    organiser.patch(f"/api/events/{event['id']}/stalls/{second.id}", {"power": "10 A"})
    page = desk.send(form=1, stallNumber="B13")
    assert page.status_code == 412 and "Open the page again" in page.text
    sheet = desk.open(f"{path}/sheet").text
    assert sheet.index("B12") < sheet.index("Ruusa Bakes") and "16 A" in sheet
    assert "1 stall " in desk.open(f"{path}?floorStatus=closed&q=ruusa").text
    viewer = open_as(app, client, owner, "viewer")
    assert "Change<span" not in viewer.open(path).text and viewer.open(f"{path}/{first.id}").status_code == 403
    assert sign_in_browser(app, create_owner("Other")).open(f"{path}/sheet").status_code == 404


def test_the_plan_and_its_sheet_list_approved_stalls_without_an_account(
    app: Flask, client: Client, owner: Account, organiser: Client, event: dict[str, Any], desk: Visitor
) -> None:
    path, heading = f"{build_path(event)}/plan", "Approved, account not opened yet"
    decide_application(organiser, apply(client, event, "Declined Grill"), "declined")
    apply(client, event, "Waiting Grill")
    assert heading not in desk.open(path).text and heading not in desk.open(f"{path}/sheet").text
    fields = {"eventId": event["id"], "stallType": "Crafts", "amountMinor": 80000, "documentsRequired": []}
    approved = create_approved_application(client, organiser, **fields, businessName="Baskets <3")
    for page in (desk.open(path).text, desk.open(f"{path}/sheet").text):
        below = page[page.index(heading) :]
        for words in ("Baskets &lt;3", "Crafts", approved["reference"], "Fee to pay"):
            assert words in below, words
        assert "Declined Grill" not in page and "Waiting Grill" not in page
    link = f'<a href="{build_path(event, approved)}">Baskets &lt;3</a>'
    assert link in desk.open(path).text and link in open_as(app, client, owner, "viewer").open(path).text
    execute_sql("UPDATE merchant_application SET status = 'activated' WHERE business_name = 'Baskets <3'")
    assert heading not in desk.open(path).text
