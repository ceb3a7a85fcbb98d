"""The hours of an event's crew as rows, as CSV and as PDF: what each person has worked on each day."""

import csv
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from io import StringIO

from sqlalchemy import select

from app.accounts.caller import Caller
from app.core.csv_export import BYTE_ORDER_MARK
from app.core.db import db
from app.core.formatting import format_time
from app.core.pdf import Sheet
from app.core.spreadsheet_cells import escape
from app.crew.models import CrewMember, Shift, ShiftBreak
from app.crew.queries import Stall, get_stall
from app.crew.worked_hours import HoursSummary, WorkedShift, calculate_hours
from app.events.event_rows import belongs_to
from app.events.models import Event
from app.merchants.models import MerchantProfile

CSV_HEADER = ("Name", "Role", "Day", "Shifts", "Minutes worked", "Minutes on break")
PDF_HEADINGS = ("Name", "Day", "Shifts", "Worked", "On break")
PDF_WIDTHS = (0.36, 0.24, 0.12, 0.14, 0.14)


@dataclass(frozen=True)
class MemberHours:
    """What one person has worked."""

    id: str
    name: str
    role: str | None
    hours: HoursSummary


@dataclass(frozen=True)
class HoursReport:
    """The hours of everybody who has worked at a stall, in the order of the crew."""

    event_name: str
    business_name: str
    stall: Stall
    members: Sequence[MemberHours]

    @property
    def worked_minutes(self) -> int:
        return sum(member.hours["worked_minutes"] for member in self.members)


def load_hours_report(caller: Caller, event_id: str) -> HoursReport:
    """The hours of the crew at the caller's stall, those of retired people too. Raises NotFound."""
    stall = get_stall(caller.merchant_id, event_id)
    of_stall = (CrewMember.merchant_id == stall.merchant_id, CrewMember.event_id == stall.event_id)
    of_member = belongs_to(Shift.crew_member_id, CrewMember)
    rows = db.session.execute(
        select(CrewMember, Shift)
        .join(Shift, of_member)
        .where(*of_stall)
        .order_by(CrewMember.position, CrewMember.id, Shift.started_at)
    ).all()
    breaks_query = select(ShiftBreak).join(Shift, belongs_to(ShiftBreak.shift_id, Shift)).join(CrewMember, of_member)
    breaks: dict[str, list[ShiftBreak]] = defaultdict(list)
    for shift_break in db.session.scalars(breaks_query.where(*of_stall)):
        breaks[shift_break.shift_id].append(shift_break)
    member_by_id: dict[str, CrewMember] = {}
    shifts: dict[str, list[WorkedShift]] = defaultdict(list)
    for member, shift in rows:
        member_by_id[member.id] = member
        shifts[member.id].append(WorkedShift.from_shift(shift, breaks[shift.id], stall.now))
    event_name = db.session.scalars(select(Event.name).where(Event.id == event_id)).one()
    profile = db.session.get(MerchantProfile, stall.merchant_id)
    return HoursReport(
        event_name,
        profile.business_name if profile else "",
        stall,
        [
            MemberHours(member.id, member.name, member.role, calculate_hours(shifts[member.id], stall.timezone))
            for member in member_by_id.values()
        ],
    )


def build_hours_csv(report: HoursReport) -> bytes:
    """A row for each person and day; days are those of the event's time zone."""
    file = StringIO()
    writer = csv.writer(file, quoting=csv.QUOTE_ALL, lineterminator="\n")
    writer.writerow(CSV_HEADER)
    for member in report.members:
        for day in member.hours["per_day"]:
            texts = (escape(member.name), escape(member.role or ""))
            writer.writerow((*texts, day["date"], day["shifts"], day["worked_minutes"], day["break_minutes"]))
    return BYTE_ORDER_MARK + file.getvalue().encode()


def draw_hours(report: HoursReport) -> bytes:
    """The hours as PDF: each person's days and their sum, then that of all."""
    with Sheet(
        title="Hours of the crew",
        number=report.event_name,
        when=f"As of {format_time(report.stall.now, report.stall.timezone)}",
        author=report.business_name,
        foot=f"{report.business_name} · {report.event_name}",
    ) as sheet:
        sheet.table(PDF_HEADINGS, _build_lines(report), widths=PDF_WIDTHS, figures=3)
        sheet.total("Worked in all", format_minutes(report.worked_minutes))
        sheet.note("Hours and minutes, without breaks. A shift that nobody ended counts for 16 hours.")
    return sheet.data


def format_minutes(minutes: int) -> str:
    """Hours and minutes: `7:05`."""
    return f"{minutes // 60}:{minutes % 60:02d}"


def _build_lines(report: HoursReport) -> list[tuple[str, ...]]:
    lines: list[tuple[str, ...]] = []
    for member in report.members:
        name = f"{member.name}, {member.role}" if member.role else member.name
        days = [
            (
                f"{date.fromisoformat(day['date']):%a %-d %B %Y}",
                str(day["shifts"]),
                format_minutes(day["worked_minutes"]),
                format_minutes(day["break_minutes"]),
            )
            for day in member.hours["per_day"]
        ]
        lines += [(name if position == 0 else "", *day) for position, day in enumerate(days)]
        if len(days) > 1:
            hours = member.hours
            sums = map(format_minutes, (hours["worked_minutes"], hours["break_minutes"]))
            lines.append(("", "Sum", str(hours["shifts"]), *sums))
    return lines
