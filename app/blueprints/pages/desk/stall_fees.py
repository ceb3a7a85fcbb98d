"""The fee of one stall, as forms: received by transfer, waived, sent back."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from flask import Response, url_for
from flask.typing import ResponseReturnValue
from marshmallow import fields

from app.accounts.caller import Caller
from app.accounts.permissions import MONEY_WRITE
from app.applications import actions
from app.applications.queries import ApplicationRecord
from app.applications.states import REFUND_REFUSED
from app.blueprints.pages.desk.event_form import format_today
from app.blueprints.pages.desk.form_parts import explain_amount, format_amount
from app.blueprints.pages.desk.shell import go_to, render_desk_form
from app.blueprints.pages.desk.stall_words import reword
from app.blueprints.pages.desk.stalls import blueprint, get_event_application
from app.blueprints.pages.forms import FORM_ERRORS, FilledForm, Form, Input
from app.blueprints.pages.inputs import Amount
from app.core.errors import NotFound
from app.core.formatting import format_money
from app.core.languages import gettext, lazy_gettext
from app.events.queries import OwnEvent
from app.web.access import may
from app.web.fields import Text
from app.web.schema import Query
from app.web.text_fields import EmailText, Name

SETTLE = may(MONEY_WRITE).with_verified_email()
WRONG_AMOUNT = {
    "required": lazy_gettext("Enter the amount."),
    "invalid_type": lazy_gettext("Enter an amount like 1500 or 1500.50."),
}


class ReceivedSchema(Query):
    amount_minor = Amount(data_key="amountMinor", required=True)
    reference = Name(required=True, min=1, max=80)
    received_on = fields.Date(required=True)


class WaiverSchema(Query):
    reason = Text(required=True, min=1, max=500)


class RefundSchema(Query):
    reason = EmailText(required=True, min=1, max=500)
    amount_minor = Amount(data_key="amountMinor")
    reference = Name(min=1, max=80)


@dataclass(frozen=True)
class FeeAct:
    """What is done with a fee: its words, its form, and its action."""

    title: str
    lead: str
    button: str
    done: str
    form: Form
    act: Callable[..., object]


FEE_ACTS = {
    "received": FeeAct(
        lazy_gettext("Fee received"),
        lazy_gettext("Record that the whole fee is on your bank account. The applicant gets a mail, and can go on."),
        lazy_gettext("Record the fee"),
        lazy_gettext("The fee is recorded as received."),
        Form(
            ReceivedSchema,
            Input(
                "amountMinor",
                lazy_gettext("Amount in N$"),
                inputmode="decimal",
                messages=WRONG_AMOUNT,
            ),
            Input(
                "reference",
                lazy_gettext("Text of the transfer"),
                messages={"required": lazy_gettext("Enter the text of the transfer.")},
            ),
            Input(
                "receivedOn",
                lazy_gettext("Day on which it came in"),
                type="date",
                messages={
                    "required": lazy_gettext("Enter the day."),
                    "future": lazy_gettext("Choose a day that is not in the future."),
                    "too_early": lazy_gettext("Choose a day within the last year."),
                },
            ),
        ),
        actions.receive_fee,
    ),
    "waive": FeeAct(
        lazy_gettext("Waive the fee"),
        lazy_gettext("The applicant gets a mail, and can go on without paying. They do not see the reason."),
        lazy_gettext("Waive the fee"),
        lazy_gettext("The fee is waived."),
        Form(
            WaiverSchema,
            Input("reason", lazy_gettext("Your reason"), messages={"required": lazy_gettext("Enter a reason.")}),
        ),
        actions.waive_fee,
    ),
}
REASON = Input(
    "reason",
    lazy_gettext("Reason"),
    hint=lazy_gettext("The applicant reads it on the credit note. Leave out web addresses."),
    messages={"required": lazy_gettext("Enter a reason.")},
)
PART = Input(
    "amountMinor",
    lazy_gettext("Amount in N$"),
    hint=lazy_gettext("Empty: the whole fee."),
    inputmode="decimal",
    messages={**WRONG_AMOUNT, "too_large": lazy_gettext("Enter the fee, or less.")},
)
SENT = Input("reference", lazy_gettext("Text of your transfer"))
REFUND_BY_WALLET = FeeAct(
    lazy_gettext("Send the fee back"),
    lazy_gettext(
        "You can do this once. It came from a wallet, and we send it back there as a whole. The applicant gets a mail "
        "with the credit note."
    ),
    lazy_gettext("Send the fee back"),
    lazy_gettext("The refund is recorded. The wallet gets the money by itself."),
    Form(RefundSchema, REASON),
    actions.refund_fee,
)
REFUND_BY_TRANSFER = FeeAct(
    lazy_gettext("Send the fee back"),
    lazy_gettext(
        "You can do this once. It came by transfer: send it back yourself, and record that here. The applicant gets a "
        "mail with the credit note."
    ),
    lazy_gettext("Record the refund"),
    lazy_gettext("The refund is recorded. If you have not sent the money yet, send it now."),
    Form(RefundSchema, REASON, PART, SENT),
    actions.refund_fee,
)
REFUND_AFTER_REFUSAL = FeeAct(
    lazy_gettext("Send the fee back"),
    lazy_gettext(
        "The wallet from which it came has refused the money. Send it by transfer, and record that here. The applicant "
        "gets a mail with the credit note."
    ),
    lazy_gettext("Record the refund"),
    lazy_gettext("The refund is recorded."),
    Form(
        RefundSchema,
        REASON,
        replace(
            PART,
            messages={
                **PART.messages,
                "whole_fee": lazy_gettext("To send back a part, enter the text of your transfer."),
            },
        ),
        replace(SENT, hint=lazy_gettext("Empty: we ask the wallet again.")),
    ),
    actions.refund_fee,
)


@blueprint.page("/<application_id>/fee/<name>", access=SETTLE)
def confirm_fee(caller: Caller, event_id: str, application_id: str, name: str) -> ResponseReturnValue:
    """Show the form of what is done with a fee."""
    event, row = get_event_application(caller, event_id, application_id)
    fee_act = _get_fee_act(name, row)
    values = {
        "amountMinor": format_amount(row["amount_minor"]),
        "reference": row["reference"],
        "receivedOn": format_today(event.timezone),
    }
    return _render(event, row, fee_act, fee_act.form.fill(**(values if name == "received" else {})))


@blueprint.act("/<application_id>/fee/<name>", access=SETTLE)
def settle_fee(caller: Caller, event_id: str, application_id: str, name: str) -> ResponseReturnValue:
    """Record the fee as received, waive it, or send it back."""
    event, row = get_event_application(caller, event_id, application_id)
    fee_act = _get_fee_act(name, row)
    form = fee_act.form.from_request()
    try:
        same_transfer = fee_act.act(caller, application_id, **form.load())
    except FORM_ERRORS as error:
        explained = explain_amount(reword(error), lambda: _describe_amount(form, row["amount_minor"]))
        return _render(event, row, fee_act, form.with_error(explained))
    return go_to(_build_back(event, row), _describe_outcome(fee_act, same_transfer))


def _describe_amount(form: FilledForm, fee_minor: int) -> str:
    """How much less or more than the fee the amount of a form is, and what to do then."""
    missing_minor, fee = fee_minor - form.load()["amount_minor"], format_money(fee_minor)
    if missing_minor > 0:
        return gettext(
            "%(missing)s of the fee of %(fee)s is missing. Ask the applicant for it, and record the fee when all is there.",
            missing=format_money(missing_minor),
            fee=fee,
        )
    return gettext(
        "This is %(excess)s more than the fee. Record %(fee)s, and send the rest back or agree on it with the applicant.",
        excess=format_money(-missing_minor),
        fee=fee,
    )


def _get_fee_act(name: str, row: ApplicationRecord) -> FeeAct:
    if name == "refund":
        return _choose_refund(row)
    if name not in FEE_ACTS:
        raise NotFound()
    return FEE_ACTS[name]


def _choose_refund(row: ApplicationRecord) -> FeeAct:
    """How the fee goes back: to the wallet that paid it, or by transfer if it came so, or if the wallet has refused."""
    if row["payment"] is None or row["payment"]["status"] != "paid":
        return REFUND_BY_TRANSFER
    is_refused = row["refund"] is not None and row["refund"]["status"] == REFUND_REFUSED
    return REFUND_AFTER_REFUSAL if is_refused else REFUND_BY_WALLET


def _describe_outcome(fee_act: FeeAct, same_transfer: object) -> str:
    """What is said afterwards, with other applications that the same transfer has paid."""
    if not isinstance(same_transfer, list) or not same_transfer:
        return str(fee_act.done)
    other = gettext(
        "The same transfer is recorded for %(names)s too. Check that this is right.", names=", ".join(same_transfer)
    )
    return f"{fee_act.done} {other}"


def _build_back(event: OwnEvent, row: ApplicationRecord) -> str:
    return url_for("desk_stalls.show_application", event_id=event.id, application_id=row["id"])


def _render(event: OwnEvent, row: ApplicationRecord, fee_act: FeeAct, form: FilledForm) -> Response:
    return render_desk_form(
        form,
        event=event,
        title=f"{fee_act.title}: {row['business_name'] or row['reference']}",
        lead=gettext("The fee is %(amount)s.", amount=format_money(row["amount_minor"])) + f" {fee_act.lead}",
        button=fee_act.button,
        back=_build_back(event, row),
    )
