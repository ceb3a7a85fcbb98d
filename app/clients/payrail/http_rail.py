"""The rail over HTTP, by the protocol of docs/payrail.md: this file says what is asked and what an answer means.

An adapter for another rail is this file again, with that rail's paths and words; time limits, signatures, repeats and
the breaker are `exchange.py`'s.
"""

import time
from dataclasses import dataclass, field
from threading import Lock
from typing import Any
from urllib.parse import quote

import structlog

from app.clients.payrail import message_parsing
from app.clients.payrail.errors import PayrailUnavailable
from app.clients.payrail.http_client import Answer, Exchange, NoAnswer
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

SAID = (200, 201, 202, 422)
PROBE, UP, DOWN = 0.8, 5.0, 1.0
UNKNOWN = TransferState(outcome=TransferOutcome.UNKNOWN)
UNKNOWN_CHARGE = ChargeState(outcome=Outcome.UNKNOWN)
ORDER, QUESTION = "order", "question"
log = structlog.get_logger(__name__)


@dataclass
class Reach:
    """What the last look at the rail found; it holds 5 s when the rail was there, 1 s when not."""

    up: bool = False
    until: float = float("-inf")
    lock: Lock = field(default_factory=Lock)


@dataclass(frozen=True)
class LiveRail:
    """What PAYRAIL_MODE=live gives."""

    exchange: Exchange
    reach: Reach = field(default_factory=Reach)

    def check(self) -> None:
        """Nothing is asked: a rail that is away is an outcome that is not known."""

    def reachable(self) -> bool:
        with self.reach.lock:
            if time.monotonic() >= self.reach.until:
                self.reach.up = self.exchange.reachable(PROBE)
                self.reach.until = time.monotonic() + (UP if self.reach.up else DOWN)
            return self.reach.up

    def breaker_state(self) -> str | None:
        return self.exchange.breaker_state()

    def start_charge(self, charge: Charge) -> ChargeState:
        said = {
            "reference": charge.reference,
            "amountMinor": charge.amount_minor,
            "currency": charge.currency,
            "msisdn": charge.msisdn,
            "description": charge.description,
        }
        try:
            answer = self.exchange.ask("POST", "/v1/charges", said, reference=charge.reference)
        except NoAnswer:
            return UNKNOWN_CHARGE
        return _charge_state(answer, charge.reference, about=ORDER, charge=charge)

    def confirm_charge(self, reference: str, code: str) -> ChargeState:
        try:
            answer = self.exchange.ask(
                "POST", _of("charges", reference, "/confirm"), {"code": code}, reference=reference
            )
        except NoAnswer as missed:
            if missed.reached:
                return UNKNOWN_CHARGE
            raise PayrailUnavailable(retry_after=5) from missed
        return _charge_state(answer, reference, about=ORDER)

    def charge_status(self, reference: str) -> ChargeState:
        try:
            answer = self.exchange.ask("GET", _of("charges", reference), reference=reference, repeatable=True)
        except NoAnswer:
            return UNKNOWN_CHARGE
        return _charge_state(answer, reference, about=QUESTION)

    def refund_charge(self, reference: str) -> ChargeState:
        try:
            answer = self.exchange.ask("POST", _of("charges", reference, "/refund"), {}, reference=reference)
        except NoAnswer:
            return UNKNOWN_CHARGE
        return _charge_state(answer, reference, about=ORDER)

    def send_transfer(self, transfer: Transfer) -> TransferState:
        said = {
            "reference": transfer.reference,
            "amountMinor": transfer.amount_minor,
            "currency": transfer.currency,
            "destination": _destination(transfer.destination),
            "description": transfer.description,
        }
        try:
            answer = self.exchange.ask("POST", "/v1/transfers", said, reference=transfer.reference)
        except NoAnswer:
            return UNKNOWN
        state = _transfer_state(answer, transfer.reference, transfer)
        # "Not found" answers a question, never an order.
        return UNKNOWN if state.outcome is TransferOutcome.NOT_FOUND else state

    def transfer_status(self, reference: str) -> TransferState:
        try:
            answer = self.exchange.ask("GET", _of("transfers", reference), reference=reference, repeatable=True)
        except NoAnswer:
            return UNKNOWN
        return _transfer_state(answer, reference)


def _of(kind: str, reference: str, more: str = "") -> str:
    return f"/v1/{kind}/{quote(reference, safe='')}{more}"


def _destination(to: Wallet | BankAccount) -> dict[str, str]:
    if isinstance(to, Wallet):
        return {"kind": "wallet", "msisdn": to.msisdn}
    return {
        "kind": "bank",
        "accountName": to.account_name,
        "accountNumber": to.account_number,
        "bankName": to.bank_name,
        "branchCode": to.branch_code,
    }


def _charge_state(answer: Answer, reference: str, *, about: str, charge: Charge | None = None) -> ChargeState:
    """What an answer says. "Not found" answers a question, never an order; "wrong code" an order, never a question."""
    try:
        word = _heard(answer, reference, charge)
        if word == "not_found" and about == QUESTION:
            return ChargeState(outcome=Outcome.DECLINED)
        if word == Outcome.WRONG_CODE and about == QUESTION:
            raise message_parsing.Unreadable("outcome")
        return ChargeState(
            outcome=Outcome(word),
            amount_minor=message_parsing.amount(answer.said),
            currency=message_parsing.word(answer.said, "currency", 3),
        )
    except ValueError as error:
        return ChargeState(outcome=Outcome(_disbelieved(error, reference)))


def _transfer_state(answer: Answer, reference: str, transfer: Transfer | None = None) -> TransferState:
    try:
        outcome = TransferOutcome(_heard(answer, reference, transfer))
        if outcome is TransferOutcome.NOT_FOUND:
            return TransferState(outcome=outcome)
        reason = message_parsing.word(answer.said, "reason", 200) if answer.said.get("reason") is not None else None
        return TransferState(
            outcome=outcome,
            reason=reason,
            amount_minor=message_parsing.amount(answer.said),
            currency=message_parsing.word(answer.said, "currency", 3),
        )
    except ValueError as error:
        return TransferState(outcome=TransferOutcome(_disbelieved(error, reference)), reason="contradiction")


def _heard(answer: Answer, reference: str, charge: Charge | Transfer | None) -> str:
    """The outcome in an answer that is about our reference and our amount. Raises wire.Unreadable."""
    said: dict[str, Any] = answer.said
    if said.get("reference") != reference:
        raise message_parsing.Unreadable("reference")
    outcome = message_parsing.word(said, "outcome", 20)
    if answer.status == 404 and outcome == "not_found":
        return outcome
    if answer.status not in SAID or outcome == "not_found":
        raise message_parsing.Unreadable(f"status {answer.status}")
    result = message_parsing.amount(said), message_parsing.word(said, "currency", 3)
    if charge is not None and result != (charge.amount_minor, charge.currency):
        raise message_parsing.Unreadable("amount")
    return outcome


def _disbelieved(error: ValueError, reference: str) -> str:
    log.error("payrail.contradiction", about=str(error)[:80], reference=reference)
    return "unknown"
