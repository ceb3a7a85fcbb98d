"""The PDF of a purchase order for the supplier."""

from app.accounts.caller import Caller
from app.audit.actions import Action
from app.audit.log import record_export
from app.core.formatting import format_day, format_money
from app.core.languages import SOURCE_LANGUAGE, use_language
from app.core.pdf import Sheet
from app.inventory import queries
from app.inventory.formatting import EMPTY_CELL, format_item, format_quantity
from app.inventory.models import StockOrder, StockOrderLine
from app.inventory.order_states import CANCELLED
from app.inventory.purchase_order_queries import format_order_number, get_order
from app.inventory.queries import Buyer, StockEvent

COLUMN_WIDTHS = (60, 12, 12, 16, 18)
HEADINGS = ("Item", "Unit", "Quantity", "Unit price", "Amount")
NO_SUPPLIER = "Supplier not named"


def get_order_pdf(caller: Caller, event_id: str, order_id: str) -> bytes:
    """Return a purchase order as a PDF, in English. Raises NotFound."""
    order, lines, event = get_order(caller, event_id, order_id)
    record_export(Action.PURCHASE_ORDER_EXPORTED, event_id=event_id, subject=order_id)
    buyer = queries.load_buyer(event_id)
    with use_language(SOURCE_LANGUAGE):
        return draw_order(order, lines, event, buyer)


def draw_order(order: StockOrder, lines: list[StockOrderLine], event: StockEvent, buyer: Buyer) -> bytes:
    """Return the PDF. It has a total only when every price is known."""
    with Sheet(
        title="Order",
        number=format_order_number(order.id),
        when=format_day(order.created_at, event.timezone),
        author=buyer.name,
        foot=f"{event.name} · questions to {buyer.contact}",
    ) as sheet:
        sheet.parties(
            [buyer.name, *buyer.address.splitlines(), buyer.contact],
            [order.supplier or NO_SUPPLIER],
            headings=("Ordered by", "Supplier"),
        )
        sheet.facts([("For", event.name), ("Deliver to", buyer.place)])
        sheet.table(
            HEADINGS, [_format_line(line) for line in lines], widths=COLUMN_WIDTHS, figures=len(COLUMN_WIDTHS) - 3
        )
        amounts = [_calculate_amount(line) for line in lines]
        if all(amount is not None for amount in amounts):
            sheet.total("Expected cost", format_money(sum(amount or 0 for amount in amounts)))
        if order.status == CANCELLED:
            sheet.note("This order is cancelled.")
        sheet.note("Prices are those that we noted last. Please confirm them, with the delivery date.")
    return sheet.data


def _format_line(line: StockOrderLine) -> tuple[str, ...]:
    price, amount = line.cost_price, _calculate_amount(line)
    return (
        format_item(line.name, line.sku),
        line.unit or "",
        format_quantity(line.quantity),
        EMPTY_CELL if price is None else format_money(round(price * 100)),
        EMPTY_CELL if amount is None else format_money(amount),
    )


def _calculate_amount(line: StockOrderLine) -> int | None:
    """Return the amount of a line in cents; None without a price."""
    return None if line.cost_price is None else round(line.quantity * line.cost_price * 100)
