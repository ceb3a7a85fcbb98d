"""The figures and charts of each type of report."""

from collections.abc import Callable
from typing import Any

from app.core.charts import draw_bars, draw_columns, draw_differences, draw_lines
from app.core.formatting import format_money
from app.core.pdf import Sheet
from app.inventory.formatting import format_number, format_short_day

ReportRow = dict[str, Any]
"""A row or a group of the JSON of a report: texts, integers, Decimals and None."""
ReportJson = dict[str, Any]
"""The JSON of a report. Its keys depend on the type of the report, see `definitions`."""
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
            ("value at cost", format_money(int(totals["costValueMinor"]))),
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
            ("value at cost", format_money(int(totals["costValueMinor"]))),
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
            ("value at cost", format_money(int(totals["costValueMinor"]))),
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
            ("expected cost", format_money(int(totals["costValueMinor"]))),
        ]
    )
    _add_unpriced_note(sheet, totals)
    _add_value_chart(sheet, "Expected cost by supplier", report["suppliers"], "name", totals["costValueMinor"])


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
