"""Files and counts of the desk: they share the limits of the API, and only what is sent is recorded as an export."""

import pytest

from app.inventory.reports.definitions import REPORTS
from app.money import journal, vat_exports
from tests.factories.events import create_event, create_published_event
from tests.factories.payouts import fetch_scalar
from tests.http import Client
from tests.pages.desk.test_events import EVENTS
from tests.pages.desk.test_messages import FILLED
from tests.pages.pages import Visitor


@pytest.mark.parametrize(
    "path, page",
    [
        ("/api/organisations/me/journal.csv", "/desk/money/journal.csv"),
        ("/api/organisations/me/audit.csv", "/desk/audit?format=csv"),
    ],
)
def test_a_file_and_its_operation_share_one_limit(organiser: Client, desk: Visitor, path: str, page: str) -> None:
    first = organiser.get(path)
    assert first.status_code == 200 and first.headers["RateLimit-Remaining"] == "19"
    answer = desk.open(page)
    assert answer.status_code == 200 and answer.headers["RateLimit-Remaining"] == "18"
    for _ in range(18):
        desk.open(page)
    assert desk.open(page).status_code == 429 and organiser.get(path).status_code == 429


def test_invitations_and_links_to_apply_are_limited(organiser: Client, desk: Visitor) -> None:
    event_id = create_published_event(organiser)["id"]
    path = f"{EVENTS}/{event_id}/stalls/invitations"
    for page in (f"new?id={event_id}", "link"):
        desk.open(f"{path}/{page}")
        assert desk.press(form=1).headers["RateLimit-Limit"] == "60", page


def test_the_people_of_a_message_are_counted_within_the_limit(organiser: Client, desk: Visitor) -> None:
    event = create_published_event(organiser)
    desk.open(f"{EVENTS}/{event['id']}/messages/new")
    page = desk.send(form=1, **FILLED)
    assert page.status_code == 200 and page.headers["RateLimit-Limit"] == "60"


def test_pages_say_what_the_columns_of_their_files_mean(organiser: Client, desk: Visitor) -> None:
    event_id = create_event(organiser)["id"]
    page = desk.open("/desk/money").text
    for heading in (*journal.HEADER, *vat_exports.CSV_HEADER):
        assert f"<dt><code>{heading}</code></dt><dd>" in page, heading
    assert "Day on which a transfer arrived in your account" in page
    page = desk.open(f"{EVENTS}/{event_id}/stock/counts").text
    for name, report in REPORTS.items():
        headings = desk.open(f"{EVENTS}/{event_id}/stock/reports/{name}").text.lstrip("\ufeff").strip().split(",")
        assert headings == [field.name for field in report.fields]
        assert [heading for heading in headings if page.count(f"<dt><code>{heading}</code></dt><dd>") != 1] == []


LONG = "q=" + "x" * 500


def count_exports(name: str) -> int:
    return int(fetch_scalar(f"SELECT count(*) FROM audit_entry WHERE action = 'exports.{name}'"))


@pytest.mark.parametrize(
    "page, name, refused",
    [
        ("/desk/audit?format=csv", "audit", "actor=x"),
        ("{event}/guests?format=csv", "blocks", "kind=x"),
        ("{event}/stalls?format=csv", "applications", "status=x"),
        ("{event}/stock?format=csv", "stock", "lowStock=x"),
        ("{event}/sales/tickets?format=csv", "sales", LONG),
        ("{event}/gate/log?format=csv", "admissions", LONG),
        ("{event}/messages/suppressions?format=csv", "message_addresses", LONG),
    ],
)
def test_only_a_file_that_is_sent_is_recorded(
    organiser: Client, desk: Visitor, page: str, name: str, refused: str
) -> None:
    path = page.format(event=f"{EVENTS}/{create_event(organiser)['id']}")
    assert desk.flask.head(path).status_code == 200 and count_exports(name) == 0
    assert desk.open(f"{path}&{refused}").status_code == 422 and count_exports(name) == 0
    assert desk.open(path).mimetype == "text/csv" and count_exports(name) == 1
