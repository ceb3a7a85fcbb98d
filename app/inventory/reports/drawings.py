"""Which figures and charts stand on which report."""

from collections.abc import Callable
from typing import Any

from app.core.bars import bars, columns, differences, lines
from app.core.money import spoken as money
from app.core.pdf import Sheet
from app.inventory.reports.words import figure, short_day

Found = dict[str, Any]
FEW_BARS = 6


def add(sheet: Sheet, kind: str, found: Found) -> None:
    """Adds the figures and charts of a report of that kind."""
    _DRAWN[kind](sheet, found)


def _summary(sheet: Sheet, found: Found) -> None:
    totals = found["totals"]
    sheet.figures(
        [
            ("items", figure(totals["items"])),
            ("low", figure(totals["lowStock"])),
            ("past their date", figure(totals["expired"])),
            ("value at cost", money(int(totals["costValueMinor"]))),
        ]
    )
    _unpriced(sheet, totals)
    _value_bars(sheet, "Value at cost by category", found["categories"], "category", totals["costValueMinor"], FEW_BARS)
    _value_bars(sheet, "Value at cost by supplier", found["suppliers"], "name", totals["costValueMinor"], FEW_BARS)
    _days(sheet, found["days"])
    _periods(sheet, found)


def _valuation(sheet: Sheet, found: Found) -> None:
    totals = found["totals"]
    sheet.figures(
        [
            ("items", figure(totals["items"])),
            ("value at cost", money(int(totals["costValueMinor"]))),
            ("at sale price", money(int(totals["saleValueMinor"]))),
        ]
    )
    _unpriced(sheet, totals)
    if totals["damagedValueMinor"]:
        sheet.note(f"Of it {money(int(totals['damagedValueMinor']))} at cost is damaged.")
    _value_bars(sheet, "Value at cost by category", found["categories"], "name", totals["costValueMinor"])
    _value_bars(sheet, "Value at cost by supplier", found["suppliers"], "name", totals["costValueMinor"])


def _movements(sheet: Sheet, found: Found) -> None:
    totals, days = found["totals"], found["days"]
    sheet.figures(
        [
            ("movements", figure(totals["movements"])),
            ("items moved", figure(totals["items"])),
            ("came in, at cost", money(sum(int(day["valueInMinor"]) for day in days))),
            ("went out, at cost", money(sum(int(day["valueOutMinor"]) for day in days))),
        ]
    )
    _days(sheet, days)
    if found["reasons"]:
        why = [
            (reason["reason"].capitalize(), reason["movements"], figure(reason["movements"]))
            for reason in found["reasons"]
        ]
        sheet.chart("Why stock moved", bars(why), under="Number of movements")
    _variances(sheet, found["variances"])


def _expiry(sheet: Sheet, found: Found) -> None:
    totals = found["totals"]
    sheet.figures(
        [
            ("items", figure(totals["items"])),
            ("past their date", figure(totals["expired"])),
            ("within a week", figure(totals["withinAWeek"])),
            ("value at cost", money(int(totals["costValueMinor"]))),
        ]
    )
    _unpriced(sheet, totals)
    _periods(sheet, found)


def _reorder(sheet: Sheet, found: Found) -> None:
    totals = found["totals"]
    sheet.figures(
        [
            ("items to order", figure(totals["items"])),
            ("suppliers", figure(totals["suppliers"])),
            ("expected cost", money(int(totals["costValueMinor"]))),
        ]
    )
    _unpriced(sheet, totals)
    _value_bars(sheet, "Expected cost by supplier", found["suppliers"], "name", totals["costValueMinor"])


def _unpriced(sheet: Sheet, totals: Found) -> None:
    """A sum that leaves something out says so."""
    if totals["withoutCostPrice"]:
        many = totals["withoutCostPrice"] != 1
        count = figure(totals["withoutCostPrice"])
        sheet.note(
            f"{count} item{'s have' if many else ' has'} no cost price and {'count' if many else 'counts'} as "
            "nothing in the value."
        )


def _value_bars(sheet: Sheet, title: str, groups: list[Found], name: str, total: int, most: int = 8) -> None:
    """The most valuable groups, and all others together."""
    values = [(group[name] or "Not named", int(group["costValueMinor"])) for group in groups if group["costValueMinor"]]
    kept = values[:most]
    others = int(total) - sum(value for _, value in kept)
    shown = [*kept, ("All others", others)] if others > 0 else kept
    if shown:
        sheet.chart(title, bars([(label, value, money(value)) for label, value in shown]))


def _days(sheet: Sheet, days: list[Found]) -> None:
    if not any(day["movements"] for day in days):
        return
    came, went = ([day[name] for day in days] for name in ("quantityIn", "quantityOut"))
    most = figure(max(*came, *went))
    sheet.chart(
        "In and out, day by day",
        lines([short_day(day["day"]) for day in days], [("in", came), ("out", went)], top=f"{most} a day"),
        under="Quantities as they were booked, of all units together",
    )


def _periods(sheet: Sheet, found: Found) -> None:
    totals, periods = found["totals"], found["periods"]
    expired = int(totals["expired"])
    if not expired and not any(period["items"] for period in periods):
        return
    values = [("expired", expired, figure(expired))]
    values += [(short_day(period["from"]), period["items"], figure(period["items"])) for period in periods]
    sheet.chart(
        "What expires when",
        columns(values, first_stands_out=True),
        under="Items on hand; each bar holds the days from its own to the next",
    )


def _variances(sheet: Sheet, variances: list[Found]) -> None:
    if not variances:
        return
    values = [
        (
            variance["name"],
            variance["valueMinor"] if variance["valueMinor"] is not None else variance["variance"],
            _missing(variance),
        )
        for variance in variances
    ]
    sheet.chart(
        "What counts found",
        differences(values),
        under="Left: less than the book said. Right: more. At cost price where known",
    )


def _missing(each: Found) -> str:
    quantity = " ".join([figure(each["variance"]), each["unit"] or ""]).strip()
    return quantity if each["valueMinor"] is None else f"{quantity} · {money(int(each['valueMinor']))}"


_DRAWN: dict[str, Callable[[Sheet, Found], None]] = {
    "summary": _summary,
    "valuation": _valuation,
    "movements": _movements,
    "expiry": _expiry,
    "reorder": _reorder,
}
