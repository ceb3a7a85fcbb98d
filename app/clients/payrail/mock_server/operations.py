"""The operations of the wire protocol, on the same `MockRail` that serves PAYRAIL_MODE=mock."""

import re
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from app.clients.payrail import message_parsing, mock_rules
from app.clients.payrail.interface import BankAccount, Charge, ChargeState, Transfer, TransferOutcome, Wallet
from app.clients.payrail.mock import Book, MockRail

Said = dict[str, Any]
_ROUTES = (
    ("start", "POST", re.compile(r"/v1/charges")),
    ("confirm", "POST", re.compile(r"/v1/charges/([^/]+)/confirm")),
    ("refund", "POST", re.compile(r"/v1/charges/([^/]+)/refund")),
    ("status", "GET", re.compile(r"/v1/charges/([^/]+)")),
    ("send", "POST", re.compile(r"/v1/transfers")),
    ("status", "GET", re.compile(r"/v1/transfers/([^/]+)")),
)
LONGEST = 80


@dataclass(frozen=True)
class Asked:
    """What a request wants: the operation's name, of a charge or a transfer, under which reference."""

    on: str
    charges: bool
    reference: str
    body: Said


def parse_request(method: str, path: str, raw: bytes) -> Asked | None:
    """What a request wants, None where there is nothing. Raises message_parsing.Unreadable."""
    for on, verb, pattern in _ROUTES:
        match = pattern.fullmatch(path)
        if match and verb == method:
            body = dict(message_parsing.parse_message(raw)) if verb == "POST" else {}
            reference = unquote(match[1]) if match.groups() else message_parsing.parse_text(body, "reference", LONGEST)
            return Asked(on, path.startswith("/v1/charges"), reference, body)
    return None


class Operations:
    """What each operation does and says."""

    def __init__(self, rail: MockRail, book: Book) -> None:
        self._rail, self._book = rail, book

    def answer(self, what: Asked) -> tuple[int, Said]:
        """HTTP status and message. Raises message_parsing.Unreadable for a body that does not say what is needed."""
        if what.on == "send":
            return self._send(what)
        if what.on == "start":
            return self._start(what)
        if what.on == "confirm" and self._book.charge(what.reference) is not None:
            state = self._rail.confirm_charge(what.reference, message_parsing.parse_text(what.body, "code", 12))
            return self._charge(what.reference, state)
        if what.on == "refund" and self._book.charge(what.reference) is not None:
            return self._charge(what.reference, self._rail.refund_charge(what.reference))
        if what.charges:
            return self._charge(what.reference, self._rail.charge_status(what.reference))
        return self._transfer(what.reference)

    def _start(self, what: Asked) -> tuple[int, Said]:
        charge = Charge(
            reference=what.reference,
            amount_minor=message_parsing.parse_amount(what.body),
            currency=message_parsing.parse_text(what.body, "currency", 3),
            msisdn=message_parsing.parse_text(what.body, "msisdn", 20),
            description=message_parsing.parse_text(what.body, "description", 200),
        )
        known = self._book.charge(charge.reference)
        if known and (known.amount_minor, known.currency) != (charge.amount_minor, charge.currency):
            return 409, {"error": "reference_reused"}
        return self._charge(charge.reference, self._rail.start_charge(charge))

    def _send(self, what: Asked) -> tuple[int, Said]:
        transfer = Transfer(
            reference=what.reference,
            amount_minor=message_parsing.parse_amount(what.body),
            currency=message_parsing.parse_text(what.body, "currency", 3),
            destination=_destination(what.body.get("destination")),
            description=message_parsing.parse_text(what.body, "description", 200),
        )
        self._rail.send_transfer(transfer)
        known, _ = self._book.transfer(transfer.reference)
        result = transfer.amount_minor, transfer.currency, mock_rules.number_of(transfer.destination)[-4:]
        if known is not None and (known.amount_minor, known.currency, known.ending) != result:
            return 409, {"error": "reference_reused"}
        return self._transfer(transfer.reference)

    def _charge(self, reference: str, state: ChargeState) -> tuple[int, Said]:
        if self._book.charge(reference) is None:
            return 404, {"reference": reference, "outcome": "not_found"}
        money = {"amountMinor": state.amount_minor, "currency": state.currency}
        return 200, {"reference": reference, "outcome": state.outcome.value, **money}

    def _transfer(self, reference: str) -> tuple[int, Said]:
        state = self._rail.transfer_status(reference)
        if state.outcome is TransferOutcome.NOT_FOUND:
            return 404, {"reference": reference, "outcome": "not_found"}
        reason = {"reason": state.reason} if state.reason else {}
        money = {"amountMinor": state.amount_minor, "currency": state.currency}
        return 200, {"reference": reference, "outcome": state.outcome.value, **reason, **money}


def _destination(said: object) -> Wallet | BankAccount:
    if not isinstance(said, dict) or said.get("kind") not in ("wallet", "bank"):
        raise message_parsing.Unreadable("destination")
    if said["kind"] == "wallet":
        return Wallet(msisdn=message_parsing.parse_text(said, "msisdn", 20))
    return BankAccount(
        account_name=message_parsing.parse_text(said, "accountName", 140),
        account_number=message_parsing.parse_text(said, "accountNumber", 40),
        bank_name=message_parsing.parse_text(said, "bankName", 140),
        branch_code=message_parsing.parse_text(said, "branchCode", 20),
    )
