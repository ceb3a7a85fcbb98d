"""Report PDFs: the main figures, the charts and the rows."""

from collections.abc import Callable, Iterable, Iterator
from datetime import date, datetime
from zoneinfo import ZoneInfo

from app.core.formatting import format_day, format_time
from app.core.pdf import Sheet
from app.core.pdf_rows import Column, LongTable
from app.inventory.formatting import format_cell, format_number
from app.inventory.queries import ReportEvent
from app.inventory.reports import pdf_charts
from app.inventory.reports.definitions import REPORTS, ReportDefinition
from app.inventory.reports.fields import NUMERIC_KINDS, Field
from app.inventory.reports.parameters import ReportParameters
from app.inventory.reports.pdf_charts import ReportJson, ReportRow

EMPTY_REPORT_NOTES = {
    "summary": "There is no stock yet. Items appear here once they are added or imported.",
    "valuation": "There is no stock yet. Items appear here once they are added or imported.",
    "movements": "Nothing moved in these days.",
    "expiry": "Nothing on hand expires in these days.",
    "reorder": "Nothing has run low: every item is above its reorder level, or on order.",
}
PROGRESS_STEPS = 20


def get_report_date(event: ReportEvent, parameters: ReportParameters) -> date:
    """Return the day of the report in the time zone of the event."""
    return parameters.at.astimezone(ZoneInfo(event.timezone)).date()


def draw_report(
    event: ReportEvent,
    parameters: ReportParameters,
    data: ReportJson,
    *,
    on_progress: Callable[[float], None] = lambda share: None,
) -> bytes:
    """Return the PDF; the same stock on the same day gives the same bytes.

    `on_progress` receives the share of the rows that is laid out.
    """
    definition = REPORTS[parameters.type]
    organiser = event.organiser or ""
    with Sheet(
        title=definition.title,
        number=event.name,
        when=format_day(parameters.at, event.timezone),
        author=organiser,
        foot=" · ".join(part for part in (organiser, event.name) if part),
    ) as sheet:
        sheet.note(_build_intro(event, parameters, data))
        pdf_charts.add_charts(sheet, parameters.type, data)
        _add_rows(sheet, definition, data, on_progress)
    return sheet.data


def _build_intro(event: ReportEvent, parameters: ReportParameters, data: ReportJson) -> str:
    event_sentence = f"{event.name}, organised by {event.organiser}." if event.organiser else f"{event.name}."
    last_movement_at = data["bookedUntil"]
    movement_sentence = (
        f"Last movement: {format_time(datetime.fromisoformat(last_movement_at), event.timezone)}."
        if last_movement_at
        else "No movements."
    )
    period_sentence = {
        "movements": f"From {format_day(parameters.since, event.timezone)} to {format_day(parameters.until, event.timezone)}.",
        "expiry": f"Items that have expired or expire within {parameters.within_days} days.",
        "reorder": "Items at or below their reorder level, less what is on order.",
    }.get(parameters.type, "")
    return " ".join(sentence for sentence in (event_sentence, period_sentence, movement_sentence) if sentence)


def _add_rows(
    sheet: Sheet, definition: ReportDefinition, data: ReportJson, on_progress: Callable[[float], None]
) -> None:
    rows = data[definition.rows_key]
    if not rows:
        sheet.note(EMPTY_REPORT_NOTES[definition.type])
        return
    fields = [field for field in definition.fields if field.share]
    omitted_count = data["rowCount"] - len(rows)
    caption = (
        f"The first {format_number(len(rows))} of {format_number(data['rowCount'])}; the CSV has all."
        if omitted_count > 0
        else ""
    )
    title = "By category" if definition.rows_key == "categories" else "Item by item"
    columns = [
        Column(report_field.heading, report_field.share, report_field.kind in NUMERIC_KINDS) for report_field in fields
    ]
    table = LongTable(columns, _format_rows(definition, fields, rows), tick=_limit_progress(on_progress, len(rows)))
    sheet.long_table(title, table, under=caption)


def _format_rows(definition: ReportDefinition, fields: list[Field], rows: Iterable[ReportRow]) -> Iterator[list[str]]:
    is_first = True
    supplier: str | None = None
    for row in rows:
        if definition.type == "reorder" and (is_first or row["supplier"] != supplier):
            is_first, supplier = False, row["supplier"]
            yield [supplier or "Supplier not named"]
        if definition.rows_key == "categories":
            row = {**row, "category": row["category"] or "No category"}
        yield [format_cell(report_field, row[report_field.name]) for report_field in fields]


def _limit_progress(on_progress: Callable[[float], None], row_count: int) -> Callable[[int], None]:
    """Return a callback that reports progress about twenty times, however many pages there are."""
    last_step = 0

    def report_page(rows: int) -> None:
        nonlocal last_step
        step = min(PROGRESS_STEPS - 1, rows * PROGRESS_STEPS // max(1, row_count))
        if step > last_step:
            last_step = step
            on_progress(step / PROGRESS_STEPS)

    return report_page
