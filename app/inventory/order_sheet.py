"""The sheet that goes to a supplier: what is ordered, how much of it, and for which event."""

from typing import Any

from app.accounts.caller import Caller
from app.core.dates import day
from app.core.money import spoken as money
from app.core.pdf import Sheet
from app.inventory import queries
from app.inventory.models import StockOrder, StockOrderLine
from app.inventory.quantities import spoken

WIDTHS = (16, 44, 12, 12, 16, 18)
HEADINGS = ("SKU", "Item", "Unit", "Quantity", "Unit price", "Amount")
UNNAMED = "Supplier not named"


def sheet(caller: Caller, event_id: str, order_id: str) -> bytes:
    """An order as a PDF. Raises NotFound."""
    order, lines, event = queries.order(caller, event_id, order_id)
    return drawn(order, lines, event, by=caller.name, contact=caller.email)


def drawn(order: StockOrder, lines: list[StockOrderLine], event: Any, *, by: str, contact: str) -> bytes:
    """The sheet. A total stands on it only where every price is known."""
    with Sheet(
        title="Order",
        number=order.id[-8:].upper(),
        when=day(order.created_at, event.timezone),
        author=by,
        foot=f"{event.name} · questions to {contact}",
    ) as made:
        made.parties([event.name, by, contact], [order.supplier or UNNAMED], headings=("Ordered by", "Supplier"))
        made.table(HEADINGS, [_row(line) for line in lines], widths=WIDTHS, figures=len(WIDTHS) - 3)
        amounts = [_amount(line) for line in lines]
        if all(amount is not None for amount in amounts):
            made.total("Expected cost", money(sum(amount or 0 for amount in amounts)))
        made.note("Prices are those that we noted last. Please confirm them, with the delivery date.")
    return made.data


def _row(line: StockOrderLine) -> tuple[str, ...]:
    price, amount = line.cost_price, _amount(line)
    return (
        line.sku,
        line.name,
        line.unit or "",
        spoken(line.quantity),
        "" if price is None else money(round(price * 100)),
        "" if amount is None else money(amount),
    )


def _amount(line: StockOrderLine) -> int | None:
    """In cents."""
    return None if line.cost_price is None else round(line.quantity * line.cost_price * 100)
