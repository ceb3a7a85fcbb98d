"""The hours of a crew as CSV and PDF."""

import csv
from datetime import UTC, datetime
from io import StringIO

from sqlalchemy import text

from app.core.transaction import transaction
from tests.factories.crew import create_stall, post_shift, replace_crew, start_shift
from tests.http import Client, data
from tests.pdf_text import NEEDS_PDFTOTEXT, read_pdf


def create_worked_stall(client: Client) -> tuple[Client, str]:
    """A stall at which Selma has worked over midnight with a break, and =Jonas has worked and left."""
    me, path = create_stall(client)
    selma, jonas, _ = replace_crew(
        me, path, {"name": "Selma", "role": "till"}, {"name": "=Jonas"}, {"name": "Nobody yet"}
    )
    for member in (selma, jonas):
        start_shift(me, path, member["shiftCode"])
    data(post_shift(me, path, "checkout", status="on_break", crewMemberId=selma["id"]))
    data(post_shift(me, path, "checkout", status="checked_out"))
    with transaction() as session:
        for statement in (
            "UPDATE shift SET started_at = :start, ended_at = :end, changed_at = :end",
            "UPDATE shift_break SET started_at = :start, ended_at = :start + interval '30 minutes'",
        ):
            values = {"start": datetime(2026, 11, 20, 20, tzinfo=UTC), "end": datetime(2026, 11, 21, 0, 5, tzinfo=UTC)}
            session.execute(text(statement), values)
    replace_crew(me, path, {"id": selma["id"], "name": "Selma", "role": "till"})
    return me, path


def test_csv_has_a_row_for_each_person_and_day(client: Client) -> None:
    me, path = create_worked_stall(client)
    response = me.get(f"{path}/hours.csv")
    assert response.status_code == 200 and response.data.startswith(b"\xef\xbb\xbf")
    rows = list(csv.reader(StringIO(response.data.decode("utf-8-sig"))))
    assert rows == [
        ["Name", "Role", "Day", "Shifts", "Minutes worked", "Minutes on break"],
        ["Selma", "till", "2026-11-20", "1", "90", "30"],
        ["Selma", "till", "2026-11-21", "0", "125", "0"],
        ["'=Jonas", "", "2026-11-20", "1", "120", "0"],
        ["'=Jonas", "", "2026-11-21", "0", "125", "0"],
    ]


@NEEDS_PDFTOTEXT
def test_pdf_has_the_days_and_the_sums(client: Client) -> None:
    me, path = create_worked_stall(client)
    response = me.get(f"{path}/hours.pdf")
    assert response.content_type == "application/pdf"
    content = read_pdf(response.data)
    for expected in ("Selma, till", "=Jonas", "Fri 20 November 2026", "1:30", "2:05", "3:35", "7:40"):
        assert expected in content


def test_stall_without_hours_gets_empty_files(client: Client) -> None:
    me, path = create_stall(client)
    assert me.get(f"{path}/hours.csv").data.count(b"\n") == 1
    assert me.get(f"{path}/hours.pdf").status_code == 200
