"""What happens by itself: large imports, alerts, digests, forgetting."""

from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from flask import Flask
from sqlalchemy import text

from app.core.jobs import get_job
from app.core.outbox import enqueue
from app.core.outbox.executor import run_due_jobs
from app.core.transaction import transaction
from app.inventory import background_jobs, jobs, reminders
from app.inventory.actions import imports
from tests.factories.accounts import list_mails_to
from tests.factories.inventory import Stock, assert_quantities_match_movements, build_csv
from tests.http import Client, data, list_problems, read_error

BAR = "bar@windhoek-lights.example"


@pytest.fixture
def stock(client: Client) -> Stock:
    return Stock(client)


def run(kind: str) -> None:
    """Lets a recurring job have its turn, and does what it enqueues."""
    with transaction():
        enqueue(kind)  # type: ignore[arg-type]
    run_due_jobs(worker="test")
    run_due_jobs(worker="test")


def large(count: int = 5001, **first: Any) -> str:
    lines = [f"S-{n},Item {n},1,1,1,{n % 9},0,0" for n in range(count)]
    return build_csv(*[*lines, *first.values()])


def test_a_large_sheet_is_imported_by_a_worker(stock: Stock) -> None:
    answer = stock.sheet(large())
    job = data(answer, 202)
    assert job["status"] == "queued" and stock.items() == []
    path = f"{stock.path}/reports?jobId={job['jobId']}"
    assert data(stock.owner.get(path))["progress"] == 0
    run_due_jobs(worker="test")
    done = data(stock.owner.get(path))
    assert (done["status"], done["progress"]) == ("done", 100)
    assert done["result"] == {"created": 5001, "updated": 0, "unchanged": 0, "errors": [], "error_count": 0}
    assert_quantities_match_movements()
    again = data(stock.sheet(large()), 202)
    run_due_jobs(worker="test")
    told = data(stock.owner.get(f"{stock.path}/reports?jobId={again['jobId']}"))
    assert told["result"]["unchanged"] == 5001


def test_a_large_sheet_with_a_bad_row_fails_and_its_errors_can_be_fetched(stock: Stock) -> None:
    job = data(stock.sheet(large(bad="S-1,Twice,1,1,1,1,0,0")), 202)
    run_due_jobs(worker="test")
    done = data(stock.owner.get(f"{stock.path}/reports?jobId={job['jobId']}"))
    assert (done["status"], done["error"]) == ("failed", "IMPORT_REJECTED")
    assert done["result"]["errors"][0]["row"] == 5003 and stock.items() == []
    assert b'"5003","sku","duplicate"' in stock.owner.get(done["downloadUrl"]).get_data()


def test_a_worker_refuses_what_a_request_refuses(stock: Stock, monkeypatch: pytest.MonkeyPatch) -> None:
    sheets = {
        "no row is right": build_csv("A,Lager,1,1,1,1,5,0"),
        "one is": build_csv("A,Lager,1,1,1,1,5,0", "B,Bier,1,1,1,5,0,0"),
    }
    for sheet in sheets.values():
        for query in ({"dryRun": "true", "mode": "partial"}, {"mode": "partial"}, {"dryRun": "true"}, {}):
            answer = stock.sheet(sheet, **query)
            with monkeypatch.context() as patch:
                patch.setattr(imports, "MAX_SYNC_ROWS", 0)
                job = data(stock.sheet(sheet, **query), 202)
            run_due_jobs(worker="test")
            done = data(stock.owner.get(f"{stock.path}/reports?jobId={job['jobId']}"))
            assert done["status"] == ("done" if answer.status_code == 200 else "failed"), (sheet, query)


def test_a_job_that_dies_leaves_nothing_and_is_done_again(stock: Stock, monkeypatch: pytest.MonkeyPatch) -> None:
    job = data(stock.sheet(large()), 202)
    told = background_jobs.finish_job

    def dies(*arguments: Any, **options: Any) -> None:
        told(*arguments, **options)
        raise RuntimeError("the machine is gone")

    monkeypatch.setattr(background_jobs, "finish_job", dies)
    run_due_jobs(worker="test")
    assert stock.items() == []
    monkeypatch.setattr(background_jobs, "finish_job", told)
    with transaction() as session:
        session.execute(text("UPDATE outbox SET run_at = now() WHERE kind = 'inventory.import'"))
    run_due_jobs(worker="test")
    assert data(stock.owner.get(f"{stock.path}/reports?jobId={job['jobId']}"))["status"] == "done"
    assert_quantities_match_movements()


def test_jobs_of_others_are_not_there(stock: Stock, client: Client) -> None:
    job = data(stock.sheet(large()), 202)
    other = Stock(client)
    assert read_error(other.owner.get(f"{stock.path}/reports?jobId={job['jobId']}"))[0] == 404
    assert read_error(other.owner.get(f"{other.path}/reports?jobId={job['jobId']}"))[0] == 404
    assert read_error(stock.owner.get(f"{stock.path}/reports?jobId={job['jobId']}&download=true"))[0] == 404
    assert list_problems(stock.owner.get(f"{stock.path}/reports?download=true")) == {"jobId": "required"}


def remind(stock: Stock, **fields: Any) -> dict[str, Any]:
    return data(stock.owner.patch(f"{stock.path}/reminder", {"enabled": True, "recipients": [BAR], **fields}))


def test_a_crossing_is_told_once(stock: Stock) -> None:
    remind(stock)
    lager, cola = stock.item(name="Lager", onHand=10, reorderLevel=4), stock.item(name="Cola", onHand=9, reorderLevel=4)
    for _ in range(7):
        data(stock.adjust(lager, -1))
    data(stock.adjust(cola, -6))
    run("inventory.alert")
    (mail,) = list_mails_to(BAR)
    assert mail["subject"] == "Cola has run low and 1 more"
    assert f"Lager ({lager['sku']}): 4 available, reorder level 4" in mail["text"]
    assert "/docs" not in mail["text"] + mail["html"] and "Answer this mail" in mail["text"]
    assert mail["headers"]["Reply-To"]
    run("inventory.alert")
    assert len(list_mails_to(BAR)) == 1
    data(stock.adjust(lager, 10))
    data(stock.owner.patch(f"{stock.path}/items/{lager['id']}", {"reserved": 10}))
    run("inventory.alert")
    assert len(list_mails_to(BAR)) == 2, "it had recovered, and crossed again"


def test_nobody_is_told_who_does_not_want_to_be(stock: Stock) -> None:
    remind(stock, includeLowStock=False)
    data(stock.adjust(stock.item(onHand=5, reorderLevel=4), -3))
    run("inventory.alert")
    remind(stock)
    run("inventory.alert")
    assert list_mails_to(BAR) == []


def test_the_digest_goes_out_now_when_somebody_asks(stock: Stock) -> None:
    stock.item(name="Lager", onHand=1, reorderLevel=4, unit="case")
    stock.item(name="Milk", onHand=50, expiryDate="2026-01-31", unit="case")
    remind(stock, enabled=False)
    answer = data(stock.owner.post(f"{stock.path}/reminder/trigger"), 202)
    assert answer == {"recipients": [BAR], "queued": 1}
    run_due_jobs(worker="test")
    (mail,) = list_mails_to(BAR)
    assert mail["subject"].endswith(": 1 low, 1 expiring")
    assert "1 case available, reorder level 4" in mail["text"] and "expired on Sat 31 January 2026" in mail["text"]
    assert "50 cases, expired" in mail["text"] and "/docs" not in mail["text"] + mail["html"]
    for _ in range(19):
        data(stock.owner.post(f"{stock.path}/reminder/trigger"), 202)
    assert read_error(stock.owner.post(f"{stock.path}/reminder/trigger"))[0] == 429


def test_a_digest_that_is_due_goes_out_once_and_only_if_there_is_something_to_tell(stock: Stock) -> None:
    remind(stock)

    def due() -> None:
        with transaction() as session:
            session.execute(text("UPDATE inventory_reminder SET next_at = now() - interval '1 minute'"))
        run("inventory.remind")

    due()
    assert list_mails_to(BAR) == []
    stock.item(onHand=1, reorderLevel=4)
    with transaction() as session:
        session.execute(text("UPDATE inventory_reminder SET next_at = now() - interval '2 hours'"))
    run("inventory.remind")
    run("inventory.remind")
    assert len(list_mails_to(BAR)) == 1
    next_at = datetime.fromisoformat(data(stock.owner.get(f"{stock.path}/reminder"))["nextAt"])
    assert datetime.now(UTC) < next_at <= datetime.now(UTC) + timedelta(days=1)


def test_a_reminder_follows_the_time_zone_of_its_event(stock: Stock) -> None:
    path, event = f"{stock.path}/reminder", f"/api/events/{stock.event['id']}"

    def hour_in(zone: str) -> int:
        return datetime.fromisoformat(data(stock.owner.get(path))["nextAt"]).astimezone(ZoneInfo(zone)).hour

    remind(stock, hour=7)
    assert hour_in("Africa/Windhoek") == 7
    data(stock.owner.patch(event, {"timezone": "Asia/Tokyo"}))
    assert hour_in("Asia/Tokyo") == 7
    assert datetime.fromisoformat(data(stock.owner.get(path))["nextAt"]) > datetime.now(UTC)
    data(stock.owner.patch(event, {"timezone": "America/New_York", "name": "Elsewhere"}))
    assert hour_in("America/New_York") == 7


def test_a_digest_that_is_due_is_not_lost_with_a_new_time_zone(stock: Stock) -> None:
    remind(stock, hour=7)
    with transaction() as session:
        session.execute(text("UPDATE inventory_reminder SET next_at = now() - interval '1 minute'"))
    data(stock.owner.patch(f"/api/events/{stock.event['id']}", {"timezone": "Asia/Tokyo"}))
    with transaction() as session:
        assert session.scalar(text("SELECT next_at < now() FROM inventory_reminder"))


def test_a_reminder_that_is_off_stays_off_with_a_new_time_zone(stock: Stock) -> None:
    data(stock.owner.patch(f"{stock.path}/reminder", {"enabled": False, "hour": 7}))
    data(stock.owner.patch(f"/api/events/{stock.event['id']}", {"timezone": "Asia/Tokyo"}))
    assert data(stock.owner.get(f"{stock.path}/reminder"))["nextAt"] is None


def test_a_reminder_is_one_resource(stock: Stock) -> None:
    first = stock.owner.get(f"{stock.path}/reminder")
    assert data(first)["enabled"] is False and data(first)["recipients"] and first.headers["ETag"] == '"0"'
    changed = stock.owner.patch(f"{stock.path}/reminder", {"hour": 6}, headers={"If-Match": '"0"'})
    assert data(changed)["version"] == 1 and data(changed)["nextAt"] is None
    stale = stock.owner.patch(f"{stock.path}/reminder", {"hour": 7}, headers={"If-Match": '"0"'})
    assert read_error(stale)[0] == 412
    wrong = {"hour": 24, "weekday": "someday", "recipients": ["nobody"], "frequency": "hourly"}
    assert set(list_problems(stock.owner.patch(f"{stock.path}/reminder", wrong))) == {
        "hour",
        "weekday",
        "recipients[0]",
        "frequency",
    }
    empty = stock.owner.patch(f"{stock.path}/reminder", {"enabled": True, "recipients": []})
    assert list_problems(empty) == {"recipients": "required"}


@pytest.mark.parametrize(
    ("now", "asked", "expected"),
    [
        ("2026-11-21T05:59:00Z", {}, "2026-11-21T06:00:00Z"),
        ("2026-11-21T06:00:00Z", {}, "2026-11-22T06:00:00Z"),
        ("2026-11-21T06:00:00Z", {"frequency": "weekly"}, "2026-11-23T06:00:00Z"),
        ("2026-11-23T05:00:00Z", {"frequency": "weekly"}, "2026-11-23T06:00:00Z"),
        ("2027-03-27T12:00:00Z", {"zone": "Europe/Berlin", "hour": 2}, "2027-03-28T01:00:00Z"),
        ("2026-10-24T12:00:00Z", {"zone": "Europe/Berlin", "hour": 2}, "2026-10-25T00:00:00Z"),
    ],
)
def test_reminders_are_due_by_the_clock_of_the_event(now: str, asked: dict[str, Any], expected: str) -> None:
    said = {"frequency": "daily", "hour": 8, "weekday": "monday", "zone": "Africa/Windhoek", **asked}
    assert reminders.calculate_next_at(**said, now=datetime.fromisoformat(now)) == datetime.fromisoformat(expected)


def test_what_nobody_can_ask_for_is_forgotten(stock: Stock, app: Flask) -> None:
    stock.item()
    data(stock.sheet(large()), 202)
    with transaction() as session:
        session.execute(text("UPDATE inventory_change SET at = now() - interval '3 days'"))
        session.execute(text("UPDATE inventory_job SET created_at = now() - interval '8 days'"))
    run("inventory.housekeeping")
    with transaction() as session:
        assert session.scalar(text("SELECT count(*) FROM inventory_change WHERE at < now() - interval '2 days'")) == 0
        assert session.scalar(text("SELECT count(*) FROM inventory_job")) == 0
    assert get_job("inventory.housekeeping").call is jobs.delete_expired
