"""The payouts of a merchant, and where they go."""

from dataclasses import replace
from datetime import datetime
from typing import Any

from flask import Response, flash, redirect, request, url_for
from flask.typing import ResponseReturnValue
from marshmallow import ValidationError, validates_schema

from app.accounts.errors import ConfirmationRequired
from app.accounts.permissions import STALL_MONEY, STALL_OWN
from app.blueprints.pages.forms import FORM_ERRORS, FilledForm, Form, Input, render_form
from app.blueprints.pages.owner_confirmation import PASSWORD, ConfirmedSchema, for_owner
from app.blueprints.pages.rendering import Pages
from app.blueprints.pages.signed_in import authorise_page
from app.core.errors import Conflict, NotFound, ValidationFailed
from app.core.formatting import format_day, format_money, format_time
from app.core.ids import is_id
from app.core.languages import gettext, lazy_gettext
from app.core.spreadsheet_cells import BadCell, parse_cents
from app.core.tokens import fingerprint, opaque_token
from app.merchants import actions as merchant_actions
from app.merchants.queries import load_merchant_account
from app.payouts import actions, queries
from app.payouts.destination_encryption import BANK, DESTINATIONS, PAYRAIL, REQUIRED_DETAILS
from app.payouts.queries import PayoutSummary
from app.payouts.states import CANCELLABLE
from app.web.access import may
from app.web.fields import Choice, Secret, Text, TimeField, field_error
from app.web.payout_detail_fields import Digits, Msisdn
from app.web.schema import Query, to_camel_case
from app.web.text_fields import Name

blueprint = Pages("stall_payouts", __name__, url_prefix="/stall", needs_sign_in=True, translated=True)
PAGE, DETAILS_PAGE = "pages/stall_payouts.html", "pages/stall_payout_details.html"
MAX_PAYOUTS = 50
DETAIL_NAMES = ("destination", "msisdn", "account_name", "account_number", "bank_name", "branch_code")
STATUS_LABELS = {
    "scheduled": lazy_gettext("planned"),
    "requested": lazy_gettext("requested"),
    "processing": lazy_gettext("on its way"),
    "needs_review": lazy_gettext("being checked"),
    "paid": lazy_gettext("paid"),
    "failed": lazy_gettext("failed"),
    "returned": lazy_gettext("came back"),
    "cancelled": lazy_gettext("cancelled"),
}


class Amount(Text):
    """An amount of money as people write it, loaded as cents."""

    def _deserialize(self, value: object, attr: str | None, data: Any, **kwargs: object) -> Any:
        try:
            amount = parse_cents(super()._deserialize(value, attr, data, **kwargs), decimal_comma=True)
        except BadCell as error:
            raise field_error("invalid_amount", "Must be an amount.") from error
        if amount < 1:
            raise field_error("too_small", "Must be more than zero.")
        return amount


class PayoutSchema(Query):
    amount_minor = Amount(required=True)
    destination = Choice(*DESTINATIONS, required=True)
    scheduled_for = TimeField()
    key = Secret(required=True, max=80)


class ConfirmedPayoutSchema(PayoutSchema, ConfirmedSchema):
    """The form for a destination to which nothing was paid before."""


class DetailsSchema(Query):
    destination = Choice(*DESTINATIONS)
    msisdn = Msisdn()
    account_name = Name(min=2, max=120)
    account_number = Digits(max=34)
    bank_name = Text(min=2, max=120)
    branch_code = Digits(max=20)

    @validates_schema
    def check_complete(self, data: dict[str, object], **_: object) -> None:
        """A bank account has all its parts, and the chosen destination has been entered."""
        chosen = data.get("destination")
        is_bank = chosen == BANK or any(data.get(name) for name in (*REQUIRED_DETAILS[BANK], "branch_code"))
        names = (
            *(REQUIRED_DETAILS[PAYRAIL] if chosen == PAYRAIL else ()),
            *(REQUIRED_DETAILS[BANK] if is_bank else ()),
        )
        missing = [to_camel_case(name) for name in names if not data.get(name)]
        if not missing and not data.get("msisdn") and not is_bank:
            raise ValidationError({"msisdn": field_error("nothing_entered", "Enter a wallet or an account.").messages})
        if missing:
            raise ValidationError({name: field_error("required", "Required.").messages for name in missing})


INPUTS = (
    Input(
        "amountMinor",
        lazy_gettext("Amount in N$"),
        inputmode="decimal",
        messages={
            "required": lazy_gettext("Enter an amount."),
            "invalid_amount": lazy_gettext("Enter an amount like 450 or 450.50."),
            "too_small": lazy_gettext("Enter an amount of more than zero."),
        },
        error_codes=("INSUFFICIENT_FUNDS",),
    ),
    Input(
        "destination",
        lazy_gettext("Where to?"),
        messages={
            "required": lazy_gettext("Choose where the money goes."),
            "unknown_value": lazy_gettext("Choose where the money goes."),
        },
        error_codes=("PAYOUT_DETAILS_MISSING", "OWNER_MUST_CONFIRM"),
    ),
    Input(
        "scheduledFor",
        lazy_gettext("On which day?"),
        hint=lazy_gettext("Leave it empty to get the money as soon as possible."),
        type="date",
        messages={
            "too_small": lazy_gettext("Choose a day after today."),
            "too_large": lazy_gettext("Choose a day within the next 90 days."),
            "invalid_time": lazy_gettext("Enter a day like 2026-12-04."),
        },
    ),
    Input("key", "", type="hidden"),
)
PAYOUT, CONFIRMED_PAYOUT = Form(PayoutSchema, *INPUTS), Form(ConfirmedPayoutSchema, *INPUTS, PASSWORD)
MASKED = {
    "masked_value": lazy_gettext("Type the whole number, or leave the one that we show."),
    "required": lazy_gettext("Fill in this field."),
}
DETAILS = Form(
    DetailsSchema,
    Input("destination", lazy_gettext("What do you use most?")),
    Input(
        "msisdn",
        lazy_gettext("Mobile number of the wallet"),
        type="tel",
        inputmode="tel",
        messages={
            **MASKED,
            "nothing_entered": lazy_gettext("Enter the number of your wallet, or your bank account below."),
        },
    ),
    Input("accountName", lazy_gettext("Name of the account"), autocomplete="off"),
    Input(
        "accountNumber",
        lazy_gettext("Account number"),
        inputmode="numeric",
        messages={
            **MASKED,
            "invalid_number": lazy_gettext("Enter the account number: 4 to 34 digits."),
        },
    ),
    Input("bankName", lazy_gettext("Bank")),
    Input(
        "branchCode",
        lazy_gettext("Branch code"),
        inputmode="numeric",
        messages={
            **MASKED,
            "invalid_number": lazy_gettext("Enter the branch code: 4 to 20 digits."),
        },
    ),
)


@blueprint.get("/payouts")
def show_payouts() -> Response:
    """Show the balance, the form for a payout, and the latest payouts."""
    return _render_payouts(PAYOUT.fill(key=opaque_token()))


@blueprint.post("/payouts")
def request_payout() -> ResponseReturnValue:
    """Request a payout. The form that comes back for a new destination asks the owner to confirm it."""
    is_confirmed = "password" in request.form
    form = (for_owner(CONFIRMED_PAYOUT) if is_confirmed else PAYOUT).from_request()
    try:
        values = form.load()
        caller = authorise_page(may(STALL_MONEY).with_verified_email())
        day: datetime | None = values.get("scheduled_for")
        payout = actions.request_payout(
            caller=caller,
            password=values.get("password"),
            amount_minor=values["amount_minor"],
            destination=values["destination"],
            mode="schedule" if day else "now",
            scheduled_for=day,
            idempotency_key=_derive_key(form),
        )
    except ConfirmationRequired:
        return _render_payouts(replace(form, form=for_owner(CONFIRMED_PAYOUT)), is_new_destination=True)
    except FORM_ERRORS as error:
        return _render_payouts(form.with_error(error), is_new_destination=is_confirmed)
    flash(
        gettext(
            "%(amount)s to %(destination)s: %(state)s.",
            amount=format_money(payout.amount_minor),
            destination=payout.shown_as,
            state=describe_payout(payout),
        )
    )
    return redirect(url_for("stall_payouts.show_payouts"), 303)


@blueprint.post("/payouts/<payout_id>/cancel")
def cancel_payout(payout_id: str) -> ResponseReturnValue:
    """Cancel a payout that has not left."""
    if not is_id(payout_id):
        raise NotFound()
    try:
        payout = actions.cancel_payout(caller=authorise_page(may(STALL_MONEY)), id=payout_id)
    except Conflict as error:
        return _render_payouts(PAYOUT.fill(key=opaque_token()).with_error(error))
    flash(
        gettext(
            "The payout of %(amount)s is cancelled. The money is in your balance again.",
            amount=format_money(payout.amount_minor),
        )
    )
    return redirect(url_for("stall_payouts.show_payouts"), 303)


@blueprint.get("/payout-details")
def show_details() -> Response:
    """Show where payouts go, with masked numbers."""
    details = load_merchant_account(authorise_page(may(STALL_OWN)))["payout_details"]
    return _render_details(DETAILS.fill(**{to_camel_case(name): value for name, value in details.items()}))


@blueprint.post("/payout-details")
def change_details() -> ResponseReturnValue:
    """Save where payouts go. An empty field removes its value."""
    form = DETAILS.from_request()
    try:
        values = form.load()
        merchant_actions.update_profile(
            caller=authorise_page(may(STALL_OWN).with_verified_email()),
            expected_version=None,
            payout_details={name: values.get(name) for name in DETAIL_NAMES},
            settings={},
        )
    except ValidationFailed as error:
        problems = [
            {**problem, "path": problem["path"].removeprefix("payoutDetails.")} for problem in error.data["errors"]
        ]
        return _render_details(form.with_error(ValidationFailed(problems)))
    except FORM_ERRORS as error:
        return _render_details(form.with_error(error))
    flash(gettext("Your payout details are saved. We confirm this by e-mail."))
    return redirect(url_for("stall_payouts.show_payouts"), 303)


def describe_payout(payout: PayoutSummary) -> str:
    """Return what happens to a payout, or what happened: "it leaves on Fri 4 December 2026"."""
    if payout.on_hold:
        return gettext("it waits because your business is paused")
    if payout.status in CANCELLABLE and payout.held_until is not None and _is_delayed_by_hold(payout):
        return gettext("it leaves on %(day)s, because the destination is new", day=format_time(payout.held_until))
    if payout.status == "scheduled" and payout.scheduled_for is not None:
        return gettext("it leaves on %(day)s", day=format_day(payout.scheduled_for))
    sentences = {
        "requested": gettext("it leaves in a moment"),
        "processing": gettext("it has left, and we wait for the bank or wallet to confirm it"),
        "needs_review": gettext("we ask the bank or wallet what happened to it"),
    }
    return sentences.get(payout.status) or str(STATUS_LABELS[payout.status])


def _is_delayed_by_hold(payout: PayoutSummary) -> bool:
    """Whether a new destination delays the payout: there is a hold, and it ends after the chosen day."""
    held_until = payout.held_until or payout.created_at
    return held_until > max(payout.created_at, payout.scheduled_for or payout.created_at)


def _derive_key(form: FilledForm) -> str:
    """Return a key that is the same when the same form is sent twice with the same values."""
    values = (form.values[name] for name in ("key", "amountMinor", "destination", "scheduledFor"))
    return fingerprint("\n".join(values))


def _render_payouts(form: FilledForm, *, is_new_destination: bool = False) -> Response:
    caller = authorise_page(may(STALL_MONEY))
    merchant = load_merchant_account(caller)
    destinations = _list_destinations(merchant["payout_details"])
    if destinations and not form.values.get("destination"):
        form = replace(form, values={**form.values, "destination": destinations[0][0]})
    return render_form(
        PAGE,
        form,
        is_new_destination=is_new_destination,
        destinations=destinations,
        availability=queries.load_availability(caller),
        payouts=queries.list_latest_payouts(caller, limit=MAX_PAYOUTS),
        is_owner=caller.merchant_id == caller.id,
        is_paused=merchant["status"] == "paused",
        describe_payout=describe_payout,
        status_labels=STATUS_LABELS,
        cancellable=CANCELLABLE,
    )


def _list_destinations(details: dict[str, str]) -> list[tuple[str, str, str]]:
    """Return the saved destinations as choices, with masked numbers; the one that is used most comes first."""
    labels = {PAYRAIL: gettext("Mobile wallet"), BANK: gettext("Bank account")}
    choices = [
        (
            name,
            labels[name],
            " ".join(details[part] for part in reversed(REQUIRED_DETAILS[name]) if part != "account_name"),
        )
        for name in DESTINATIONS
        if all(details.get(part) for part in REQUIRED_DETAILS[name])
    ]
    return sorted(choices, key=lambda choice: choice[0] != details.get("destination"))


def _render_details(form: FilledForm) -> Response:
    choices = [(PAYRAIL, gettext("The mobile wallet"), ""), (BANK, gettext("The bank account"), "")]
    return render_form(DETAILS_PAGE, form, destination_choices=choices)
