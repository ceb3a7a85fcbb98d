"""The rail over HTTP, by the protocol of docs/payrail.md: its requests, and the meaning of its responses.

An adapter for another rail replaces this file; `http_client.py` has timeouts, signatures, retries and the breaker.
"""

import time
from dataclasses import dataclass, field
from threading import Lock
from urllib.parse import quote

import structlog

from app.clients.payrail import message_parsing
from app.clients.payrail.errors import PayrailUnavailable
from app.clients.payrail.http_client import NoUsableResponse, RailClient, RailResponse
from app.clients.payrail.interface import (
    BankAccount,
    Charge,
    ChargeState,
    Outcome,
    Transfer,
    TransferOutcome,
    TransferState,
    Wallet,
)

OUTCOME_STATUSES = (200, 201, 202, 422)
PROBE_TIMEOUT, UP_SECONDS, DOWN_SECONDS = 0.8, 5.0, 1.0
UNKNOWN = TransferState(outcome=TransferOutcome.UNKNOWN)
UNKNOWN_CHARGE = ChargeState(outcome=Outcome.UNKNOWN)
log = structlog.get_logger(__name__)


@dataclass
class Reachability:
    """The result of the last probe. It is valid for 5 s if the rail was reachable, else for 1 s."""

    is_reachable: bool = False
    valid_until: float = float("-inf")
    lock: Lock = field(default_factory=Lock)


@dataclass(frozen=True)
class HttpRail:
    """A rail behind an address: a real one, or the mock."""

    client: RailClient
    reachability: Reachability = field(default_factory=Reachability)

    def check(self) -> None:
        """Never raises and sends nothing: calls of an unreachable rail have an unknown outcome."""

    def reachable(self) -> bool:
        probe = self.reachability
        with probe.lock:
            if time.monotonic() >= probe.valid_until:
                probe.is_reachable = self.client.reachable(PROBE_TIMEOUT)
                probe.valid_until = time.monotonic() + (UP_SECONDS if probe.is_reachable else DOWN_SECONDS)
            return probe.is_reachable

    def breaker_state(self) -> str | None:
        return self.client.breaker_state()

    def start_charge(self, charge: Charge) -> ChargeState:
        message = {
            "reference": charge.reference,
            "amountMinor": charge.amount_minor,
            "currency": charge.currency,
            "msisdn": charge.msisdn,
            "description": charge.description,
        }
        try:
            response = self.client.send("POST", "/v1/charges", message, reference=charge.reference)
        except NoUsableResponse:
            return UNKNOWN_CHARGE
        return _parse_charge_state(response, charge.reference, charge=charge)

    def confirm_charge(self, reference: str, code: str) -> ChargeState:
        try:
            response = self.client.send(
                "POST", _build_path("charges", reference, "/confirm"), {"code": code}, reference=reference
            )
        except NoUsableResponse as failure:
            if failure.reached:
                return UNKNOWN_CHARGE
            raise PayrailUnavailable(retry_after=5) from failure
        return _parse_charge_state(response, reference)

    def charge_status(self, reference: str) -> ChargeState:
        try:
            response = self.client.send("GET", _build_path("charges", reference), reference=reference, repeatable=True)
        except NoUsableResponse:
            return UNKNOWN_CHARGE
        return _parse_charge_state(response, reference, is_query=True)

    def refund_charge(self, reference: str) -> ChargeState:
        try:
            response = self.client.send("POST", _build_path("charges", reference, "/refund"), {}, reference=reference)
        except NoUsableResponse:
            return UNKNOWN_CHARGE
        return _parse_charge_state(response, reference)

    def send_transfer(self, transfer: Transfer) -> TransferState:
        message = {
            "reference": transfer.reference,
            "amountMinor": transfer.amount_minor,
            "currency": transfer.currency,
            "destination": _build_destination(transfer.destination),
            "description": transfer.description,
        }
        try:
            response = self.client.send("POST", "/v1/transfers", message, reference=transfer.reference)
        except NoUsableResponse:
            return UNKNOWN
        state = _parse_transfer_state(response, transfer.reference, transfer)
        # "Not found" is valid only for a status query.
        return UNKNOWN if state.outcome is TransferOutcome.NOT_FOUND else state

    def transfer_status(self, reference: str) -> TransferState:
        try:
            response = self.client.send(
                "GET", _build_path("transfers", reference), reference=reference, repeatable=True
            )
        except NoUsableResponse:
            return UNKNOWN
        return _parse_transfer_state(response, reference)


def _build_path(kind: str, reference: str, action: str = "") -> str:
    return f"/v1/{kind}/{quote(reference, safe='')}{action}"


def _build_destination(destination: Wallet | BankAccount) -> dict[str, str]:
    if isinstance(destination, Wallet):
        return {"kind": "wallet", "msisdn": destination.msisdn}
    return {
        "kind": "bank",
        "accountName": destination.account_name,
        "accountNumber": destination.account_number,
        "bankName": destination.bank_name,
        "branchCode": destination.branch_code,
    }


def _parse_charge_state(
    response: RailResponse, reference: str, *, charge: Charge | None = None, is_query: bool = False
) -> ChargeState:
    """The state in a response. "Not found" is valid only for a status query, "wrong code" only otherwise."""
    try:
        outcome = _parse_outcome(response, reference, charge)
        if outcome == "not_found" and is_query:
            return ChargeState(outcome=Outcome.DECLINED)
        if outcome == Outcome.WRONG_CODE and is_query:
            raise message_parsing.Unreadable("outcome")
        return ChargeState(
            outcome=Outcome(outcome),
            amount_minor=message_parsing.parse_amount(response.message),
            currency=message_parsing.parse_text(response.message, "currency", 3),
        )
    except ValueError as error:
        return ChargeState(outcome=Outcome(_log_mismatch(error, reference)))


def _parse_transfer_state(response: RailResponse, reference: str, transfer: Transfer | None = None) -> TransferState:
    try:
        outcome = TransferOutcome(_parse_outcome(response, reference, transfer))
        if outcome is TransferOutcome.NOT_FOUND:
            return TransferState(outcome=outcome)
        reason = (
            message_parsing.parse_text(response.message, "reason", 200)
            if response.message.get("reason") is not None
            else None
        )
        return TransferState(
            outcome=outcome,
            reason=reason,
            amount_minor=message_parsing.parse_amount(response.message),
            currency=message_parsing.parse_text(response.message, "currency", 3),
        )
    except ValueError as error:
        return TransferState(outcome=TransferOutcome(_log_mismatch(error, reference)), reason="contradiction")


def _parse_outcome(response: RailResponse, reference: str, payment: Charge | Transfer | None) -> str:
    """The outcome in a response with our reference and amount. Raises message_parsing.Unreadable."""
    message = response.message
    if message.get("reference") != reference:
        raise message_parsing.Unreadable("reference")
    outcome = message_parsing.parse_text(message, "outcome", 20)
    if response.status == 404 and outcome == "not_found":
        return outcome
    if response.status not in OUTCOME_STATUSES or outcome == "not_found":
        raise message_parsing.Unreadable(f"status {response.status}")
    amount = message_parsing.parse_amount(message), message_parsing.parse_text(message, "currency", 3)
    if payment is not None and amount != (payment.amount_minor, payment.currency):
        raise message_parsing.Unreadable("amount")
    return outcome


def _log_mismatch(error: ValueError, reference: str) -> str:
    log.error("payrail.contradiction", problem=str(error)[:80], reference=reference)
    return "unknown"
