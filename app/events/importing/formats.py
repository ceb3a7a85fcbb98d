"""The known layouts of files: own columns, order positions of pretix, attendees of Eventbrite.

A layout is recognised by its columns. Names of columns are compared without case, blanks and punctuation.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from app.core.spreadsheet import NotASheet, column_key

Cells = Mapping[str, str]
SOLD, CANCELLED, REFUNDED = "sold", "cancelled", "refunded"


@dataclass(frozen=True)
class Layout:
    """A layout: the columns of every field, by preference, and the meaning of its status words."""

    name: str
    required_columns: frozenset[str]
    columns: Mapping[str, tuple[str, ...]]
    statuses: Mapping[str, str]
    reference: Callable[[Cells], str]
    sold_at: Callable[[Cells], str]
    default_status: str | None = None

    def find_column(self, field: str, cells: Cells) -> str | None:
        """The first column of the field that is not empty, else its first column in the file."""
        present = [name for name in self.columns[field] if name in cells]
        return next((name for name in present if cells[name]), present[0] if present else None)


OWN = Layout(
    name="own columns",
    required_columns=frozenset({"reference", "tickettype"}),
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
    required_columns=frozenset({"ordercode", "positionid", "product", "status"}),
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
    required_columns=frozenset({"attendee#", "tickettype", "attendeestatus"}),
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


def find_layout(header: list[str]) -> Layout:
    """The layout with these columns. Raises NotASheet, which names the required columns."""
    columns = {column_key(name) for name in header}
    for layout in LAYOUTS:
        if layout.required_columns <= columns:
            return layout
    raise NotASheet(
        "The columns are not known. Own files need reference and ticketType; exports of pretix (order positions) and "
        "Eventbrite (attendees) are recognised by their columns."
    )


def attendee_name(layout: Layout, cells: Cells) -> str:
    """The name of the ticket's holder; empty when the file has none."""
    if layout is EVENTBRITE:
        return f"{cells.get('firstname', '')} {cells.get('lastname', '')}".strip()
    column = layout.find_column("name", cells)
    return cells[column] if column else ""
