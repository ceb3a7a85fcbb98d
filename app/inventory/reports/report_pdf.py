"""Report PDFs: the main figures, the charts of each type, and the rows."""

from collections.abc import Callable, Iterable, Iterator
from datetime import date, datetime
from typing import Any
from zoneinfo import ZoneInfo

from app.core.charts import draw_bars, draw_columns, draw_differences, draw_lines
from app.core.formatting import format_day, format_money, format_number, format_time
from app.core.pdf import Sheet
from app.core.pdf_rows import Column, LongTable
from app.inventory.formatting import EMPTY_CELL, format_cell, format_short_day
from app.inventory.queries import ReportEvent
from app.inventory.reports.definitions import REPORTS, ReportDefinition
from app.inventory.reports.parameters import NUMERIC_KINDS, Field, ReportParameters

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


ReportJson = dict[str, Any]
"""The JSON of a report. Its keys depend on the type of the report, see `definitions`."""


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
        add_charts(sheet, parameters.type, data)
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


ReportRow = dict[str, Any]
"""A row or a group of the JSON of a report: texts, integers, Decimals and None."""


def _format_rows(definition: ReportDefinition, fields: list[Field], rows: Iterable[ReportRow]) -> Iterator[list[str]]:
    is_first = True
    supplier: str | None = None
    for row in rows:
        if definition.type == "reorder" and (is_first or row["supplier"] != supplier):
            is_first, supplier = False, row["supplier"]
            yield [supplier or "Supplier not named"]
        if definition.rows_key == "categories":
            row = {**row, **_clear_unpriced_values(row), "category": row["category"] or "No category"}
        yield [format_cell(report_field, row[report_field.name]) for report_field in fields]


def _clear_unpriced_values(category: ReportRow) -> ReportRow:
    """Return the values of a category that no price of its items gives, as None."""
    unpriced_counts = (("costValueMinor", "withoutCostPrice"), ("saleValueMinor", "withoutSalePrice"))
    return {value: None for value, count in unpriced_counts if category[count] == category["items"]}


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


SUMMARY_BARS = 6


def add_charts(sheet: Sheet, kind: str, report: ReportJson) -> None:
    """Add the figures and charts of a report of this type to the PDF."""
    _CHARTS_BY_REPORT[kind](sheet, report)


def _add_summary(sheet: Sheet, report: ReportJson) -> None:
    totals = report["totals"]
    sheet.figures(
        [
            ("items", format_number(totals["items"])),
            ("low", format_number(totals["lowStock"])),
            ("past their date", format_number(totals["expired"])),
            ("value at cost", _format_cost_value(totals)),
        ]
    )
    _add_unpriced_note(sheet, totals)
    _add_value_chart(
        sheet, "Value at cost by category", report["categories"], "category", totals["costValueMinor"], SUMMARY_BARS
    )
    _add_value_chart(
        sheet, "Value at cost by supplier", report["suppliers"], "name", totals["costValueMinor"], SUMMARY_BARS
    )
    _add_daily_chart(sheet, report["days"])
    _add_expiry_chart(sheet, report)


def _add_valuation(sheet: Sheet, report: ReportJson) -> None:
    totals = report["totals"]
    sheet.figures(
        [
            ("items", format_number(totals["items"])),
            ("value at cost", _format_cost_value(totals)),
            ("at sale price", format_money(int(totals["saleValueMinor"]))),
        ]
    )
    _add_unpriced_note(sheet, totals)
    if totals["damagedValueMinor"]:
        sheet.note(f"Of it {format_money(int(totals['damagedValueMinor']))} at cost is damaged.")
    _add_value_chart(sheet, "Value at cost by category", report["categories"], "name", totals["costValueMinor"])
    _add_value_chart(sheet, "Value at cost by supplier", report["suppliers"], "name", totals["costValueMinor"])


def _add_movements(sheet: Sheet, report: ReportJson) -> None:
    totals, days = report["totals"], report["days"]
    sheet.figures(
        [
            ("movements", format_number(totals["movements"])),
            ("items moved", format_number(totals["items"])),
            ("came in, at cost", format_money(sum(int(day["valueInMinor"]) for day in days))),
            ("went out, at cost", format_money(sum(int(day["valueOutMinor"]) for day in days))),
        ]
    )
    _add_daily_chart(sheet, days)
    if report["reasons"]:
        reason_bars = [
            (reason["reason"].capitalize(), reason["movements"], format_number(reason["movements"]))
            for reason in report["reasons"]
        ]
        sheet.chart("Why stock moved", draw_bars(reason_bars), under="Number of movements")
    _add_variance_chart(sheet, report["variances"])


def _add_expiry(sheet: Sheet, report: ReportJson) -> None:
    totals = report["totals"]
    sheet.figures(
        [
            ("items", format_number(totals["items"])),
            ("past their date", format_number(totals["expired"])),
            ("within a week", format_number(totals["withinAWeek"])),
            ("value at cost", _format_cost_value(totals)),
        ]
    )
    _add_unpriced_note(sheet, totals)
    _add_expiry_chart(sheet, report)


def _add_reorder(sheet: Sheet, report: ReportJson) -> None:
    totals = report["totals"]
    sheet.figures(
        [
            ("items to order", format_number(totals["items"])),
            ("suppliers", format_number(totals["suppliers"])),
            ("expected cost", _format_cost_value(totals)),
        ]
    )
    _add_unpriced_note(sheet, totals)
    _add_value_chart(sheet, "Expected cost by supplier", report["suppliers"], "name", totals["costValueMinor"])


def _format_cost_value(totals: ReportRow) -> str:
    """Return the value at cost; a dash if no item has a cost price."""
    has_no_price = totals["items"] and totals["withoutCostPrice"] == totals["items"]
    return EMPTY_CELL if has_no_price else format_money(int(totals["costValueMinor"]))


def _add_unpriced_note(sheet: Sheet, totals: ReportRow) -> None:
    """Note the items without a cost price, which the value leaves out."""
    if totals["withoutCostPrice"]:
        is_plural = totals["withoutCostPrice"] != 1
        count = format_number(totals["withoutCostPrice"])
        sheet.note(
            f"{count} item{'s have' if is_plural else ' has'} no cost price and {'count' if is_plural else 'counts'} as "
            "nothing in the value."
        )


def _add_value_chart(
    sheet: Sheet, title: str, groups: list[ReportRow], name_key: str, total: int, max_bars: int = 8
) -> None:
    """Add a chart of the groups with the highest value, and of all others together."""
    values = [
        (group[name_key] or "Not named", int(group["costValueMinor"])) for group in groups if group["costValueMinor"]
    ]
    largest = values[:max_bars]
    remaining_value = int(total) - sum(value for _, value in largest)
    chart_values = [*largest, ("All others", remaining_value)] if remaining_value > 0 else largest
    if chart_values:
        sheet.chart(title, draw_bars([(label, value, format_money(value)) for label, value in chart_values]))


def _add_daily_chart(sheet: Sheet, days: list[ReportRow]) -> None:
    if not any(day["movements"] for day in days):
        return
    quantities_in, quantities_out = ([day[name] for day in days] for name in ("quantityIn", "quantityOut"))
    maximum = format_number(max(*quantities_in, *quantities_out))
    sheet.chart(
        "In and out, day by day",
        draw_lines(
            [format_short_day(day["day"]) for day in days],
            [("in", quantities_in), ("out", quantities_out)],
            top=f"{maximum} a day",
        ),
        under="Recorded quantities, all units together",
    )


def _add_expiry_chart(sheet: Sheet, report: ReportJson) -> None:
    totals, periods = report["totals"], report["periods"]
    expired = int(totals["expired"])
    if not expired and not any(period["items"] for period in periods):
        return
    values = [("expired", expired, format_number(expired))]
    values += [
        (format_short_day(period["from"]), period["items"], format_number(period["items"])) for period in periods
    ]
    sheet.chart(
        "What expires when",
        draw_columns(values, first_stands_out=True),
        under="Items on hand; each bar holds the days from its own to the next",
    )


def _add_variance_chart(sheet: Sheet, variances: list[ReportRow]) -> None:
    if not variances:
        return
    values = [
        (
            variance["name"],
            variance["valueMinor"] if variance["valueMinor"] is not None else variance["variance"],
            _format_variance(variance),
        )
        for variance in variances
    ]
    sheet.chart(
        "What counts found",
        draw_differences(values),
        under="Left: less than expected. Right: more. At cost price where known",
    )


def _format_variance(variance: ReportRow) -> str:
    quantity = " ".join([format_number(variance["variance"]), variance["unit"] or ""]).strip()
    return quantity if variance["valueMinor"] is None else f"{quantity} · {format_money(int(variance['valueMinor']))}"


_CHARTS_BY_REPORT: dict[str, Callable[[Sheet, ReportJson], None]] = {
    "summary": _add_summary,
    "valuation": _add_valuation,
    "movements": _add_movements,
    "expiry": _add_expiry,
    "reorder": _add_reorder,
}
