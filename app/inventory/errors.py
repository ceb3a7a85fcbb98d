"""Errors of the stock."""

from app.core.errors import Conflict, Gone, StaleVersion, TooLarge, Unprocessable, UnsupportedMedia


class InsufficientStock(Conflict):
    number, code = 40922, "INSUFFICIENT_STOCK"
    message = "There is not that much; data says what is on hand, reserved, damaged and available."


class SkuTaken(Conflict):
    number, code = 40923, "SKU_TAKEN"
    message = "Another item of this event has that SKU, in this case or another."


class QuantityTooLarge(Conflict):
    number, code = 40933, "QUANTITY_TOO_LARGE"
    message = "An item can hold at most 999,999,999.999; data says how much there is."


class StaleStock(StaleVersion):
    """The code of a stale version, as a conflict: it is the stock that is stale, not the item."""

    status, number = 409, 40924
    message = "What is on hand differs from expectedOnHand; data says what it is."


class ImportTooLarge(TooLarge):
    number, code = 41322, "IMPORT_TOO_LARGE"
    message = "A file may have 100,000 rows and 20 MiB; send it in parts."


class NotASpreadsheet(UnsupportedMedia):
    number, code = 41522, "NOT_A_SPREADSHEET"
    message = "The file is no CSV and no XLSX workbook."


class ImportRejected(Unprocessable):
    number, code = 42222, "IMPORT_REJECTED"
    message = "Nothing was written; data.errors names what is wrong, by row and column."


class StockLinkExpired(Gone):
    number, code = 41085, "STOCK_LINK_EXPIRED"
    message = "This link was good for five minutes; ask for the job again, its downloadUrl is fresh."
