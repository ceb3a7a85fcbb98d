"""Errors of the stock."""

from app.core.errors import SHARED_NUMBER, Conflict, Gone, StaleVersion
from app.core.languages import mark_for_translation
from app.events.errors import ImportRejected as ImportRejected
from app.events.errors import ImportTooLarge as ImportTooLarge
from app.events.errors import NotASpreadsheet as NotASpreadsheet


class InsufficientStock(Conflict):
    number, code = 40922, "INSUFFICIENT_STOCK"
    message = "There is not enough stock; data has the quantities on hand, reserved, damaged and available."


class SkuTaken(Conflict):
    number, code = 40923, "SKU_TAKEN"
    message = "Another item of this event has this SKU; upper and lower case count as equal. It may be archived."


class ItemArchived(Conflict):
    number, code = SHARED_NUMBER, "ITEM_ARCHIVED"
    message = mark_for_translation("This item is archived. Restore it first.")


class OrderClosed(Conflict):
    number, code = SHARED_NUMBER, "ORDER_CLOSED"
    message = mark_for_translation("This order is not open any more: it was received or cancelled.")


class ImportExpired(Conflict):
    number, code = SHARED_NUMBER, "IMPORT_EXPIRED"
    message = mark_for_translation("The file was kept for two hours. Choose it again.")


class QuantityTooLarge(Conflict):
    number, code = 40933, "QUANTITY_TOO_LARGE"
    message = "A quantity can be at most 999,999,999.999; data has the present quantities."


class StaleStock(StaleVersion):
    """A conflict with the code of a stale version: the quantity has changed, not the item."""

    status, number = 409, 40924
    message = "The quantity on hand differs from expectedOnHand; data has the present quantity."


class StockLinkExpired(Gone):
    number, code = 41085, "STOCK_LINK_EXPIRED"
    message = "This link was valid for five minutes; read the job again for a new downloadUrl."
