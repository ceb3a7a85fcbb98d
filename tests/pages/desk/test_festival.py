"""A whole festival in the browser alone, from an empty database to the settlement report. It reads like a story."""

import csv
import re
import shutil
import subprocess
from contextlib import ExitStack
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from flask import Flask
from playwright.sync_api import Browser, Page, expect

from app.core.formatting import format_money, format_number
from tests.factories.accounts import PASSWORD, find_newest_code, list_mails_to
from tests.factories.payouts import execute_sql, run_all_jobs
from tests.pages.browser import open_view
from tests.pages.desk.test_sales_browser import as_file
from tests.pages.test_gate_browser import expect_verdict, pair_by_code, type_code
from tests.pages.test_three_merchants_browser import find_link

FESTIVAL, ORGANISATION, KITCHEN = "Etosha Sunset Festival", "Namib Nights CC", "Oshana Kitchen"
ORGANISER, DOOR, MERCHANT, GUEST = "ndapewa@example.com", "tuli@example.com", "ndeshi@example.com", "anna@example.com"
SHOP = "https://tickets.example.org/etosha/"
TODAY = datetime.now(ZoneInfo("Africa/Windhoek"))
DAYS_BEFORE, DAYS_LONG = 20, 3
SHEET = """reference,ticketType,name,email,price,secret
1,Weekend pass,Zoë Beukes,zoe@example.com,650,70000001
2,Weekend pass,Petrus Amupolo,petrus@example.com,650,70000002
3,VIP,Selma Nangolo,selma@example.com,1950,70000003
"""
SOLD = list(csv.DictReader(SHEET.splitlines()))
FEE, PLACES, PRICE_OF_A_PLACE = 1500, 10, 700
TAKINGS, BLOCK = sum(int(ticket["price"]) for ticket in SOLD), PLACES * PRICE_OF_A_PLACE
PEOPLE = len(SOLD) + 1


def test_a_whole_festival(app: Flask, address: str, chromium: Browser) -> None:
    with ExitStack() as contexts:
        views = [contexts.enter_context(open_view(chromium, "festival")) for _ in range(5)]
        desk, door, merchant, guest, phone = (view.page for view in views)
        sign_up_as_organiser(desk, address)
        describe_the_organisation(desk)
        make_the_event(desk)
        sell_tickets_and_stalls(desk)
        publish(desk, address)
        invite_the_door(desk, door, address)
        apply_for_a_stall(merchant, address)
        approve_the_stall(desk)
        record_the_fee(desk, merchant, address)
        open_the_stall(desk, merchant, address)
        import_the_sales_of_the_shop(desk)
        keep_places_for_a_sponsor(desk)
        code = hand_a_place_to_a_guest(desk, guest, address)
        invoice_the_sponsor(desk)
        count_the_stock(desk)
        write_to_everybody(desk)
        let_days_pass(DAYS_BEFORE + 1)
        pair_a_phone_at_the_gate(desk, phone, address)
        let_people_in(desk, phone, code)
        undo_a_scan(door, phone, code)
        let_days_pass(DAYS_LONG)
        look_at_the_money(desk)
        settle(desk)
        hand_the_books_to_the_accountant(desk)
        assert [error for view in views for error in view.errors] == []


def follow(page: Page, *names: str) -> None:
    """Follow one link after the other."""
    for name in names:
        page.get_by_role("main").get_by_role("link", name=name, exact=True).click()


def open_section(page: Page, name: str, *links: str, of: str = FESTIVAL) -> None:
    """Choose a section of the desk or of the festival, and follow links there."""
    page.get_by_role("navigation", name=of, exact=True).get_by_role("link", name=name, exact=True).click()
    follow(page, *links)


def fill(page: Page, values: dict[str, str]) -> None:
    """Fill the fields of a form by their labels."""
    for label, value in values.items():
        page.get_by_label(re.compile(rf"^{re.escape(label)}( \(optional\))?$")).fill(value)


def send(page: Page, values: dict[str, str], button: str, done: str = "") -> None:
    """Fill a form, press its button, and read that it is done."""
    fill(page, values)
    page.get_by_role("button", name=button, exact=True).click()
    expect_texts(page, done)


def expect_texts(page: Page, *texts: str) -> None:
    for text in texts:
        expect(page.get_by_role("main")).to_contain_text(text, timeout=20_000)


def expect_facts(page: Page, facts: dict[str, str]) -> None:
    """Expect facts and figures: each label with the value beside it, at once or when it is up to date."""
    for label, value in facts.items():
        term = page.get_by_role("term").filter(has_text=re.compile(rf"^{label}$")).first
        expect(term.locator("xpath=following-sibling::dd[1]")).to_contain_text(value, timeout=60_000)


def download(page: Page, name: str) -> bytes:
    with page.expect_download() as found:
        follow(page, name)
    return found.value.path().read_bytes()


def show_money(amount: int) -> str:
    return format_money(100 * amount)


def enter_time(days: int, hour: int) -> str:
    """What a person enters for a time so many days from now."""
    return f"{TODAY + timedelta(days=days):%Y-%m-%d}T{hour:02d}:00"


def let_days_pass(days: int) -> None:
    execute_sql("UPDATE event SET starts_at = starts_at - :t, ends_at = ends_at - :t", t=timedelta(days=days))


def confirm_the_address(page: Page, email: str) -> None:
    send(page, {"Code from the e-mail": find_newest_code(email)}, "Confirm the address")


def sign_up_as_organiser(page: Page, address: str) -> None:
    page.goto(address)
    follow(page, "Run an event")
    fill(page, {"Your name": "Ndapewa Iita", "Name of your organisation": ORGANISATION})
    send(page, {"Your e-mail address": ORGANISER, "Choose a password": PASSWORD}, "Sign up")
    confirm_the_address(page, ORGANISER)
    expect_texts(page, "Your desk", "First steps", "Create your first event")


def describe_the_organisation(page: Page) -> None:
    open_section(page, "Settings", of="Desk")
    details = {"Address": "12 Sam Nujoma Drive\nWindhoek", "VAT registration number": "1234567-8"}
    send(page, details, "Save", "The details are saved.")
    follow(page, "Add bank details")
    fill(page, {"Name of the account": ORGANISATION, "Account number": "62001234567", "Bank": "FNB"})
    send(page, {"Your password": PASSWORD}, "Save", "The bank details are saved.")


def make_the_event(page: Page) -> None:
    open_section(page, "Home", "New event", of="Desk")
    fill(page, {"Name": FESTIVAL, "Venue": "River grounds", "City": "Windhoek"})
    times = {"Starts": enter_time(DAYS_BEFORE, 14), "Ends": enter_time(DAYS_BEFORE + DAYS_LONG - 1, 23)}
    send(page, times, "Create the event", "Only your team can see it.")
    expect_facts(page, {"State": "Draft"})


def sell_tickets_and_stalls(page: Page) -> None:
    follow(page, "A ticket type, or a capacity")
    for name, price, quantity in (("Weekend pass", "850", "1500"), ("VIP", "1 950", "100")):
        follow(page, "Add a ticket type")
        send(page, {"Name": name, "Price in N$": price, "How many there are": quantity}, "Save")
    follow(page, "Add a phase to Weekend pass")
    phase = {"Name": "Early bird", "Price in N$": "650", "Until": enter_time(DAYS_BEFORE // 2, 0)}
    send(page, phase, "Save", f"Early bird: {show_money(650)}, until")
    open_section(page, "Stalls", "Stall types and waitlist", "Add a stall type")
    stall_type = {"Name": "Food stall", "Fee in N$": str(FEE), "How many places there are": "10"}
    send(page, stall_type, "Save", "0 of 10 taken, 10 left")


def publish(page: Page, address: str) -> None:
    open_section(page, "Overview", "Change the facts")
    send(page, {"Where people buy tickets": SHOP}, "Save", "Before you publish")
    expect(page.get_by_role("main")).not_to_contain_text("Missing:")
    follow(page, "Publish")
    send(page, {}, "Publish", "The event is published.")
    page.goto(address)
    follow(page, "Find an event", FESTIVAL)
    expect(page).to_have_url(f"{address}/e/etosha-sunset-festival")
    expect_texts(page, show_money(650), "Early bird until", show_money(1950), "Apply for a stall")
    expect(page.get_by_role("link", name="Get tickets")).to_have_attribute("href", SHOP)
    page.goto(f"{address}/desk")


def invite_the_door(desk: Page, door: Page, address: str) -> None:
    """Invite a member of the team, who has no account yet, and joins by the mailed link."""
    open_section(desk, "Team", of="Desk")
    desk.get_by_role("radio", name="Door").check()
    send(desk, {"E-mail address": DOOR}, "Send the invitation", f"We sent the invitation to {DOOR}.")
    door.goto(address + find_link(DOOR, "join"))
    follow(door, "Create one")
    send(door, {"First name": "Tuli", "Last name": "Hamutenya", "Choose a password": PASSWORD}, "Sign up")
    confirm_the_address(door, DOOR)
    send(door, {}, "Join the team", "Welcome to the team.")


def apply_for_a_stall(page: Page, address: str) -> None:
    page.goto(f"{address}/events")
    follow(page, FESTIVAL, "Apply for a stall")
    fill(page, {"Name of your business": KITCHEN, "Your name": "Ndeshi Amutenya", "E-mail address": MERCHANT})
    page.get_by_role("radio", name="Food stall").check()
    page.get_by_role("radio", name="By bank transfer").check()
    send(page, {"What do you sell?": "Kapana and fat cakes"}, "Send the application", "We have your application")


def approve_the_stall(page: Page) -> None:
    open_section(page, "Home", of="Desk")
    expect_texts(page, "1 application to decide")
    follow(page, f"Decide {FESTIVAL}", KITCHEN, "Approve")
    for document in page.get_by_role("group", name="Documents to ask for").get_by_role("checkbox").all():
        document.uncheck()
    send(page, {}, "Approve", "The application is approved.")


def record_the_fee(desk: Page, merchant: Page, address: str) -> None:
    merchant.goto(address + find_link(MERCHANT, "pay"))
    expect_facts(merchant, {"Account number": "62001234567", "Amount": show_money(FEE)})
    follow(desk, "Fee received by transfer")
    send(desk, {"Day on which it came in": f"{TODAY:%Y-%m-%d}"}, "Record the fee", "The fee is recorded as received.")
    expect_facts(desk, {"Fee": "Paid"})


def open_the_stall(desk: Page, merchant: Page, address: str) -> None:
    """Activate the account of the merchant, whose stall gets its number."""
    merchant.goto(address + find_link(MERCHANT, "activate"))
    send(merchant, {"Choose a password, or enter the one you have": PASSWORD}, "Activate and finish")
    follow(merchant, "Continue")
    expect_texts(merchant, FESTIVAL, "Food stall")
    open_section(desk, "Stalls", "Stall plan", f"Change {KITCHEN}")
    send(desk, {"Stall number": "B12", "Power": "16 A"}, "Save", "The place is saved.")
    expect(desk.get_by_role("row", name=KITCHEN)).to_contain_text("B12")


def import_the_sales_of_the_shop(page: Page) -> None:
    open_section(page, "Sales", "Import sales")
    page.get_by_label("File with the tickets").set_input_files(as_file(SHEET))
    send(page, {}, "Check the file", "Nothing is imported yet.")
    expect_facts(page, {"New": str(len(SOLD))})
    send(page, {}, "Import the tickets", "The tickets are imported")
    follow(page, "See the sales")
    expect_facts(page, {"Sold": f"{len(SOLD)} of {format_number(1600)}", "Takings": show_money(TAKINGS)})


def keep_places_for_a_sponsor(page: Page) -> None:
    open_section(page, "Guests", "New block")
    fill(page, {"Places": str(PLACES), "Name of the block": "Gold sponsor", "Holder: organisation": "Northern Bank"})
    fill(page, {"Holder: e-mail address": "sara@example.com"})
    send(page, {"Price of a place in N$": str(PRICE_OF_A_PLACE)}, "Show the price", "What it costs")
    expect(page.get_by_role("row", name="Total")).to_contain_text(show_money(BLOCK))
    send(page, {}, "Make the block", "The block is made. Hand out its places now or later.")


def hand_a_place_to_a_guest(desk: Page, guest: Page, address: str) -> str:
    """Invite a guest, who claims a ticket; return its code."""
    follow(desk, "Invite guests")
    send(desk, {"Guests": f"Anna Shilongo, {GUEST}"}, "Check the list", "1 guest gets a mail")
    send(desk, {}, "Send 1 invitation", "Invited: 1.")
    guest.goto(address + find_link(GUEST, "claim"))
    send(guest, {}, "Claim my ticket", "Your ticket")
    picture = guest.get_by_role("img", name="QR code")
    return (picture.get_attribute("aria-label") or "").removeprefix("QR code ")


def invoice_the_sponsor(page: Page) -> None:
    follow(page, "Open the invoice")
    send(page, {}, "Issue without sending", "is issued.")
    expect_facts(page, {"Still to pay": show_money(BLOCK)})
    follow(page, "Payment received")
    send(page, {"Day on which it came in": f"{TODAY:%Y-%m-%d}"}, "Record the payment", "The payment is recorded.")
    expect_facts(page, {"Still to pay": show_money(0)})


def count_the_stock(page: Page) -> None:
    open_section(page, "Stock", "New item")
    item = {"Name": "Windhoek Lager", "Item number": "BEE-1", "Unit": "case", "On hand": "48"}
    send(page, item, "Add the item", "The item is added.")
    follow(page, "All items")
    page.get_by_label("New number of Windhoek Lager").fill("44")
    page.get_by_role("radio", name="Sold or used").check()
    page.get_by_label("New number of Windhoek Lager").press("Enter")
    expect_texts(page, "The number is saved.")
    expect(page.get_by_role("row", name="Windhoek Lager").get_by_role("cell", name="44", exact=True)).to_have_count(2)


def write_to_everybody(page: Page) -> None:
    open_section(page, "Messages", "Write a message", "Reminder")
    send(page, {"Name": "Gates and parking"}, "Save the draft", "Look at it before you send it.")
    expect(page.frame_locator("iframe").get_by_text("Hello Ndapewa,", exact=True)).to_be_visible()
    expect_facts(page, {"In all": f"{PEOPLE} people"})
    follow(page, "Send now")
    send(page, {}, "Send it now", "Sending has started.")
    run_all_jobs()
    expect_facts(page, {"Sent": str(PEOPLE)})
    assert "Hello Zoë," in list_mails_to(SOLD[0]["email"])[0]["text"]


def pair_a_phone_at_the_gate(desk: Page, phone: Page, address: str) -> None:
    open_section(desk, "Home", of="Desk")
    expect_texts(desk, "Running now")
    follow(desk, FESTIVAL)
    open_section(desk, "Gate", "Phones", "Add a phone")
    send(desk, {"Name": "North gate"}, "Show the code", "Waiting for the phone.")
    pair_by_code(phone, address, desk.locator("#code").inner_text().strip())
    expect_texts(desk, "North gate is paired.")


def let_people_in(desk: Page, phone: Page, code: str) -> None:
    """Scan tickets of the shop and of the sponsor, while the desk looks on."""
    open_section(desk, "Gate")
    expect_facts(desk, {"Admitted": f"0 of {PEOPLE} expected"})
    type_code(phone, SOLD[0]["secret"])
    expect_verdict(phone, "Come in", SOLD[0]["name"])
    type_code(phone, SOLD[0]["secret"])
    expect_verdict(phone, "No entry", SOLD[0]["name"], "Already in")
    type_code(phone, code)
    expect_verdict(phone, "Come in", "Anna Shilongo")
    expect_facts(desk, {"Admitted": f"2 of {PEOPLE} expected"})


def undo_a_scan(door: Page, phone: Page, code: str) -> None:
    """Undo a scan as the member of the team at the door, who sees no money; then the guest comes in again."""
    open_section(door, "Home", FESTIVAL, of="Desk")
    expect(door.get_by_role("link", name="Money", exact=True)).to_have_count(0)
    open_section(door, "Gate", "Entries", "Undo the scan of Anna Shilongo")
    send(door, {"Reason": "Only asked for the way"}, "Undo the scan", "The scan is undone.")
    open_section(door, "Gate")
    expect_facts(door, {"Admitted": f"1 of {PEOPLE} expected"})
    type_code(phone, code)
    expect_verdict(phone, "Come in", "Anna Shilongo")
    open_section(door, "Gate")
    expect_facts(door, {"Admitted": f"2 of {PEOPLE} expected"})


def look_at_the_money(page: Page) -> None:
    open_section(page, "Home", of="Desk")
    expect_texts(page, "Past")
    follow(page, FESTIVAL)
    open_section(page, "Money")
    expect_texts(page, "The books agree with the ledger to the cent.")
    expect_facts(
        page, {"Received from fees and blocks, less refunds": show_money(FEE + BLOCK), "Still open": show_money(0)}
    )
    expect_facts(page, {"Tickets sold in your shop": show_money(TAKINGS)})


def settle(page: Page) -> None:
    send(page, {}, "Make the settlement report", "You can leave this page")
    run_all_jobs()
    open_section(page, "Files", of="Desk")
    report = download(page, "Download Settlement report")
    assert report.startswith(b"%PDF") and FESTIVAL.encode() in report
    if shutil.which("pdftotext"):
        printed = subprocess.run(["pdftotext", "-layout", "-", "-"], input=report, capture_output=True, check=True)
        words = printed.stdout.decode().split()
        for text in (FESTIVAL, ORGANISATION, show_money(FEE + BLOCK), show_money(TAKINGS)):
            assert " ".join(text.split()) in " ".join(words)


def hand_the_books_to_the_accountant(page: Page) -> None:
    open_section(page, "Accounting", of="Desk")
    expect(page.get_by_role("row", name=FESTIVAL)).to_contain_text(show_money(FEE + BLOCK))
    journal = csv.DictReader(download(page, "Journal as CSV").decode("utf-8-sig").splitlines())
    assert sorted(float(row["debit"]) for row in journal if row["accountName"] == "Bank") == [FEE, BLOCK]
