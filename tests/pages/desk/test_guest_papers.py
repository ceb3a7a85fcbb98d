"""Places that move or go back, invoices and reports of blocks at the desk."""

from datetime import timedelta

import pytest
from flask import Flask

from app.blueprints.pages.desk.event_form import format_today
from app.core.clock import utcnow
from app.core.formatting import format_calendar_day, format_money
from tests.allocations.law import assert_books_agree
from tests.factories.accounts import PASSWORD, list_mails_to, run_jobs
from tests.factories.allocations import Block, create_another_block
from tests.factories.applications import TRANSFER_DAY
from tests.factories.payouts import fetch_scalar
from tests.http import Client, data, read_error
from tests.pages.desk.test_guests import block as block
from tests.pages.desk.test_guests import build_path
from tests.pages.pages import Visitor
from tests.pages.test_stall_page import find_title
from tests.races import run_concurrently
from tests.teams.test_organisation_details import BANK
from tests.teams.test_second_factor_rule import ORGANISATION


def test_unused_places_go_back_after_the_page_has_said_how_many(block: Block, desk: Visitor) -> None:
    block.claimed(2)
    block.invite("anna@example.com")
    page = desk.open(build_path(block, "release"))
    assert "Unused places: 8 (free: 7, invited: 1)." in page.text and "98 if all unused places go back" in page.text
    assert block.now()["released"] == 0
    assert desk.send(form=1, quantity="0").status_code == 422
    first, second = desk.press(form=1, quantity="3"), desk.press(form=1, quantity="3")
    assert first.status_code == second.status_code == 303 and block.now()["released"] == 3
    desk.open(build_path(block, "release"))
    page = desk.send(form=1)
    assert "Given back: 5 places. Tickets for the public now: 98" in page.text and block.now()["held"] == 2
    assert_books_agree()


def test_steps_of_the_plan_are_added_and_removed(block: Block, desk: Visitor) -> None:
    path = build_path(block, "plan")
    assert "The rest stays in the block." in desk.open(path).text
    page = desk.send(form=1, on="", amount="many")
    assert page.status_code == 422 and 'href="#on"' in page.text and 'href="#amount"' in page.text
    for wrong in ({"on": "2020-01-01T10:00", "amount": "50 %"}, {"on": "2027-06-01T10:00", "amount": "0"}):
        assert desk.send(form=1, **wrong).status_code == 422, wrong
    assert "The step is added." in desk.send(form=1, on="2027-06-01T10:00", amount="50%").text
    assert "50 % of the places that are unused then" in desk.page.text
    assert "The step is added." in desk.send(form=2, on="2027-05-25T10:00", amount="4").text
    page = desk.send(form=3, on="2027-06-01T10:00", amount="4")
    assert page.status_code == 422 and "Another step has this time." in page.text
    page = desk.send(form=3, on="2035-06-01T10:00", amount="4")
    assert page.status_code == 422 and "Choose a time before the event ends." in page.text
    plan = block.now()["releasePlan"]
    assert [(step["quantity"], step["percent"]) for step in plan] == [(4, None), (None, 50)]
    desk.open(path)
    assert "The step is removed." in desk.send(form=1).text
    assert [step["percent"] for step in block.now()["releasePlan"]] == [50]
    assert desk.press(form=1, on="x").status_code == 404
    block.change(name="Platinum")
    assert desk.send(form=1).status_code == 412 and len(block.now()["releasePlan"]) == 1
    block.change(releaseAt="2027-06-03T10:00:00Z")
    assert "Links and codes of the block end." in desk.open(path).text


def test_the_pages_say_what_a_place_that_goes_back_credits(block: Block, desk: Visitor) -> None:
    (slot_id, *_) = block.claimed(2)
    ends = ("", "plan", "release", "edit", f"places/{slot_id}/revoke")
    data(block.change(unitPriceMinor=39999))
    assert all("is credited with" not in desk.open(build_path(block, end)).text for end in ends)
    assert "and places on an issued invoice are credited." in desk.open(build_path(block, "edit")).text
    block.owner.get(f"{block.path}/invoice.pdf")
    number = data(block.owner.get(f"{block.path}/invoice"))["number"]
    credited = f"Invoice {number} is credited with {format_money(39999)} for each place that is given back."
    for end in ends:
        assert (
            f"{credited} tuli@bank.example gets the credit note by mail." in desk.open(build_path(block, end)).text
        ), end
    data(block.change(holder={"email": None}))
    for end in ends:
        page = desk.open(build_path(block, end)).text
        assert f"{credited} The holder has no e-mail address: send the credit note yourself." in page, end
    data(block.post("release-unused", quantity=3))
    run_jobs()
    assert data(block.owner.get(f"{block.path}/invoice"))["creditedMinor"] == 3 * 39999
    data(block.owner.patch(f"/api/events/{block.event['id']}", {"visibility": "cancelled"}))
    data(block.post("invoice/credit"))
    assert all("is credited with" not in desk.open(build_path(block, end)).text for end in ends), "nothing is charged"


def test_places_are_split_off_and_moved(block: Block, desk: Visitor) -> None:
    (slot_id,) = block.claimed(1, name="Frieda")
    desk.open(build_path(block, "move"))
    page = desk.send(form=1)
    assert page.status_code == 422 and "Enter how many places." in page.text
    page = desk.send(form=1, quantity="10")
    assert page.status_code == 409 and "Only 9 places of this block are free." in page.text
    first = desk.press(form=1, quantity="4", name="Silver", holderEmail="sara@bank.example", price="10")
    second = desk.press(form=1, quantity="4", name="Silver", holderEmail="sara@bank.example", price="10")
    assert first.headers["Location"] == second.headers["Location"]
    page = desk.open(first.headers["Location"])
    assert find_title(page.text) == "Silver" and "N$ 40.00" in page.text.replace("\xa0", " ")
    silver_id = first.headers["Location"].rpartition("/")[2]
    page = desk.open(build_path(block, f"move?id={slot_id}&id=nonsense"))
    assert "Move 1 chosen place" in page.text and 'name="quantity"' not in page.text and "Silver" in page.text
    page = desk.send(form=1, toBlockId=silver_id)
    assert find_title(page.text) == "Silver" and "Frieda" in page.text and "Guests keep their links" in page.text
    desk.open(build_path(block, f"move?id={slot_id}"))
    page = desk.send(form=1, toBlockId=silver_id)
    assert page.status_code == 422 and "The block has no such place now." in page.text
    desk.open(build_path(block, "move"))
    assert desk.send(form=1, quantity="1", toBlockId="0" * 24).status_code == 404
    data(block.post("invoice/email"), 202)
    desk.open(build_path(block, "move"))
    page = desk.send(form=1, quantity="1", toBlockId=silver_id)
    assert page.status_code == 409 and "cannot change its price or buyer, or move its places" in page.text
    assert_books_agree()


def test_an_invoice_is_issued_mailed_and_paid(block: Block, desk: Visitor) -> None:
    path = build_path(block, "invoice")
    assert desk.open(build_path(block, "invoice.pdf")).status_code == 409
    assert desk.open(build_path(block, "invoice/received")).status_code == 409
    page = desk.open(path)
    assert (
        "Not issued." in page.text and "N$\xa08\u202f500.00" in page.text and "Without a postal address." in page.text
    )
    assert desk.open(build_path(block, "invoice/preview.pdf")).data.startswith(b"%PDF")
    assert block.now()["invoice"] is None, "looking at it issues nothing"
    assert "Not issued." in desk.open(build_path(block, "invoice/issue")).text
    desk.open(path)
    page = desk.send(form=1)
    assert page.status_code == 422 and "Add the bank details first" in page.text and block.now()["invoice"] is None
    first, second = desk.press(form=1, withoutBank="true"), desk.press(form=1, withoutBank="true")
    number = block.now()["invoice"]["number"]
    assert first.status_code == second.status_code == 303 and list_mails_to("tuli@bank.example") == []
    assert f"Invoice {number} is issued." in desk.open(path).text
    assert desk.open(build_path(block, "invoice/preview.pdf")).location.endswith(path)
    assert "no longer changes" in desk.open(desk.open(build_path(block, "invoice/buyer")).location).text
    assert desk.open(build_path(block, "invoice.pdf")).data.startswith(b"%PDF")
    for wrong in ("nonsense", "%00"):
        assert desk.open(build_path(block, f"invoice.pdf?number={wrong}")).status_code in (200, 404)
    page = desk.open(build_path(block, "invoice/mail"))
    assert 'value="tuli@bank.example"' in page.text
    assert desk.send(form=1, to="x").status_code == 422
    assert desk.press(form=1, to="money@bank.example").status_code == 303
    assert desk.press(form=1, to="money@bank.example").status_code == 303
    assert len(list_mails_to("money@bank.example")) == 1
    desk.open(build_path(block, "invoice/received"))
    fields = desk.forms[1].fields
    assert (fields["amountMinor"], fields["receivedOn"]) == ("8500", format_today("Africa/Windhoek"))
    page = desk.send(form=1, amountMinor="1", receivedOn=TRANSFER_DAY)
    assert page.status_code == 422 and f"{format_money(849900)} is missing. If less came" in page.text
    page = desk.send(form=1, amountMinor="9000", receivedOn=TRANSFER_DAY)
    assert f"This is {format_money(50000)} more than is due. Record {format_money(850000)}" in page.text
    assert page.status_code == 422 and "only a part”" not in page.text and "cannot undo" not in page.text
    for wrong in ("x", "9999-99-99", "2999-01-01", ""):
        assert desk.send(form=1, amountMinor="8500", receivedOn=wrong).status_code == 422, wrong
    page = desk.send(form=1, amountMinor="500", receivedOn=TRANSFER_DAY, part="true")
    assert format_money(800000) in page.text and f"{format_money(50000)} on" in page.text
    desk.open(build_path(block, "invoice/received"))
    assert desk.forms[1].fields["amountMinor"] == "8000" and "part" not in desk.forms[1].fields
    page = desk.send(form=1, amountMinor="500", receivedOn=TRANSFER_DAY, part="true")
    assert page.status_code == 422 and "If another one came, add a word to its text" in page.text
    desk.open(build_path(block, "invoice/received"))
    page = desk.send(form=1, receivedOn=TRANSFER_DAY)
    assert "The payment is recorded." in page.text and "Payment received" not in page.text
    answer = desk.open(build_path(block, "invoice/received"))
    assert (
        answer.status_code == 303 and "Nothing is due for this invoice: it is paid" in desk.open(answer.location).text
    )
    assert block.now()["invoice"]["dueMinor"] == 0
    assert f"{number}, settled" in desk.open(build_path(block)).text
    block.post("release-unused", quantity=2)
    run_jobs()
    page = desk.open(path)
    assert "You owe back" in page.text and "CN-" in page.text
    note = page.text.split("number=CN-")[1].split('"')[0]
    assert desk.open(build_path(block, f"invoice.pdf?number=CN-{note}")).data.startswith(b"%PDF")


def test_the_way_to_the_bank_details_leads_back_to_the_invoice(block: Block, desk: Visitor) -> None:
    path = build_path(block, "invoice")
    desk.open(path)
    assert f'href="/desk/settings/bank?next={path}"' in desk.page.text
    desk.open(f"/desk/settings/bank?next={path}")
    assert f'<a href="{path}">Back</a>' in desk.page.text
    bank = {"accountName": "Windhoek Lights CC", "accountNumber": "62001234567", "bankName": "Bank Windhoek"}
    assert desk.press(form=1, **bank, password=PASSWORD).location == path
    desk.open("/desk/settings/bank?next=//evil.example/")
    assert 'href="//evil' not in desk.page.text and "Back</a>" not in desk.page.text


@pytest.mark.parametrize(("end", "fields"), [("issue", {}), ("mail", {"to": "money@bank.example"})])
def test_an_invoice_without_bank_details_goes_only_if_that_is_agreed(
    block: Block, desk: Visitor, end: str, fields: dict[str, str]
) -> None:
    desk.open(build_path(block, "invoice"))
    form = {**desk.forms[1].fields, **fields}
    for tick in ({}, {"withoutBank": ""}, {"withoutBank": "false"}):
        assert desk.flask.post(build_path(block, f"invoice/{end}"), data={**form, **tick}).status_code == 422, tick
    page = desk.flask.post(build_path(block, f"invoice/{end}"), data={**form, **({"to": "x"} if fields else {})})
    assert ('href="#to"' in page.text) == bool(fields)
    assert 'href="#withoutBank"' in page.text, "all problems at once"
    page = desk.flask.post(build_path(block, f"invoice/{end}"), data=form)
    assert page.status_code == 422 and "Add the bank details first" in page.text and block.now()["invoice"] is None
    assert all(f'value="{to}"' in page.text for to in fields.values()), "what was typed is kept"
    data(block.owner.patch(ORGANISATION, {"bank": BANK, "password": PASSWORD}))
    desk.open(build_path(block, "invoice"))
    assert "withoutBank" not in desk.elements and "62001234567" in desk.page.text
    assert (
        desk.flask.post(build_path(block, f"invoice/{end}"), data={**desk.forms[1].fields, **fields}).status_code == 303
    )
    assert block.now()["invoice"] is not None


@pytest.mark.parametrize(("end", "fields"), [("issue", {}), ("mail", {"to": "money@bank.example"})])
def test_an_invoice_that_differs_from_its_preview_is_shown_again(
    block: Block, desk: Visitor, end: str, fields: dict[str, str]
) -> None:
    desk.open(build_path(block, "invoice"))
    preview = {**desk.forms[1].fields, "withoutBank": "true"}
    data(block.owner.patch(f"{block.path}/invoice/buyer", {"buyerName": "Somebody Else"}))
    page = desk.flask.post(build_path(block, f"invoice/{end}"), data={**preview, **fields})
    assert page.status_code == 412 and "something else now than the preview" in page.text
    assert "Somebody Else" in page.text and block.now()["invoice"] is None
    desk.open(build_path(block, "invoice"))
    data(block.owner.patch(ORGANISATION, {"address": "1 New Street, Windhoek"}))
    assert desk.press(form=1, withoutBank="true", **fields).status_code == 412, "the seller counts as well"
    desk.open(build_path(block, "invoice"))
    assert desk.press(form=1, withoutBank="true", **fields).status_code == 303
    assert "1 New Street, Windhoek" in fetch_scalar("SELECT paper::text FROM invoice")


def test_a_buyer_who_was_changed_meanwhile_is_not_overwritten(block: Block, desk: Visitor) -> None:
    desk.open(build_path(block, "invoice/buyer"))
    data(block.owner.patch(f"{block.path}/invoice/buyer", {"buyerName": "Somebody Else"}))
    page = desk.send(form=1, buyerName="Bank Windhoek")
    assert page.status_code == 412 and block.now()["buyerName"] == "Somebody Else"
    desk.open(build_path(block, "invoice/buyer"))
    page = desk.send(form=1, buyerAddress="\n".join(f"line {number}" for number in range(9)))
    assert page.status_code == 422 and "Enter at most 8 lines." in page.text
    assert desk.press(form=1, buyerName="Bank Windhoek", buyerAddress="A\nB C D").status_code == 303


def test_the_day_until_which_an_invoice_is_paid_is_chosen(block: Block, desk: Visitor) -> None:
    """The invoice has the day of the preview; another day in between is another invoice."""
    day = (utcnow() + timedelta(days=45)).date()
    desk.open(build_path(block, "invoice/buyer"))
    assert "Choose today or a later day." in desk.send(form=1, payBy="2020-01-01").text
    assert "Choose a day within a year." in desk.send(form=1, payBy="9999-12-31").text
    page = desk.send(form=1, payBy=day.isoformat())
    assert format_calendar_day(day) in page.text and block.now()["payBy"] == day.isoformat()
    form = {**desk.forms[1].fields, "withoutBank": "true"}
    data(block.owner.patch(f"{block.path}/invoice/buyer", {"payBy": (day + timedelta(days=1)).isoformat()}))
    assert desk.flask.post(build_path(block, "invoice/issue"), data=form).status_code == 412
    data(block.owner.patch(f"{block.path}/invoice/buyer", {"payBy": day.isoformat()}))
    assert desk.flask.post(build_path(block, "invoice/issue"), data=form).status_code == 303
    assert f"<dt>Pay by</dt><dd>{format_calendar_day(day)}</dd>" in desk.open(build_path(block, "invoice")).text


def test_what_was_paid_back_is_recorded_once_and_booked(block: Block, desk: Visitor) -> None:
    """Two at once record it once; more than is owed, and paying back what is not owed, change nothing."""
    block.owner.get(f"{block.path}/invoice.pdf")
    due = data(block.owner.get(f"{block.path}/invoice"))["dueMinor"]
    transfer = {"amountMinor": due, "reference": "R1", "receivedOn": TRANSFER_DAY}
    assert read_error(block.post("invoice/received", **transfer, paidBack=True))[1] == "INVOICE_SETTLED"
    data(block.post("invoice/received", **transfer))
    data(block.post("release-unused", quantity=4))
    run_jobs()
    owed = -data(block.owner.get(f"{block.path}/invoice"))["dueMinor"]
    assert owed == due * 4 // 10
    desk.open(build_path(block, "invoice/received"))
    assert "Day on which you sent it" in desk.page.text and "Record what I paid back" in desk.page.text
    assert "came in" not in desk.page.text and "Record the payment" not in desk.page.text
    page = desk.send(form=1, amountMinor=str(owed // 100 + 1))
    assert page.status_code == 422 and "This is more than you owe back" in page.text
    assert "Day on which you sent it" in page.text, "the form is the same after an error"
    page = desk.send(form=1, amountMinor="1")
    assert page.status_code == 422 and "If you sent less, tick" in page.text
    body = {**transfer, "amountMinor": owed, "paidBack": True}
    answers = run_concurrently(4, lambda _: block.post("invoice/received", **body))
    assert [answer.status_code for answer in answers] == [200] * 4
    invoice = data(block.owner.get(f"{block.path}/invoice"))
    assert invoice["dueMinor"] == 0 and [row["amountMinor"] for row in invoice["payments"]] == [due, -owed]
    money = data(block.owner.get(f"/api/events/{block.event['id']}/money"))
    assert money["reconciled"] is True and money["blockInvoices"]["paidMinor"] == due - owed
    assert "Paid back:" in desk.open(build_path(block, "invoice")).text
    assert_books_agree()


def test_a_free_block_has_no_invoice(block: Block, desk: Visitor) -> None:
    free = create_another_block(block, unitPriceMinor=0)
    assert "there is nothing to invoice" in desk.open(build_path(free, "invoice")).text
    for end, fields in (("invoice/issue", {}), ("invoice/mail", {"to": "a@example.com"})):
        desk.open(build_path(block, "invoice"))
        page = desk.flask.post(build_path(free, end), data={**desk.forms[1].fields, **fields})
        assert page.status_code == 409 and "there is nothing to invoice" in page.text, end


def test_the_report_is_shown_and_mailed_to_the_holder(app: Flask, client: Client, block: Block, desk: Visitor) -> None:
    block.claimed(1, name="Frieda")
    page = desk.open(build_path(block, "report"))
    assert 'value="tuli@bank.example"' in page.text and list_mails_to("tuli@bank.example") == []
    assert desk.open(build_path(block, "report.pdf")).data.startswith(b"%PDF")
    desk.open(build_path(block, "report"))
    assert desk.send(form=1, to="").status_code == 422
    desk.press(form=1, to="tuli@bank.example")
    assert "The report goes to tuli@bank.example." in desk.send(form=1, to="tuli@bank.example").text
    run_jobs()
    assert len(list_mails_to("tuli@bank.example")) == 1


def test_the_buyer_is_entered_once_and_suggested_for_the_next_block(block: Block, desk: Visitor) -> None:
    desk.open(build_path(block, "invoice/buyer"))
    page = desk.send(form=1, buyerName="x" * 201, buyerAddress="x")
    assert page.status_code == 422 and 'href="#buyerName"' in page.text and 'href="#buyerAddress"' in page.text
    fields = {"buyerName": "Bank Windhoek Ltd", "buyerAddress": "PO Box 15\nWindhoek", "buyerReference": "PO-7"}
    page = desk.send(form=1, **fields)
    assert "Bank Windhoek Ltd<br>PO Box 15<br>Windhoek" in page.text and "PO-7" in page.text
    other = create_another_block(block, holder={"email": "tuli@bank.example"})
    page = desk.open(build_path(other, "invoice/buyer"))
    assert "as for this holder last time" in page.text and 'value="Bank Windhoek Ltd"' in page.text
    assert "PO-7" not in page.text and other.now()["buyerName"] is None
    desk.open(build_path(block, "invoice"))
    mail = {"to": "money@bank.example", "withoutBank": "true"}
    for _ in range(2):
        answer = desk.flask.post(build_path(block, "invoice/mail"), data={**desk.forms[1].fields, **mail})
        assert answer.status_code == 303
    run_jobs()
    assert len(list_mails_to("money@bank.example")) == 1
    desk.open(build_path(other, "invoice"))
    page = desk.flask.post(build_path(other, "invoice/mail"), data={**desk.forms[1].fields, "to": "x"})
    assert page.status_code == 422 and 'href="#to"' in page.text and other.now()["invoice"] is None
