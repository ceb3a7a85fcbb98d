"""The tables we know: our own columns, pretix' order positions, Eventbrite's attendees.

A layout is recognised by its columns. Names count without case, blanks and punctuation.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from app.core.spreadsheet import NotASheet, column_key

Cells = Mapping[str, str]
SOLD, CANCELLED, REFUNDED = "sold", "cancelled", "refunded"


@dataclass(frozen=True)
class Layout:
    """Where a layout has what: for every value, the columns to look at in turn; what its status words mean."""

    name: str
    marks: frozenset[str]
    columns: Mapping[str, tuple[str, ...]]
    statuses: Mapping[str, str]
    reference: Callable[[Cells], str]
    sold_at: Callable[[Cells], str]
    default_status: str | None = None

    def column_of(self, value: str, cells: Cells) -> str | None:
        """The first column for `value` that has something in it, else the first that is there."""
        present = [name for name in self.columns[value] if name in cells]
        return next((name for name in present if cells[name]), present[0] if present else None)


OWN = Layout(
    name="own columns",
    marks=frozenset({"reference", "tickettype"}),
    columns={
        "reference": ("reference",),
        "ticket_type": ("tickettype",),
        "name": ("name",),
        "email": ("email",),
        "price_minor": ("priceminor",),
        "price": ("price",),
        "sold_at": ("soldat",),
        "status": ("status",),
        "currency": ("currency",),
    },
    statuses={"sold": SOLD, "cancelled": CANCELLED, "refunded": REFUNDED},
    reference=lambda cells: cells["reference"],
    sold_at=lambda cells: cells.get("soldat", ""),
    default_status=SOLD,
)
PRETIX = Layout(
    name="pretix order positions",
    marks=frozenset({"ordercode", "positionid", "product", "status"}),
    columns={
        "reference": ("ordercode",),
        "ticket_type": ("product",),
        "name": ("attendeename", "invoiceaddressname"),
        "email": ("attendeeemail", "email"),
        "price_minor": (),
        "price": ("price",),
        "sold_at": ("orderdate",),
        "status": ("status",),
        "currency": ("currency",),
    },
    statuses={
        "paid": SOLD,
        "p": SOLD,
        "pending": CANCELLED,
        "n": CANCELLED,
        "expired": CANCELLED,
        "e": CANCELLED,
        "canceled": CANCELLED,
        "cancelled": CANCELLED,
        "c": CANCELLED,
        "refunded": REFUNDED,
    },
    reference=lambda cells: f"{cells['ordercode']}-{cells['positionid']}" if cells["ordercode"] else "",
    sold_at=lambda cells: f"{cells.get('orderdate', '')} {cells.get('ordertime', '')}".strip(),
)
EVENTBRITE = Layout(
    name="Eventbrite attendees",
    marks=frozenset({"attendee#", "tickettype", "attendeestatus"}),
    columns={
        "reference": ("attendee#",),
        "ticket_type": ("tickettype",),
        "name": ("firstname",),
        "email": ("email",),
        "price_minor": (),
        "price": ("totalpaid",),
        "sold_at": ("orderdate",),
        "status": ("attendeestatus",),
        "currency": ("currency",),
    },
    statuses={
        "attending": SOLD,
        "checked in": SOLD,
        "refunded": REFUNDED,
        "not attending": CANCELLED,
        "cancelled": CANCELLED,
        "canceled": CANCELLED,
    },
    reference=lambda cells: cells["attendee#"],
    sold_at=lambda cells: cells.get("orderdate", ""),
)
LAYOUTS = (PRETIX, EVENTBRITE, OWN)


def layout_of(header: list[str]) -> Layout:
    """The layout that has these columns. Raises NotASheet, naming the columns that are needed."""
    names = {column_key(item) for item in header}
    for layout in LAYOUTS:
        if layout.marks <= names:
            return layout
    raise NotASheet(
        "The columns are not known. Own files need reference and ticketType; exports of pretix (order positions) and "
        "Eventbrite (attendees) are recognised by theirs."
    )


def full_name(layout: Layout, cells: Cells) -> str:
    """Whose ticket it is."""
    if layout is EVENTBRITE:
        return f"{cells.get('firstname', '')} {cells.get('lastname', '')}".strip()
    column = layout.column_of("name", cells)
    return cells[column] if column else ""
