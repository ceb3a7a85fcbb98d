"""What the columns of files for programs mean, by their headings: the journal, the VAT, and the reports of a stock."""

from app.blueprints.pages.desk.stock_items import LABELS
from app.core.languages import lazy_gettext
from app.inventory.reports.definitions import REPORTS

JOURNAL_COLUMNS = {
    "date": lazy_gettext("Day on which the entry is booked, in Windhoek"),
    "entry": lazy_gettext("Number of the entry: D- for a document, L- for a payment. Its lines have the same number."),
    "accountCode": lazy_gettext("Number of the account"),
    "accountName": lazy_gettext("Name of the account"),
    "debit": lazy_gettext("Amount, if the line is a debit"),
    "credit": lazy_gettext("Amount, if the line is a credit"),
    "currency": lazy_gettext("Currency of the amounts"),
    "vatPercent": lazy_gettext("VAT rate in %"),
    "vatAmount": lazy_gettext("VAT of the document, on the line of the income"),
    "document": lazy_gettext("Invoice, credit note or payment of the entry"),
    "description": lazy_gettext("Who the document is for, or what was paid"),
    "event": lazy_gettext("Event"),
    "receivedOn": lazy_gettext("Day on which a transfer arrived in your account"),
    "transfer": lazy_gettext("Text of the transfer"),
}
VAT_COLUMNS = {
    "from": lazy_gettext("First day of the period"),
    "to": lazy_gettext("Last day of the period"),
    "vatPercent": lazy_gettext("VAT rate in %"),
    "documents": lazy_gettext("Invoices, or credit notes"),
    "number": lazy_gettext("How many documents there are"),
    "net": lazy_gettext("Amount without VAT"),
    "vat": lazy_gettext("VAT"),
    "gross": lazy_gettext("Amount with VAT"),
    "currency": lazy_gettext("Currency of the amounts"),
}
_FIGURES = {
    "items": lazy_gettext("How many items there are"),
    "lowStock": lazy_gettext("How many of them are low"),
    "outOfStock": lazy_gettext("How many of them are used up"),
    "expired": lazy_gettext("How many of them have expired"),
    "expiring": lazy_gettext("How many of them expire in the next 90 days"),
    "withoutCostPrice": lazy_gettext("How many of them have no cost price; they count as 0 in the value"),
    "withoutSalePrice": lazy_gettext("How many of them have no sale price; they count as 0 in the value"),
    "costValueMinor": lazy_gettext("Value at cost in cents: 1250 is N$ 12.50"),
    "saleValueMinor": lazy_gettext("Value at sale price in cents"),
    "damagedValueMinor": lazy_gettext("Value of the damaged stock at cost, in cents"),
    "onOrderValueMinor": lazy_gettext("Value of what is on order at cost, in cents"),
    "movements": lazy_gettext("How often a number of the item changed in the last 30 days"),
    "received": lazy_gettext("Quantity that came in"),
    "sold": lazy_gettext("Quantity that was sold"),
    "wasted": lazy_gettext("Quantity that was thrown away or damaged"),
    "counted": lazy_gettext("Difference that counts found"),
    "other": lazy_gettext("Transfers, returns and corrections"),
    "net": lazy_gettext("All changes together"),
    "netValueMinor": lazy_gettext("All changes together at cost, in cents"),
    "daysLeft": lazy_gettext("Days until it expires; below zero, it has expired"),
    "available": lazy_gettext("On hand, less what is reserved and damaged"),
    "onOrder": lazy_gettext("Quantity that is on order"),
    "quantity": lazy_gettext("Quantity to order"),
}
REPORT_COLUMNS = {
    field.name: _FIGURES.get(field.name) or LABELS[field.name] for report in REPORTS.values() for field in report.fields
}
"""The columns of all reports, each once."""
