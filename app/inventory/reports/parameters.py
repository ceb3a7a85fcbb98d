"""The parameters of a report, and its columns for JSON, CSV and the table of the PDF."""

from dataclasses import dataclass
from datetime import datetime, time, timedelta
from zoneinfo import ZoneInfo

from app.core.clock import rfc3339
from app.core.errors import ValidationFailed
from app.core.spreadsheet_cells import escape_sql
from app.events.timezones import to_instant
from app.inventory.item_fields import JsonObject
from app.inventory.queries import ReportEvent, StockEvent

DEFAULT_DAYS, MAX_DAYS = 30, 366
MAX_WEEKLY_DAYS = 120


@dataclass(frozen=True)
class ReportParameters:
    """The parameters of a report with fixed times, so that a repeated run gives the same report."""

    type: str
    at: datetime
    since: datetime
    until: datetime
    within_days: int

    def to_dict(self) -> JsonObject:
        """Return the parameters for the row of a background job."""
        return {
            "type": self.type,
            "at": rfc3339(self.at),
            "since": rfc3339(self.since),
            "until": rfc3339(self.until),
            "within_days": self.within_days,
        }

    def is_same_report(self, other: "ReportParameters") -> bool:
        """Return whether both give the same report. A period without a set end always ends at the time of the report."""
        return self._comparison_key() == other._comparison_key()

    def _comparison_key(self) -> tuple[object, ...]:
        return self.type, self.since, self.until if self.until != self.at else None, self.within_days

    @classmethod
    def from_dict(cls, data: JsonObject) -> "ReportParameters":
        """Return the parameters that `to_dict` gave."""
        times = {name: datetime.fromisoformat(str(data[name])) for name in ("at", "since", "until")}
        return cls(type=str(data["type"]), within_days=int(str(data["within_days"])), **times)


def build_report_parameters(
    zone: str,
    *,
    type: str,
    since: datetime | None,
    until: datetime | None,
    within_days: int,
    now: datetime,
) -> ReportParameters:
    """Return the parameters with their period: by default the thirty days until `until`, or until now.

    Raises ValidationFailed when the period ends before it starts or is too long.
    """
    end = to_instant(until, zone) if until else now
    first_day = end.astimezone(ZoneInfo(zone)).date() - timedelta(days=DEFAULT_DAYS - 1)
    start = to_instant(since or datetime.combine(first_day, time()), zone)
    if start > end:
        raise ValidationFailed.of("to", "too_small", "Must not be before from.")
    if end - start > timedelta(days=MAX_DAYS + 1):
        raise ValidationFailed.of("from", "too_large", f"Ask for at most {MAX_DAYS} days.")
    return ReportParameters(type, now, start, end, within_days)


def build_sql_params(event: StockEvent | ReportEvent, report_parameters: ReportParameters) -> JsonObject:
    """Return the named parameters of the report statements."""
    zone = ZoneInfo(event.timezone)
    return {
        "event": event.id,
        "zone": event.timezone,
        "today": report_parameters.at.astimezone(zone).date(),
        "since": report_parameters.since,
        "until": report_parameters.until,
        "first": report_parameters.since.astimezone(zone).date(),
        "last": report_parameters.until.astimezone(zone).date(),
        "within": report_parameters.within_days,
        "step": 7 if report_parameters.within_days <= MAX_WEEKLY_DAYS else 30,
    }


TEXT, QUANTITY, PRICE, MINOR, DAY, COUNT = "text", "quantity", "price", "minor", "day", "count"
NUMERIC_KINDS = (QUANTITY, PRICE, MINOR, COUNT)


@dataclass(frozen=True)
class Field:
    """A column: its name in JSON and CSV, its SQL expression and its kind.

    `share` is its width in the PDF; a column without it is left out. With `hides_zero` the PDF has no zeros.
    """

    name: str
    sql: str
    kind: str = TEXT
    heading: str = ""
    share: float = 0
    hides_zero: bool = False

    @property
    def select_sql(self) -> str:
        """The expression with its alias, without trailing zeros."""
        value = f"trim_scale({self.sql})" if self.kind in (QUANTITY, PRICE) else self.sql
        return f'{value} AS "{self.name}"'

    @property
    def csv_sql(self) -> str:
        """The expression for CSV, with formulas escaped."""
        return escape_sql(f'"{self.name}"') if self.kind == TEXT else f'"{self.name}"'


def value_sql(quantity: str, price: str = "i.cost_price") -> str:
    """Return the value of a quantity in cents, rounded half up for each row, so that columns add up."""
    return f"round({quantity} * {price} * 100)"


NAME = Field("name", "i.name", heading="Item", share=40)
SKU = Field("sku", "i.sku", heading="Item number", share=20)
UNIT = Field("unit", "i.unit", heading="Unit", share=13)
ON_HAND = Field("onHand", "i.on_hand", QUANTITY, "On hand", 15)
COST_PRICE = Field("costPrice", "i.cost_price", PRICE)
COST_VALUE = Field("costValueMinor", value_sql("i.on_hand"), MINOR, "Value at cost", 24)
SALE_VALUE = Field("saleValueMinor", value_sql("i.on_hand", "i.sell_price"), MINOR, "At sale price", 24)
