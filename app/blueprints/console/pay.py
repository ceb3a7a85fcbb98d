"""Paying the stall fee: from which wallet, then the code, then the receipt."""

from flask import Response, redirect, request, url_for
from flask.typing import ResponseReturnValue

from app.applications import actions, link_queries
from app.applications.errors import NothingDue, PaymentInProgress
from app.blueprints.console.application_links import handle_dead_link, offer_fresh_links
from app.blueprints.console.error_messages import format_wait
from app.blueprints.console.forms import REFUSALS, FilledForm, Form, Input, form_page
from app.blueprints.console.rendering import Pages
from app.core.errors import Unavailable
from app.web import rate_limits
from app.web.fields import Phone, Secret
from app.web.rate_limits import CODE_ATTEMPT_LIMIT
from app.web.schema import Query

PURPOSE, PAGE = "payment", "console/pay.html"
# The page counts with the operations it stands for.
STARTING = "/api/merchant-applications/pay/<token>"
TRYING = f"{STARTING}/payrail/verify-otp"
blueprint = Pages("pay", __name__, url_prefix="/pay")
offer_fresh_links(blueprint, PURPOSE)


class WalletSchema(Query):
    payrail_msisdn = Phone(min=8, max=20)


class CodeSchema(Query):
    code = Secret(required=True, min=4, max=12)


PHONE = "Enter a telephone number like 081 123 4567."
CODE = Form(
    CodeSchema,
    Input(
        "code",
        "Code from your phone",
        hint="Spaces do not matter.",
        type="code",
        autocomplete="one-time-code",
        inputmode="numeric",
        says={
            "required": "Enter the code from your phone.",
            "too_short": "Enter all digits of the code.",
            "too_long": "This is longer than the code; enter its digits alone.",
        },
        about=("OTP_WRONG",),
    ),
)


@blueprint.get("/<token>")
@handle_dead_link(PURPOSE)
def start(token: str) -> Response:
    """What is to be paid, and how far it is."""
    fee = link_queries.get_fee(token)
    coded = fee["status"] == "otp_required" and "wallet" not in request.args
    return _page(token, fee, CODE.blank() if coded else _wallet(fee).blank())


@blueprint.post("/<token>")
@handle_dead_link(PURPOSE)
def send_code(token: str) -> ResponseReturnValue:
    """Has a code sent to the wallet."""
    form = _wallet(link_queries.get_fee(token)).typed()
    try:
        rate_limits.count_request(CODE_ATTEMPT_LIMIT, STARTING)
        actions.start_payment(token=token, **form.checked())
    except (NothingDue, PaymentInProgress):
        pass
    except (*REFUSALS, Unavailable) as error:
        return _page(token, link_queries.get_fee(token), form.refused(error))
    return redirect(url_for("pay.start", token=token), 303)


@blueprint.post("/<token>/code")
@handle_dead_link(PURPOSE)
def confirm(token: str) -> ResponseReturnValue:
    """Pays when the code is right."""
    form = CODE.typed()
    try:
        rate_limits.count_request(CODE_ATTEMPT_LIMIT, TRYING)
        actions.verify_otp(token=token, **form.checked())
    except (*REFUSALS, Unavailable) as error:
        fee = link_queries.get_fee(token)
        running = fee["status"] == "otp_required"
        return _page(token, fee, (form if running else _wallet(fee).blank()).refused(error))
    return redirect(url_for("pay.start", token=token), 303)


def _page(token: str, values: link_queries.FeePage, form: FilledForm) -> Response:
    minutes = format_wait(values.get("expires_in", 0))
    return form_page(PAGE, form, application=values, token=token, minutes=minutes, contact=values["contact_email"])


def _wallet(values: link_queries.FeePage) -> Form:
    """The question for the wallet; where the application names one, it may stay empty."""
    known = values["payrail_msisdn"]
    return Form(
        WalletSchema,
        Input(
            "payrailMsisdn",
            "Number of your mobile wallet",
            hint=f"Leave it empty to pay from {known}." if known else "The number your wallet is registered with.",
            type="tel",
            autocomplete="tel",
            says={
                "required": "Enter the number of your wallet.",
                "invalid_phone": PHONE,
                "too_short": PHONE,
                "too_long": PHONE,
            },
            about=("PAYMENT_DECLINED",),
        ),
    )
