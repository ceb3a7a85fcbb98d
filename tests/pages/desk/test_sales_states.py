"""Words for the state that are not known: people say on the check what they mean."""

from typing import Any

import pytest

from app.core.outbox.executor import run_due_jobs
from app.events.actions import ticket_uploads
from tests.events.test_import import stats
from tests.factories.events import create_published_event
from tests.http import Client
from tests.pages.desk.test_events import EVENTS
from tests.pages.desk.test_sales import HEADER, count_rows, post, upload
from tests.pages.desk.test_sales import event as event
from tests.pages.desk.test_sales import path as path
from tests.pages.pages import Visitor

FILE = (
    HEADER + "A1,Weekend pass,Zoë,,850,2026-10-01,sold,one\n"
    "A2,Weekend pass,Nela,,0,2026-10-01,Sponsor,two\n"
    "A3,Weekend pass,Otto,,0,2026-10-01,Sponsor,three\n"
    "A4,Weekend pass,Test,,0,2026-10-01,<b>Test</b>,four\n"
)
QUESTION = "States that we do not know"


def check(desk: Visitor, address: str, **choices: str) -> str:
    """Send the meaning of each word."""
    fields = {"word": list(choices), "meaning": list(choices.values())}
    return post(desk, f"{address}/check", **fields).text


def test_the_meaning_of_a_word_is_chosen_and_remembered(
    organiser: Client, event: dict[str, Any], desk: Visitor, path: str
) -> None:
    page = upload(desk, path, FILE).text
    address = desk.page.request.path
    assert QUESTION in page and "First say what the states in the file mean." in page and "In 2 rows" in page
    assert (
        "&lt;b&gt;Test&lt;/b&gt;" in page
        and "We do not know this word" not in page
        and "problem" not in page.split(QUESTION)[1]
    )
    assert "Choose what each name and word in the file is." in check(desk, address, Sponsor="")
    words = {"Sponsor": "sold", "<b>Test</b>": "omitted"}
    page = check(desk, address, **words)
    assert QUESTION not in page and "<dt>New</dt><dd>3</dd>" in page and "Left out, as you chose</dt><dd>1</dd>" in page
    assert "“Sponsor”: Sold" in page and "“&lt;b&gt;Test&lt;/b&gt;”: Leave these rows out" in page
    assert "The tickets are imported" in post(desk, f"{address}/import").text
    assert stats(organiser, event)["totals"]["sold"] == 3
    page = upload(desk, path, FILE).text
    address = desk.page.request.path
    assert QUESTION not in page and "“Sponsor”: Sold" in page and "The file changes nothing" in page
    assert QUESTION in post(desk, f"{address}/check", again="true").text
    check(desk, address, **{**words, "Sponsor": "refunded"})
    assert "<dt>Cancelled (part of the changed ones)</dt><dd>2</dd>" in desk.page.text
    other = create_published_event(organiser, ticketTypes=[{"name": "Weekend pass", "priceMinor": 1, "quantity": 9}])
    assert QUESTION in upload(desk, f"{EVENTS}/{other['id']}/sales", FILE).text


def test_words_and_ticket_types_are_asked_on_one_page(desk: Visitor, path: str) -> None:
    page = upload(desk, path, FILE.replace("Weekend pass,Zoë", "Backstage,Zoë")).text
    address = desk.page.request.path
    assert QUESTION in page and "Ticket types that the event does not have" in page
    fields = {"name": "Backstage", "type": "new", "word": ["Sponsor", "<b>Test</b>"], "meaning": ["sold", "omitted"]}
    page = post(desk, f"{address}/check", **fields).text
    assert "Import the tickets" in page and "New ticket type Backstage" in page and "“Sponsor”: Sold" in page


def test_only_words_of_the_file_and_known_meanings_are_taken(desk: Visitor, path: str) -> None:
    upload(desk, path, FILE)
    address = desk.page.request.path
    token = {"word": "Sponsor", "meaning": "maybe"}
    assert post(desk, f"{address}/check", **token).status_code == 404
    desk.open(address)
    assert QUESTION in check(desk, address, paid="sold")
    assert count_rows("import_mapping WHERE kind = 'statuses'") == 0 and count_rows("ticket") == 0


def test_the_correct_rows_are_imported_without_an_answer(desk: Visitor, path: str) -> None:
    upload(desk, path, FILE)
    page = post(desk, f"{desk.page.request.path}/import", onlyCorrect="true").text
    assert count_rows("ticket") == 1 and page.count("We do not know this word. Correct it in the file.") == 3


def test_a_worker_knows_the_meanings(desk: Visitor, path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ticket_uploads, "MAX_SYNC_ROWS", 1)
    upload(desk, path, FILE)
    address = desk.page.request.path
    run_due_jobs(worker="test")
    assert QUESTION in desk.open(address).text
    check(desk, address, **{"Sponsor": "sold", "<b>Test</b>": "omitted"})
    run_due_jobs(worker="test")
    assert "<dt>New</dt><dd>3</dd>" in desk.open(address).text
    post(desk, f"{address}/import")
    run_due_jobs(worker="test")
    assert count_rows("ticket") == 3
