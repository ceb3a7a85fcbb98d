"""The month's end: a report, a PDF with a chart, and one mail for each merchant and month."""

from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import text

from app.core.charts import round_up
from app.core.db import db, transaction_engine
from app.core.outbox import maintenance
from app.core.pdf import Sheet
from app.core.transaction import transaction
from app.payouts import sql, statement
from tests.factories.accounts import list_mails_to
from tests.factories.payouts import (
    create_earning_merchant,
    execute_sql,
    fetch_scalar,
    import_earnings,
    request_payout,
    run_all_jobs,
)
from tests.http import Client


def shift_back(days: int) -> None:
    """Move all ledger rows into the past, without the triggers."""
    execute_sql(
        "SET LOCAL session_replication_role = replica; UPDATE ledger_entry SET posted_at = posted_at - make_interval("
        f"days => {days})"
    )


def test_months_are_local_to_windhoek() -> None:
    since, until = statement.get_month_bounds(date(2026, 11, 1))
    assert (since.isoformat(), until.isoformat()) == ("2026-10-31T22:00:00+00:00", "2026-11-30T22:00:00+00:00")
    assert statement.get_previous_month(date(2026, 1, 31)) == date(2025, 12, 1)
    assert statement.parse_month("2026-11") == date(2026, 11, 1)


def test_axis_ends_at_a_round_figure() -> None:
    assert [round_up(number) for number in (0, 400, 401, 999, 1000, 1001, 234_567)] == [
        400,
        400,
        600,
        1000,
        1000,
        2000,
        400_000,
    ]


def test_report_shows_earnings_and_payouts(app: Flask, client: Client, tmp_path: Path) -> None:
    me, merchant = create_earning_merchant(client, 123_456)
    request_payout(me, 23_456)
    run_all_jobs()
    request_payout(me, 1000, mode="schedule", scheduledFor=(statement.get_today() + timedelta(days=9)).isoformat())
    month, run = f"{statement.get_today():%Y-%m}", app.test_cli_runner()
    found = run.invoke(args=["payouts", "report", "--merchant", merchant.email, "--month", month])
    assert found.exit_code == 0, found.output
    for words in (
        "Earnings",
        "N$\u00a01\u202f234.56",
        "−N$\u00a0234.56",
        "N$\u00a01\u202f000.00",
        "on its way to you",
        "Payout to ••••567",
    ):
        assert words in found.output, found.output
    path = tmp_path / "statement.pdf"
    by_id = run.invoke(args=["payouts", "report", "--merchant", merchant.id, "--month", month, "--pdf", str(path)])
    assert by_id.exit_code == 0 and path.read_bytes().startswith(b"%PDF")
    assert run.invoke(args=["payouts", "report", "--merchant", "nobody@example.com", "--month", month]).exit_code == 1
    assert run.invoke(args=["payouts", "report", "--merchant", merchant.id, "--month", "May"]).exit_code == 2


def test_statement_adds_up_and_is_reproducible(client: Client) -> None:
    me, merchant = create_earning_merchant(client, 50_000, business_name="Kapana & Söhne <b>Corner</b>")
    request_payout(me, 20_000)
    run_all_jobs()
    request_payout(me, 4_000, payrailMsisdn="+264811230004")
    run_all_jobs()
    month = statement.find_statement(merchant.id, statement.get_today().replace(day=1))
    assert month is not None
    payout = statement.draw_statement(month)
    assert payout == statement.draw_statement(month) and payout.startswith(b"%PDF")
    assert [movement.balance_minor for movement in month.movements] == [50_000, 30_000, 26_000]
    totals = [month.sum_amounts(kind) for kind in ("settlement", "payout", "return")]
    assert (
        month.ledger_period.opening.balance_minor + sum(totals) == month.ledger_period.closing.balance_minor == 26_000
    )


def test_statement_names_payouts_briefly_and_charts_only_several_days(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    me, merchant = create_earning_merchant(client, 50_000)
    payout = request_payout(me, 20_000)
    run_all_jobs()
    month = statement.find_statement(merchant.id, statement.get_today().replace(day=1))
    assert month is not None
    tables, charts = [], []
    monkeypatch.setattr(Sheet, "table", lambda _, headings, rows, **__: tables.extend(rows))
    monkeypatch.setattr(Sheet, "figure", lambda _, chart: charts.append(chart))
    statement.draw_statement(month)
    assert tables[-1][2] == f"PO-{payout['id'][-8:].upper()}" and not charts
    earnings, *others = month.ledger_period.movements
    earlier = replace(earnings, posted_at=month.ledger_period.movements[-1].posted_at - timedelta(days=1))
    statement.draw_statement(replace(month, ledger_period=replace(month.ledger_period, movements=[earlier, *others])))
    (chart,) = charts
    assert [value for _, value in chart.points] == [0, 50_000, 30_000, 30_000]


def test_statement_is_mailed_once_per_merchant_and_month(client: Client) -> None:
    (_, earned), (_, idle) = create_earning_merchant(client, 5000), create_earning_merchant(client)
    shift_back(31)
    for _ in range(3):
        execute_sql("UPDATE tick SET due = now() WHERE name = 'payouts.statements'")
        maintenance.enqueue_recurring()
        run_all_jobs()
    month = statement.get_previous_month(statement.get_today())
    (mail,) = [item for item in list_mails_to(earned.email) if "statement" in item["subject"]]
    assert mail["subject"] == f"Your statement for {month:%B %Y}"
    assert not [item for item in list_mails_to(idle.email) if "statement" in item["subject"]]
    assert fetch_scalar("SELECT count(*) FROM payout_statement") == 1
    import_earnings(earned, 100)
    execute_sql("UPDATE outbox SET dedupe_key = NULL")
    execute_sql("UPDATE tick SET due = now() WHERE name = 'payouts.statements'")
    maintenance.enqueue_recurring()
    run_all_jobs()
    assert fetch_scalar("SELECT count(*) FROM outbox WHERE kind = 'payouts.mail_statement'") == 1


def due_statements_during_settlement(client: Client, monkeypatch: pytest.MonkeyPatch) -> tuple[list[str], list[str]]:
    """Who is owed a statement just after a month's end, while a settlement that began before is open; and after it."""
    _, merchant = create_earning_merchant(client, 5000)
    db.session.remove()
    with transaction_engine(db.engine).connect() as settling:
        settling.execute(text("SELECT now()"))
        end = fetch_scalar("SELECT clock_timestamp()")
        monkeypatch.setattr(statement, "get_month_bounds", lambda month: (end - timedelta(days=30), end))
        with transaction():
            during: Any = statement.create_due_statements(date(2026, 10, 1))
            if during:
                return list(during), [merchant.id]
    with transaction():
        return list(during), list(statement.create_due_statements(date(2026, 10, 1)))


def test_no_statement_while_a_settlement_of_the_month_is_open(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    during, after = due_statements_during_settlement(client, monkeypatch)
    assert during == [] and len(after) == 1


@pytest.mark.control
def test_without_the_check_of_transactions_it_would_be_created(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sql, "MONTH_IS_OPEN", "SELECT false AND %(until)s::timestamptz IS NULL")
    during, _ = due_statements_during_settlement(client, monkeypatch)
    assert len(during) == 1


def test_no_statement_before_the_month_ends_by_the_database_clock(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The clock of this program is a minute ahead: what is booked in that minute would be in no statement."""
    _, merchant = create_earning_merchant(client, 5000)
    db.session.remove()
    end = fetch_scalar("SELECT now() + interval '1 minute'")
    monkeypatch.setattr(statement, "get_month_bounds", lambda month: (end - timedelta(days=30), end))
    with transaction():
        assert statement.create_due_statements(date(2026, 10, 1)) == []
    monkeypatch.setattr(
        statement, "get_month_bounds", lambda month: (end - timedelta(days=30), end - timedelta(minutes=1))
    )
    with transaction():
        assert list(statement.create_due_statements(date(2026, 10, 1))) == [merchant.id]


@pytest.mark.parametrize("month", ["0001-01", "9999-12"])
def test_month_at_the_end_of_the_calendar_is_refused(app: Flask, month: str) -> None:
    words = ["payouts", "report", "--merchant", "a@example.com", "--month", month]
    done = app.test_cli_runner().invoke(args=words)
    assert done.exit_code == 2 and "--month must be like 2026-11" in done.output
