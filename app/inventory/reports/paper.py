"""A report on paper: the figures that matter, a chart or two, and the rows. Made to be pinned on a wall."""

from collections.abc import Callable, Iterable, Iterator
from datetime import date, datetime
from typing import Any
from zoneinfo import ZoneInfo

from app.core.dates import day, moment
from app.core.pdf import Sheet
from app.core.pdf_rows import Column, LongTable
from app.inventory.reports import drawings
from app.inventory.reports.asking import Asked
from app.inventory.reports.fields import FIGURES, Field
from app.inventory.reports.kinds import REPORTS, Report
from app.inventory.reports.words import figure, said

Found = dict[str, Any]
EMPTY = {
    "summary": "There is no stock yet. Items appear here once they are added or imported.",
    "valuation": "There is no stock yet. Items appear here once they are added or imported.",
    "movements": "Nothing moved in these days.",
    "expiry": "Nothing on hand expires in these days.",
    "reorder": "Nothing has run low: every item is above its reorder level, or on order.",
}
TICKS = 20


def today(event: Any, asked: Asked) -> date:
    """The day of the report where the event is."""
    return asked.at.astimezone(ZoneInfo(event.timezone)).date()


def drawn(event: Any, asked: Asked, found: Found, *, tick: Callable[[float], None] = lambda share: None) -> bytes:
    """The PDF; the same bytes for the same stock on the same day. `tick` is told what share of the rows is laid out."""
    report = REPORTS[asked.type]
    organiser = event.organiser or ""
    with Sheet(
        title=report.title,
        number=event.name,
        when=day(asked.at, event.timezone),
        author=organiser,
        foot=" · ".join(item for item in (organiser, event.name) if item),
    ) as sheet:
        sheet.note(_about(event, asked, found))
        drawings.add(sheet, asked.type, found)
        _add_rows(sheet, report, found, tick)
    return sheet.data


def _about(event: Any, asked: Asked, found: Found) -> str:
    whose = f"{event.name}, organised by {event.organiser}." if event.organiser else f"{event.name}."
    booked = found["bookedUntil"]
    until = f"Last movement: {moment(datetime.fromisoformat(booked), event.timezone)}." if booked else "Nothing booked."
    days = {
        "movements": f"From {day(asked.since, event.timezone)} to {day(asked.until, event.timezone)}.",
        "expiry": f"What is past its date, and what expires within {asked.within_days} days.",
        "reorder": "Items at or below their reorder level, less what is on order.",
    }.get(asked.type, "")
    return " ".join(item for item in (whose, days, until) if item)


def _add_rows(sheet: Sheet, report: Report, found: Found, tick: Callable[[float], None]) -> None:
    rows = found[report.rows]
    if not rows:
        sheet.note(EMPTY[report.type])
        return
    shown = [field for field in report.fields if field.share]
    more = found["rowCount"] - len(rows)
    under = f"The first {figure(len(rows))} of {figure(found['rowCount'])}; the CSV has all." if more > 0 else ""
    title = "By category" if report.rows == "categories" else "Item by item"
    columns = [Column(item.heading, item.share, item.kind in FIGURES) for item in shown]
    table = LongTable(columns, _cells(report, shown, rows), tick=_rarely(tick, len(rows)))
    sheet.long_table(title, table, under=under)


def _cells(report: Report, shown: list[Field], rows: Iterable[Found]) -> Iterator[list[str]]:
    supplier: Any = ...
    for row in rows:
        if report.type == "reorder" and row["supplier"] != supplier:
            supplier = row["supplier"]
            yield [supplier or "Supplier not named"]
        if report.rows == "categories":
            row = {**row, "category": row["category"] or "No category"}
        yield [said(item, row[item.name]) for item in shown]


def _rarely(tick: Callable[[float], None], count: int) -> Callable[[int], None]:
    """Tells of progress some twenty times, however many pages there are."""
    told = 0

    def page(rows: int) -> None:
        nonlocal told
        step = min(TICKS - 1, rows * TICKS // max(1, count))
        if step > told:
            told = step
            tick(step / TICKS)

    return page
