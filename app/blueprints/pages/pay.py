"""Paying the stall fee: the wallet number, the code, then the confirmation."""

from flask import Response, redirect, request, url_for
from flask.typing import ResponseReturnValue

from app.applications import actions, fee_invoices, link_queries
from app.applications.errors import (
    InvoiceNotAvailable,
    NothingDue,
    OtpWrong,
    PaymentExpired,
    PaymentInProgress,
)
from app.applications.stall_payments import find_trial_code
from app.blueprints.pages.application_links import add_new_link_routes, handle_unusable_link
from app.blueprints.pages.forms import FORM_ERRORS, FilledForm, Form, Input, render_form
from app.blueprints.pages.rendering import Pages, format_wait
from app.core.errors import Unavailable
from app.core.languages import gettext, lazy_gettext
from app.web import rate_limits
from app.web.fields import Phone, Secret
from app.web.file_responses import build_pdf_response
from app.web.rate_limits import CODE_ATTEMPT_LIMIT, Limit
from app.web.schema import Query
from app.web.text_fields import BankNumber, PostalAddress

PURPOSE, PAGE = "payment", "pages/pay.html"
INVOICE_LIMIT = Limit(30)
# The page and the API operations share their rate limits.
START_ROUTE = "/api/merchant-applications/pay/<token>"
VERIFY_ROUTE = f"{START_ROUTE}/payrail/verify-otp"
blueprint = Pages("pay", __name__, url_prefix="/pay", translated=True)
add_new_link_routes(blueprint, PURPOSE)


class WalletSchema(Query):
    payrail_msisdn = Phone(min=8, max=20)


class NewWalletSchema(Query):
    payrail_msisdn = Phone(required=True, min=8, max=20)


class CodeSchema(Query):
    code = Secret(required=True, min=4, max=12)


class BillingSchema(Query):
    billing_address = PostalAddress(data_key="billingAddress")
    billing_vat_number = BankNumber(data_key="billingVatNumber", max=20)


INVALID_PHONE = lazy_gettext("Enter a phone number like 081 123 4567.")
CODE = Form(
    CodeSchema,
    Input(
        "code",
        lazy_gettext("Code from your phone"),
        hint=lazy_gettext("Spaces do not matter."),
        type="code",
        autocomplete="one-time-code",
        inputmode="numeric",
        messages={
            "required": lazy_gettext("Enter the code from your phone."),
            "too_short": lazy_gettext("Enter all the digits of the code."),
            "too_long": lazy_gettext("This is too long. Enter only the digits of the code."),
        },
        error_codes=("OTP_WRONG",),
    ),
)

BILLING = Form(
    BillingSchema,
    Input("billingAddress", lazy_gettext("Address"), autocomplete="street-address", error_codes=("INVOICE_ISSUED",)),
    Input(
        "billingVatNumber",
        lazy_gettext("VAT registration number"),
        hint=lazy_gettext("Only if your business is registered for VAT."),
        inputmode="numeric",
        messages={"invalid_number": lazy_gettext("Enter digits only. Spaces and hyphens between them do not matter.")},
    ),
)
NO_BILLING: actions.BillingChanges = {"billing_address": None, "billing_vat_number": None}


@blueprint.get("/<token>")
@handle_unusable_link(PURPOSE)
def start(token: str) -> Response:
    """Show the fee and the state of the payment."""
    fee = link_queries.get_fee(token)
    is_code_sent = fee["status"] == "otp_required" and (fee["transfers_only"] or "wallet" not in request.args)
    return _render(token, fee, CODE.fill() if is_code_sent else _build_wallet_form(fee).fill())


@blueprint.post("/<token>")
@handle_unusable_link(PURPOSE)
def send_code(token: str) -> ResponseReturnValue:
    """Send a code to the wallet."""
    form = _build_wallet_form(link_queries.get_fee(token)).from_request()
    try:
        rate_limits.count_request(CODE_ATTEMPT_LIMIT, START_ROUTE)
        actions.start_payment(token=token, **form.load())
    except (NothingDue, PaymentInProgress):
        pass
    except (*FORM_ERRORS, Unavailable) as error:
        return _render(token, link_queries.get_fee(token), form.with_error(error))
    return redirect(url_for("pay.start", token=token), 303)


@blueprint.post("/<token>/code")
@handle_unusable_link(PURPOSE)
def confirm(token: str) -> ResponseReturnValue:
    """Pay if the code is right."""
    form = CODE.from_request()
    try:
        rate_limits.count_request(CODE_ATTEMPT_LIMIT, VERIFY_ROUTE)
        actions.verify_otp(token=token, **form.load())
    except (*FORM_ERRORS, Unavailable) as error:
        fee = link_queries.get_fee(token)
        if fee["status"] == "otp_required":
            return _render(token, fee, form.with_error(error))
        # The fifth wrong code ends the payment.
        reason = PaymentExpired() if isinstance(error, OtpWrong) else error
        return _render(token, fee, _build_wallet_form(fee).fill().with_error(reason))
    return redirect(url_for("pay.start", token=token), 303)


@blueprint.get("/<token>/invoice")
@handle_unusable_link(PURPOSE)
def invoice(token: str) -> ResponseReturnValue:
    """Show the invoice, or with `number` the credit note, as a PDF; without one, the payment page."""
    rate_limits.count_request(INVOICE_LIMIT, "/pay/<token>/invoice")
    try:
        document, data = fee_invoices.get_fee_document_pdf_by_link(token, number=request.args.get("number"))
    except InvoiceNotAvailable:
        return redirect(url_for("pay.start", token=token), 303)
    return build_pdf_response(data, document.number)


@blueprint.get("/<token>/billing")
@handle_unusable_link(PURPOSE)
def show_billing(token: str) -> Response:
    """Show the form for the buyer's address and VAT number."""
    fee = link_queries.get_fee(token)
    details = {"billingAddress": fee["billing_address"] or "", "billingVatNumber": fee["billing_vat_number"] or ""}
    return _render_billing(token, BILLING.fill(**details))


@blueprint.post("/<token>/billing")
@handle_unusable_link(PURPOSE)
def change_billing(token: str) -> ResponseReturnValue:
    """Save the buyer's details; an empty field removes its value."""
    form = BILLING.from_request()
    try:
        actions.update_billing(token=token, **{**NO_BILLING, **form.load()})
    except FORM_ERRORS as error:
        return _render_billing(token, form.with_error(error))
    return redirect(url_for("pay.start", token=token), 303)


def _render_billing(token: str, form: FilledForm) -> Response:
    fee = link_queries.get_fee(token)
    return render_form("pages/billing.html", form, fee=fee, token=token, contact=fee["contact_email"])


def _render(token: str, fee: link_queries.FeePage, form: FilledForm) -> Response:
    return render_form(
        PAGE,
        form,
        fee=fee,
        token=token,
        valid_for=format_wait(fee.get("expires_in", 0)),
        contact=fee["contact_email"],
        documents_path=_find_documents_path(fee),
        pays_by_transfer=_pays_by_transfer(fee, form),
        changes_wallet="wallet" in request.args or bool(form.errors),
        trial_code=find_trial_code(),
    )


def _find_documents_path(fee: link_queries.FeePage) -> str | None:
    """The path to the documents, if they are what is due after the payment."""
    is_next = fee["status"] == "paid" and fee["application_status"] == "awaiting_documents"
    return link_queries.find_documents_path(fee["id"]) if is_next else None


def _pays_by_transfer(fee: link_queries.FeePage, form: FilledForm) -> bool:
    """Whether the page shows the bank account: the applicant chose a transfer, or asks for it here."""
    if fee["transfers_only"]:
        return fee["status"] == "due"
    if fee["status"] != "due" or "last_failure" in fee or form.errors or "wallet" in request.args:
        return False
    return fee["destination"] == "bank" or (fee["bank"] is not None and "transfer" in request.args)


def _build_wallet_form(fee: link_queries.FeePage) -> Form:
    """The form for the wallet number, which may be left empty if the application has one."""
    return Form(
        WalletSchema if fee["payrail_msisdn"] else NewWalletSchema,
        Input(
            "payrailMsisdn",
            lazy_gettext("Number of your mobile wallet"),
            hint=gettext("The phone number of your wallet."),
            type="tel",
            autocomplete="tel",
            messages={
                "required": lazy_gettext("Enter the number of your wallet."),
                "invalid_phone": INVALID_PHONE,
                "too_short": INVALID_PHONE,
                "too_long": INVALID_PHONE,
            },
            error_codes=("PAYMENT_DECLINED",),
        ),
    )
