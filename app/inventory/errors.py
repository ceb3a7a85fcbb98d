"""Errors of the stock."""

from app.core.errors import Conflict, Gone, StaleVersion, TooLarge, Unprocessable, UnsupportedMedia


class InsufficientStock(Conflict):
    number, code = 40922, "INSUFFICIENT_STOCK"
    message = "There is not enough stock; data has the quantities on hand, reserved, damaged and available."


class SkuTaken(Conflict):
    number, code = 40923, "SKU_TAKEN"
    message = "Another item of this event has this SKU; upper and lower case count as equal."


class QuantityTooLarge(Conflict):
    number, code = 40933, "QUANTITY_TOO_LARGE"
    message = "A quantity can be at most 999,999,999.999; data has the present quantities."


class StaleStock(StaleVersion):
    """A conflict with the code of a stale version: the quantity has changed, not the item."""

    status, number = 409, 40924
    message = "The quantity on hand differs from expectedOnHand; data has the present quantity."


class ImportTooLarge(TooLarge):
    number, code = 41322, "IMPORT_TOO_LARGE"
    message = "A file may have 100,000 rows and 20 MiB; send it in parts."


class NotASpreadsheet(UnsupportedMedia):
    number, code = 41522, "NOT_A_SPREADSHEET"
    message = "The file is no CSV and no XLSX workbook."


class ImportRejected(Unprocessable):
    number, code = 42222, "IMPORT_REJECTED"
    message = "Nothing was written; data.errors lists the errors by row and column."


class StockLinkExpired(Gone):
    number, code = 41085, "STOCK_LINK_EXPIRED"
    message = "This link was valid for five minutes; read the job again for a new downloadUrl."
