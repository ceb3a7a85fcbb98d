"""Who the invoice of a stall fee is for, as the applicant says it before the invoice is issued."""

from typing import TypedDict, Unpack

from app.applications import links
from app.applications.errors import InvoiceIssued
from app.applications.fee_invoices import has_invoice
from app.core.transaction import transaction


class BillingChanges(TypedDict, total=False):
    """Fields to change; None removes one."""

    billing_address: str | None
    billing_vat_number: str | None


def update_billing(*, token: str, **changes: Unpack[BillingChanges]) -> None:
    """Change the buyer's address and VAT number. Raises NotFound, LinkExpired, InvoiceIssued."""
    with transaction() as session:
        application = links.get_active_link(token, links.PAYMENT, session=session).application
        if all(getattr(application, name) == value for name, value in changes.items()):
            return
        if has_invoice(session, application.id):
            raise InvoiceIssued()
        for name, value in changes.items():
            setattr(application, name, value)
        application.version += 1
