"""The operations of the protocol of docs/payrail.md: what each request does, and its response."""

import re
import time
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import unquote

from app.clients.payrail.message_parsing import Unreadable, parse_amount, parse_message, parse_text
from mock_rail import rules
from mock_rail.callbacks import CallbackSender
from mock_rail.faults import TRANSFERS, Faults
from mock_rail.rules import Pace, StoredCharge, StoredTransfer
from mock_rail.store import Clock, Store

Message = dict[str, Any]
Response = tuple[int, Message]
"""The status and the message of a response."""
_ROUTES = (
    ("start", "POST", re.compile(r"/v1/charges")),
    ("confirm", "POST", re.compile(r"/v1/charges/([^/]+)/confirm")),
    ("refund", "POST", re.compile(r"/v1/charges/([^/]+)/refund")),
    ("status", "GET", re.compile(r"/v1/charges/([^/]+)")),
    ("send", "POST", re.compile(r"/v1/transfers")),
    ("status", "GET", re.compile(r"/v1/transfers/([^/]+)")),
)
MAX_REFERENCE = 80
REFERENCE_REUSED: Response = (409, {"error": "reference_reused"})


@dataclass(frozen=True)
class Request:
    """A request: its operation, whether it is about a charge, the reference and the message."""

    operation: str
    is_charge: bool
    reference: str
    message: Message


def parse_request(method: str, path: str, body: bytes) -> Request | None:
    """Parse a request; None for an unknown path. Raises Unreadable."""
    for operation, expected_method, pattern in _ROUTES:
        match = pattern.fullmatch(path)
        if match and expected_method == method:
            message = dict(parse_message(body)) if method == "POST" else {}
            reference = unquote(match[1]) if match.groups() else parse_text(message, "reference", MAX_REFERENCE)
            return Request(operation, path.startswith("/v1/charges"), reference, message)
    return None


class Operations:
    """Carries out requests on the stored charges and transfers."""

    def __init__(self, store: Store, clock: Clock, faults: Faults, callbacks: CallbackSender, pace: Pace) -> None:
        self._store, self._clock, self._faults, self._callbacks = store, clock, faults, callbacks
        self.pace = pace

    def handle(self, request: Request) -> Response:
        """Carry out a request. Raises Unreadable if its message lacks something."""
        if request.operation == "send":
            return self._send_transfer(request)
        if request.operation == "start":
            return self._start_charge(request)
        if not request.is_charge:
            return self._describe_transfer(request.reference)
        charge = self._store.find_charge(request.reference)
        if charge is not None and request.operation == "confirm":
            return self._confirm_charge(charge, parse_text(request.message, "code", 12))
        if charge is not None and request.operation == "refund":
            self._refund_charge(request.reference)
        return self._describe_charge(request.reference)

    def end_charge(self, reference: str, state: str, known_after: float = 0.0) -> None:
        """End an open charge as `paid` or `declined`."""
        with self._store.lock:
            charge = self._store.find_charge(reference)
            if charge is None or charge.state != "open":
                return
            late = self._faults.take(("capture_late",), on="confirm", reference=reference)
            ended = replace(
                charge,
                state=state,
                known_at=self._clock.now() + (late.pause if late else known_after),
                outcome_until_known="code_sent" if late else "unknown",
            )
            self._store.save_charge(ended)
            self._callbacks.schedule_charge(ended)

    def _start_charge(self, request: Request) -> Response:
        amount_minor = parse_amount(request.message)
        currency = parse_text(request.message, "currency", 3)
        ending = parse_text(request.message, "msisdn", 20)[-4:]
        parse_text(request.message, "description", 200)
        known = self._store.find_charge(request.reference)
        if known and (known.amount_minor, known.currency) != (amount_minor, currency):
            return REFERENCE_REUSED
        self._wait_if_slow(ending)
        with self._store.lock:
            if self._store.find_charge(request.reference) is None:
                charge = StoredCharge(
                    reference=request.reference,
                    ending=ending,
                    amount_minor=amount_minor,
                    currency=currency,
                    started_at=self._clock.now(),
                )
                self._store.save_charge(charge)
        return self._describe_charge(request.reference)

    def _confirm_charge(self, charge: StoredCharge, code: str) -> Response:
        outcome = rules.find_charge_outcome(charge, self._clock.now(), self.pace)
        self._wait_if_slow(charge.ending)
        if outcome == "code_sent" and charge.state == "open":
            if not rules.is_code_right(code, charge.ending):
                return 200, _build_message(charge, "wrong_code")
            self.end_charge(charge.reference, *rules.decide_charge(charge.ending, self.pace))
        return self._describe_charge(charge.reference)

    def _refund_charge(self, reference: str) -> None:
        with self._store.lock:
            charge = self._store.find_charge(reference)
            if charge is not None and charge.state == "paid":
                refunded = replace(charge, state="refunded")
                self._store.save_charge(refunded)
                self._callbacks.schedule_charge(refunded)

    def _describe_charge(self, reference: str) -> Response:
        charge = self._store.find_charge(reference)
        if charge is None:
            return 404, {"reference": reference, "outcome": "not_found"}
        return 200, _build_message(charge, rules.find_charge_outcome(charge, self._clock.now(), self.pace))

    def _send_transfer(self, request: Request) -> Response:
        amount_minor = parse_amount(request.message)
        currency = parse_text(request.message, "currency", 3)
        ending = _parse_number(request.message.get("destination"))[-4:]
        parse_text(request.message, "description", 200)
        with self._store.lock:
            if not self._store.has_transfer(request.reference):
                now = self._clock.now()
                transfer = rules.decide_transfer(request.reference, ending, amount_minor, currency, now, self.pace)
                transfer = self._apply_fault(transfer)
                self._store.save_transfer(transfer)
                self._callbacks.schedule_transfer(transfer)
        self._wait_if_slow(ending)
        known = self._store.find_transfer(request.reference)
        if known and (known.amount_minor, known.currency, known.ending) != (amount_minor, currency, ending):
            return REFERENCE_REUSED
        return self._describe_transfer(request.reference)

    def _apply_fault(self, transfer: StoredTransfer) -> StoredTransfer:
        fault = self._faults.take(TRANSFERS, on="send", reference=transfer.reference)
        if fault is None:
            return transfer
        if fault.do == "decline":
            return replace(transfer, state="failed")
        if fault.do == "accept":
            return replace(transfer, settled_after=fault.pause)
        return replace(transfer, returned_after=fault.pause)

    def _describe_transfer(self, reference: str) -> Response:
        transfer = self._store.find_transfer(reference)
        if transfer is None:
            return 404, {"reference": reference, "outcome": "not_found"}
        outcome, reason = rules.find_transfer_outcome(transfer, self._clock.now())
        return 200, {**_build_message(transfer, outcome), **({"reason": reason} if reason else {})}

    def _wait_if_slow(self, ending: str) -> None:
        if rules.is_slow(ending):
            time.sleep(self.pace.slow_answer)


def _build_message(payment: StoredCharge | StoredTransfer, outcome: str) -> Message:
    return {
        "reference": payment.reference,
        "outcome": outcome,
        "amountMinor": payment.amount_minor,
        "currency": payment.currency,
    }


def _parse_number(destination: object) -> str:
    """The number of a wallet or bank account. Raises Unreadable."""
    if not isinstance(destination, dict) or destination.get("kind") not in ("wallet", "bank"):
        raise Unreadable("destination")
    if destination["kind"] == "wallet":
        return parse_text(destination, "msisdn", 20)
    for name, max_length in (("accountName", 140), ("bankName", 140), ("branchCode", 20)):
        parse_text(destination, name, max_length)
    return parse_text(destination, "accountNumber", 40)
