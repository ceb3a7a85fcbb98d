"""Reports of the stock: each kind as JSON and CSV, and on paper by a worker."""

import csv
import io
from datetime import UTC, date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from flask import Flask
from sqlalchemy import text

from app.blueprints.inventory.reports import ReportData
from app.core import tokens
from app.core.outbox import enqueue
from app.core.outbox.executor import run_due_jobs
from app.core.transaction import transaction
from app.inventory.reports import report_pdf
from app.inventory.reports.definitions import REPORTS
from tests.counting import record_statements
from tests.factories.accounts import create_account, create_signed_in_client
from tests.factories.inventory import Stock
from tests.factories.payouts import fetch_scalar
from tests.http import Client, data, list_problems, read_error

TODAY = datetime.now(UTC).astimezone(ZoneInfo("Africa/Windhoek")).date()
HOSTILE = {
    "name": '<img src="http://127.0.0.1:9/x.png"/><b>🔥 "Lager"</b>',
    "supplier": "=HYPERLINK(1)",
    "category": "&lt;para> نادي البيرة",
    "storageLocation": "</para><font size=99>",
}


def in_days(days: int) -> str:
    return (TODAY + timedelta(days=days)).isoformat()


@pytest.fixture
def stock(client: Client) -> Stock:
    """Three items whose every total is known."""
    made = Stock(client)
    beer = {"category": "Beer", "supplier": "Namibia Breweries", "unit": "case"}
    lager = made.item(name="Lager", sku="A-1", onHand=10, costPrice=2.005, sellPrice=3, expiryDate=in_days(3), **beer)
    made.item(name="Stout", sku="A-2", onHand=2.5, costPrice=10, sellPrice=20, damaged=0.5, reorderLevel=4, **beer)
    made.item(
        name="Biltong",
        sku="B-1",
        onHand=6,
        category="Food",
        expiryDate=in_days(-2),
        reorderLevel=6,
        parLevel=9,
        minOrderQty=1,
    )
    data(made.adjust(lager, -4, reason="sold"))
    data(made.adjust(lager, counted=5))
    return made


def report(stock: Stock, kind: str, **query: Any) -> dict[str, Any]:
    return data(stock.owner.get(f"{stock.path}/reports", query_string={"type": kind, **query}))


def filed(stock: Stock, kind: str, **query: Any) -> list[dict[str, str]]:
    answer = stock.owner.get(f"{stock.path}/reports", query_string={"type": kind, "format": "csv", **query})
    assert answer.status_code == 200 and answer.mimetype == "text/csv", answer.get_data(as_text=True)
    assert answer.get_data().startswith(b"\xef\xbb\xbf") and "attachment" in answer.headers["Content-Disposition"]
    return list(csv.DictReader(io.StringIO(answer.get_data().decode("utf-8-sig"))))


def asked(stock: Stock, kind: str = "summary", **query: Any) -> dict[str, Any]:
    """The job of a PDF."""
    return data(stock.owner.get(f"{stock.path}/reports", query_string={"type": kind, "format": "pdf", **query}), 202)


def job(stock: Stock, made: dict[str, Any]) -> dict[str, Any]:
    return data(stock.owner.get(f"{stock.path}/reports?jobId={made['jobId']}"))


def printed(stock: Stock, kind: str = "summary", **query: Any) -> bytes:
    made = asked(stock, kind, **query)
    run_due_jobs(worker="test")
    done = job(stock, made)
    assert (done["status"], done["progress"]) == ("done", 100), done
    answer = Client(stock.owner.flask).get(done["downloadUrl"])
    assert answer.status_code == 200 and answer.mimetype == "application/pdf"
    return answer.get_data()


def test_the_summary_is_the_default_and_adds_up(stock: Stock) -> None:
    found = data(stock.owner.get(f"{stock.path}/reports"))
    assert (found["type"], found["currency"], found["eventId"]) == ("summary", "NAD", stock.event["id"])
    assert found["totals"] == {
        "items": 3,
        "lowStock": 2,
        "outOfStock": 0,
        "expired": 1,
        "expiring": 1,
        "withoutCostPrice": 1,
        "costValueMinor": 1003 + 2500,
        "saleValueMinor": 1500 + 5000,
        "damagedValueMinor": 500,
        "onOrderValueMinor": 0,
    }
    assert [
        (category["category"], category["items"], category["costValueMinor"]) for category in found["categories"]
    ] == [
        ("Beer", 2, 3503),
        ("Food", 1, 0),
    ]
    assert [supplier["name"] for supplier in found["suppliers"]] == ["Namibia Breweries", None]
    assert len(found["days"]) == 30 and found["days"][-1]["day"] == TODAY.isoformat()
    assert found["days"][-1]["quantityOut"] == 5 and found["bookedUntil"]
    assert sum(period["items"] for period in found["periods"]) == 1


def test_values_without_any_price_are_dashes_in_the_pdf(client: Client) -> None:
    unpriced, priced = Stock(client), Stock(client)
    unpriced.item(category="Beer")
    priced.item(category="Beer", costPrice=10, onHand=0)
    for stock, values in ((unpriced, ["—", "—"]), (priced, ["N$\u00a00.00", "—"])):
        found = report(stock, "summary")
        fields = [field for field in REPORTS["summary"].fields if field.share]
        (row,) = report_pdf._format_rows(REPORTS["summary"], fields, found["categories"])
        assert row[-2:] == values
        assert report_pdf._format_cost_value(found["totals"]) == values[0]


def test_the_valuation_rounds_each_item_so_that_columns_add_up(stock: Stock) -> None:
    found = report(stock, "valuation")
    assert [(item["sku"], item["onHand"], item["costPrice"], item["costValueMinor"]) for item in found["items"]] == [
        ("A-2", 2.5, 10, 2500),
        ("A-1", 5, 2.005, 1003),
        ("B-1", 6, None, None),
    ]
    assert found["totals"]["costValueMinor"] == sum(item["costValueMinor"] or 0 for item in found["items"]) == 3503
    assert found["rowCount"] == 3


def test_movements_tell_what_came_what_went_and_what_counts_found(stock: Stock) -> None:
    found = report(stock, "movements")
    lager = next(item for item in found["items"] if item["sku"] == "A-1")
    assert {name: lager[name] for name in ("received", "sold", "wasted", "counted", "other", "net", "onHand")} == {
        "received": 0,
        "sold": 4,
        "wasted": 0,
        "counted": -1,
        "other": 10,
        "net": 5,
        "onHand": 5,
    }
    assert {reason["reason"]: reason["movements"] for reason in found["reasons"]} == {
        "correction": 3,
        "sold": 1,
        "count": 1,
    }
    assert found["variances"] == [{"sku": "A-1", "name": "Lager", "unit": "case", "variance": -1, "valueMinor": -201}]
    assert found["days"][-1]["quantityIn"] == 18.5 and found["totals"]["movements"] == 5
    earlier = report(stock, "movements", **{"from": "2026-01-01", "to": "2026-01-31"})
    assert earlier["items"] == [] and len(earlier["days"]) == 31


def test_expiring_items_are_sorted_by_date(stock: Stock) -> None:
    found = report(stock, "expiry", withinDays=3)
    assert [(item["sku"], item["expiryDate"], item["daysLeft"]) for item in found["items"]] == [
        ("B-1", in_days(-2), -2),
        ("A-1", in_days(3), 3),
    ]
    assert (found["totals"]["expired"], found["totals"]["withinAWeek"]) == (1, 1)
    assert [period["items"] for period in found["periods"]] == [1]
    assert [item["sku"] for item in report(stock, "expiry", withinDays=2)["items"]] == ["B-1"]


def test_what_to_order_is_what_a_reorder_orders(stock: Stock) -> None:
    found = report(stock, "reorder")
    assert [(item["supplier"], item["sku"], item["quantity"]) for item in found["items"]] == [
        ("Namibia Breweries", "A-2", 118),
        (None, "B-1", 3),
    ]
    assert found["totals"] == {"items": 2, "suppliers": 2, "costValueMinor": 118000, "withoutCostPrice": 1}
    ordered = data(stock.owner.post(f"{stock.path}/reorder/apply", {}))
    assert {line["sku"]: line["quantity"] for order in ordered["orders"] for line in order["lines"]} == {
        item["sku"]: item["quantity"] for item in found["items"]
    }
    assert report(stock, "reorder")["items"] == []


@pytest.mark.parametrize("kind", REPORTS)
def test_the_file_says_what_the_answer_says(stock: Stock, kind: str) -> None:
    found, rows = report(stock, kind), filed(stock, kind)
    assert len(rows) == found["rowCount"] > 0
    for shown, row in zip(found[REPORTS[kind].rows_key], rows, strict=True):
        assert {name: "" if value is None else str(value) for name, value in shown.items()} == row


@pytest.mark.parametrize("kind", REPORTS)
def test_the_same_stock_is_the_same_bytes(stock: Stock, kind: str) -> None:
    path = f"{stock.path}/reports?type={kind}&format=csv"
    assert stock.owner.get(path).get_data() == stock.owner.get(path).get_data()
    sku = "A-1" if kind == "expiry" else "A-2"
    first = printed(stock, kind)
    assert first.startswith(b"%PDF-1.") and first.rstrip().endswith(b"%%EOF")
    assert printed(stock, kind) == first
    data(stock.adjust(stock.items(sku=sku)[0], -1, reason="sold"))
    assert printed(stock, kind) != first


@pytest.mark.parametrize("kind", REPORTS)
def test_an_empty_stock_is_a_report_too(client: Client, kind: str) -> None:
    empty = Stock(client)
    assert report(empty, kind)["rowCount"] == 0 and filed(empty, kind) == []
    assert printed(empty, kind).startswith(b"%PDF-1.")


@pytest.mark.parametrize("kind", REPORTS)
def test_texts_of_people_are_texts(stock: Stock, kind: str) -> None:
    stock.item(**HOSTILE, sku="=1+1", onHand=1, expiryDate=in_days(1), costPrice=1)
    stock.item(name="W" * 140, sku="X" * 80, onHand=1, expiryDate=in_days(1), costPrice=1, supplier="S" * 120)
    assert printed(stock, kind).startswith(b"%PDF-1.")
    if kind != "summary":
        row = next(item for item in filed(stock, kind) if "<img" in item["name"])
        assert row["sku"] == "'=1+1" and row.get("supplier", "'=HYPERLINK(1)") == "'=HYPERLINK(1)"


def test_unknown_types_formats_and_days_are_told_at_once(stock: Stock) -> None:
    wrong = {"type": "gossip", "format": "docx", "withinDays": "367", "from": "yesterday"}
    assert set(list_problems(stock.owner.get(f"{stock.path}/reports", query_string=wrong))) == set(wrong)
    backwards = {"type": "movements", "from": "2026-03-02", "to": "2026-03-01"}
    assert list_problems(stock.owner.get(f"{stock.path}/reports", query_string=backwards)) == {"to": "too_small"}
    long = {"type": "movements", "from": "2024-03-02", "to": "2026-03-01"}
    assert list_problems(stock.owner.get(f"{stock.path}/reports", query_string=long)) == {"from": "too_large"}


@pytest.mark.parametrize("format", ["json", "csv", "pdf"])
def test_who_may_read_a_report(stock: Stock, client: Client, format: str) -> None:
    path = f"{stock.path}/reports?format={format}"
    assert read_error(client.get(path))[0] == 401
    for role in ("customer", "merchant"):
        assert read_error(create_signed_in_client(client, create_account(role)).get(path)) == (403, "ROLE_NOT_ALLOWED")
    assert read_error(create_signed_in_client(client, create_account("organiser")).get(path)) == (404, "NOT_FOUND")
    analyst = create_signed_in_client(client, create_account("admin", admin_tier="analyst"))
    assert analyst.get(path).status_code == (202 if format == "pdf" else 200)


def test_a_job_is_seen_by_those_who_may_see_the_stock_alone(stock: Stock, client: Client) -> None:
    made = asked(stock)
    other = Stock(client)
    for path in (stock.path, other.path):
        assert read_error(other.owner.get(f"{path}/reports?jobId={made['jobId']}"))[0] == 404
    assert read_error(stock.owner.get(f"{stock.path}/reports?jobId={'0' * 24}"))[0] == 404
    for nonsense in ("nonsense", "%00", "%00" * 24, "%E2%80%AE%00x"):
        for download in ("", "&download=true"):
            assert read_error(stock.owner.get(f"{stock.path}/reports?jobId={nonsense}{download}"))[0] == 404


def test_a_link_is_good_for_five_minutes_and_for_its_file_alone(
    stock: Stock, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = asked(stock)
    assert "downloadUrl" not in made
    run_due_jobs(worker="test")
    link = job(stock, made)["downloadUrl"]
    answer = client.get(link)
    assert answer.status_code == 200 and answer.headers["Cache-Control"] == "private, no-store"
    assert f"stock-summary-{TODAY}.pdf" in answer.headers["Content-Disposition"]
    changed = link[:-5] + ("A" if link[-5] != "A" else "B") + link[-4:]
    assert read_error(client.get(changed))[0] == 404
    other = Stock(client)
    assert read_error(client.get(link.replace(stock.event["id"], other.event["id"])))[0] == 404
    head, _, token = link.rpartition("/")
    stranger = tokens.sign_download_token("document-read", made["jobId"], token.split(".")[1])[0]
    assert read_error(client.get(f"{head}/{stranger}"))[0] == 404, "a permit for another purpose"
    create_signed_in_client(client, outsider := create_account("organiser"))
    outsider_session = fetch_scalar(f"SELECT id FROM account_session WHERE account_id = '{outsider.id}'")
    for_outsider = tokens.sign_download_token("stock-file", made["jobId"], outsider_session)[0]
    assert read_error(client.get(f"{head}/{for_outsider}"))[0] == 404, "given once, but no longer allowed"
    later = datetime.now(UTC).timestamp() + tokens.READABLE_SECONDS + 2
    monkeypatch.setattr("itsdangerous.timed.time.time", lambda: later)
    assert read_error(client.get(link)) == (410, "STOCK_LINK_EXPIRED")


def test_the_same_question_is_drawn_once_at_a_time(stock: Stock) -> None:
    first = asked(stock, "valuation")
    assert asked(stock, "valuation")["jobId"] == first["jobId"]
    assert asked(stock, "expiry")["jobId"] != first["jobId"]
    assert asked(stock, "expiry", withinDays=7)["jobId"] != asked(stock, "expiry")["jobId"]
    run_due_jobs(worker="test")
    assert asked(stock, "valuation")["jobId"] != first["jobId"], "the stock may be another by now"


def test_so_many_an_hour(stock: Stock, app: Flask) -> None:
    asked(stock)
    with transaction() as session:
        session.execute(text("UPDATE throttle SET hits = 120"))
    run_due_jobs(worker="test")
    answer = stock.owner.get(f"{stock.path}/reports?format=pdf")
    assert read_error(answer) == (429, "RATE_LIMITED") and int(answer.headers["Retry-After"]) > 0


@pytest.mark.parametrize(("format", "most"), [("json", 6), ("csv", 6), ("pdf", 7)])
def test_a_report_asks_little(stock: Stock, format: str, most: int) -> None:
    """A PDF is a job, which holds the event: it may be removed meanwhile."""
    report(stock, "summary")
    with record_statements() as seen:
        answer = stock.owner.get(f"{stock.path}/reports?type=movements&format={format}")
        answer.get_data()
    assert len(seen) <= most, seen


def test_files_are_forgotten(stock: Stock) -> None:
    made = asked(stock)
    run_due_jobs(worker="test")
    link = job(stock, made)["downloadUrl"]
    with transaction() as session:
        session.execute(text("UPDATE inventory_job SET created_at = now() - interval '8 days'"))
        enqueue("inventory.housekeeping")
    run_due_jobs(worker="test")
    assert read_error(stock.owner.get(f"{stock.path}/reports?jobId={made['jobId']}"))[0] == 404
    assert read_error(stock.owner.get(link))[0] == 404


def test_days_are_those_of_the_event(client: Client) -> None:
    far = Stock(client, timezone="Pacific/Kiritimati")
    here = datetime.now(UTC).astimezone(ZoneInfo("Pacific/Kiritimati")).date()
    assert report(far, "movements")["days"][-1]["day"] == here.isoformat()
    assert date.fromisoformat(report(far, "summary")["periods"][0]["from"]) == here


@pytest.mark.parametrize("kind", REPORTS)
def test_the_document_names_what_goes_out(stock: Stock, kind: str) -> None:
    """PostgreSQL lays a report out, and not its schema."""
    named = {field.data_key for field in ReportData().dump_fields.values()}
    assert set(report(stock, kind)) <= named
