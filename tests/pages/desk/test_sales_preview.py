"""Files of sales with little in them: no day of sale, new ticket types, one column that is number and code."""

from typing import Any

from tests.blueprints.test_ticket_import_undo import scan
from tests.events.test_capacity import create_block
from tests.http import Client, data
from tests.pages.desk.test_events import EVENTS
from tests.pages.desk.test_sales import HEADER, ROWS, post, upload
from tests.pages.desk.test_sales import event as event
from tests.pages.desk.test_sales import path as path
from tests.pages.pages import Visitor

UNDATED = "reference,ticketType,name,secret\nB1,Weekend pass,Zoë,one\nB2,Weekend pass,Petrus,two\n"
NO_DAY = "The file has no day of sale: these tickets count as sold today."


def import_upload(desk: Visitor) -> str:
    return post(desk, f"{desk.page.request.path}/import").text


def test_tickets_without_a_day_of_sale_say_so(
    organiser: Client, event: dict[str, Any], desk: Visitor, path: str
) -> None:
    assert NO_DAY in upload(desk, path, UNDATED).text
    assert "The tickets are imported" in import_upload(desk) and NO_DAY not in desk.page.text
    tickets = data(organiser.get(f"/api/events/{event['id']}/tickets"))["tickets"]
    assert [ticket["knownSoldAt"] for ticket in tickets] == [None, None] and all(it["soldAt"] for it in tickets)
    assert '<td data-label="Sold" class="without">' in desk.open(f"{path}/tickets").text
    assert "tickets without a day of sale on the day of their import" in desk.open(path).text
    dated = UNDATED.replace("secret\n", "secret,soldAt\n").replace("one\n", "one,2026-10-01\n").replace("two", "two,")
    assert "day of sale" not in upload(desk, path, dated).text
    import_upload(desk)
    tickets = data(organiser.get(f"/api/events/{event['id']}/tickets"))["tickets"]
    assert [ticket["knownSoldAt"] and ticket["knownSoldAt"][:10] for ticket in tickets] == ["2026-09-30", None]


def test_some_tickets_without_a_day_of_sale_are_counted(desk: Visitor, path: str) -> None:
    assert "day of sale" not in upload(desk, path, HEADER + ROWS).text
    page = upload(desk, path, HEADER + ROWS + "A3,Weekend pass,Anna,,850,,sold,three\n").text
    assert "1 new ticket has no day of sale: it counts as sold today." in page


def test_a_new_ticket_type_says_how_many_it_has(
    organiser: Client, event: dict[str, Any], desk: Visitor, path: str
) -> None:
    upload(desk, path, HEADER + ROWS + "A3,Backstage,Anna,,850,2026-10-01,sold,three\n")
    page = post(desk, f"{desk.page.request.path}/check", name="Backstage", type="new").text
    assert "New ticket type Backstage with 1 ticket." in page and "it is sold out in public" in page
    address = desk.page.request.path.removesuffix("/check")
    page = post(desk, f"{address}/import").text
    new_type = next(
        it for it in data(organiser.get(f"/api/events/{event['id']}"))["ticketTypes"] if it["name"] == "Backstage"
    )
    assert f'href="{EVENTS}/{event["id"]}/ticket-types/{new_type["id"]}">Change how many there are</a>' in page


def test_the_code_column_may_be_the_number_too(desk: Visitor, path: str) -> None:
    page = upload(desk, path, "What;Barcode;Buyer\nWeekend pass;001;Zoë\n")
    assert '<option value="ticketType" selected>' in page.text
    assert '<option value="numberAndCode" selected>' in page.text
    page = post(desk, page.request.path, columnA="ticketType", columnB="secret", columnC="name")
    text = "Choose the column that is “Number of the ticket”, or “Number of the ticket, which is also the code"
    assert page.status_code == 422 and page.text.count(text) == 2 and 'href="#columnB"' in page.text
    page = post(desk, page.request.path, columnA="ticketType", columnB="numberAndCode", columnC="name")
    assert "Nothing is imported yet." in page.text


def test_the_check_says_who_of_the_cancelled_has_entered(
    organiser: Client, event: dict[str, Any], desk: Visitor, path: str
) -> None:
    upload(desk, path, HEADER + ROWS)
    import_upload(desk)
    data(scan(organiser, event, "one"))
    page = upload(desk, path, HEADER + ROWS.replace("sold", "refunded")).text
    assert "1 guest of a cancelled ticket has entered." in page and page.count(" · Entered</li>") == 1
    page = upload(desk, path, HEADER + ROWS.replace("sold,two", "refunded,two")).text
    assert "1 cancelled ticket" in page and "has entered" not in page


def test_the_check_says_which_price_and_state_count_without_their_columns(
    organiser: Client, event: dict[str, Any], desk: Visitor, path: str
) -> None:
    state, price = "No column is the state: every row counts as sold.", "No column is the price."
    page = upload(desk, path, UNDATED + "B3,Camping add-on,Nela,three\n").text
    assert state in page and page.count(price) == 1
    assert "N$\u00a0850.00 of the ticket type Weekend pass counts for each of 2 rows." in page
    assert "N$\u00a0120.00 of the ticket type Camping add-on counts for 1 row." in page
    assert price not in import_upload(desk) and state not in desk.page.text
    page = upload(desk, path, UNDATED).text
    assert price not in page and state in page, "tickets that are here keep their price, but not their state"
    half = UNDATED.replace("B", "C").replace("secret\n", "secret,price,status\n")
    half = half.replace("one\n", "four,850,sold\n").replace("two", "five,,")
    page = upload(desk, path, half).text
    assert price not in page and "Some new tickets have no price in the file." in page
    assert "Weekend pass counts for 1 row." in page and "1 row has no state: it counts as sold." in page
    page = upload(desk, path, HEADER + ROWS).text
    assert "counts for" not in page and "no state" not in page and state not in page


def test_a_column_that_the_format_does_not_read_is_not_the_price(desk: Visitor, path: str) -> None:
    page = upload(desk, path, "reference,ticketType,Ticket price\nD1,Weekend pass,350\n")
    assert "No column is the price." in page.text
    page = desk.open(f"{page.request.path}/columns")
    assert '<option value="price" selected>' in page.text


def test_the_sales_say_how_many_imported_tickets_are_not_sold_any_more(desk: Visitor, path: str) -> None:
    more = ROWS + "A3,Weekend pass,Nela,,850,2026-10-01,sold,three\n"
    upload(desk, path, HEADER + more)
    import_upload(desk)
    assert "of which" not in desk.open(path).text
    upload(desk, path, HEADER + more.replace("sold,one", "refunded,one"))
    import_upload(desk)
    assert "Imported tickets: 3, of which 1 is refunded." in desk.open(path).text
    upload(desk, path, HEADER + more.replace("sold,one", "refunded,one").replace("sold,two", "cancelled,two"))
    import_upload(desk)
    assert "Imported tickets: 3, of which 1 is cancelled, 1 is refunded." in desk.open(path).text


def test_the_sales_say_how_many_tickets_are_kept_for_guests(
    organiser: Client, event: dict[str, Any], desk: Visitor, path: str
) -> None:
    upload(desk, path, HEADER + ROWS)
    import_upload(desk)
    assert "Kept for guests" not in desk.open(path).text
    create_block(organiser, event, quantity=7)
    assert "<dt>Kept for guests</dt><dd>7</dd>" in desk.open(path).text
