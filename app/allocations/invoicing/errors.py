"""Errors of invoices."""

from app.core.errors import Conflict


class NothingToInvoice(Conflict):
    number, code = 40973, "NOTHING_TO_INVOICE"
    message = "This block costs nothing, or holds no places, so there is nothing to invoice."


class InvoiceNotIssued(Conflict):
    number, code = 40974, "INVOICE_NOT_ISSUED"
    message = "No invoice has been issued for this block; the organiser issues it by opening it for the first time."


class InvoiceAddressMissing(Conflict):
    number, code = 40975, "INVOICE_ADDRESS_MISSING"
    message = "The holder of this block has no e-mail address; name one in `to`."


class BlockInvoiced(Conflict):
    number, code = 40977, "BLOCK_INVOICED"
    message = "The invoice of that block is issued, so another place would not be charged; create a new block for it."
