"""The money of a merchant in the copy of a person's data: payouts with their whole destinations, and the ledger."""

from sqlalchemy import select

from app.accounts.data_export import ExportOwner, export_part, list_rows
from app.core.db import db
from app.ledger.models import MERCHANT_ACCOUNTS, Balance, LedgerEntry, LedgerTransaction
from app.payouts.destination_encryption import decrypt_destination
from app.payouts.models import Payout


@export_part("payouts")
def export_payouts(owner: ExportOwner) -> list[dict[str, object]]:
    query = select(Payout).where(Payout.account_id == owner.account_id).order_by(Payout.created_at, Payout.id)
    return [
        {
            "id": payout.id,
            "amount_minor": payout.amount_minor,
            "destination": payout.destination,
            "paid_to": decrypt_destination(owner.account_id, payout.destination, payout.sealed_to) or payout.shown_as,
            "mode": payout.mode,
            "scheduled_for": payout.scheduled_for,
            "status": payout.status,
            "reason": payout.reason,
            "created_at": payout.created_at,
            "submitted_at": payout.submitted_at,
            "settled_at": payout.settled_at,
        }
        for payout in db.session.scalars(query)
    ]


@export_part("balance")
def export_balance(owner: ExportOwner) -> dict[str, object]:
    balances = list_rows(
        select(Balance.available_minor, Balance.held_minor).where(Balance.owner_id == owner.account_id)
    )
    entries_query = (
        select(
            LedgerEntry.posted_at,
            LedgerTransaction.kind,
            LedgerTransaction.reference,
            LedgerTransaction.description,
            LedgerEntry.account,
            LedgerEntry.amount_minor,
            LedgerEntry.balance_after_minor,
        )
        .join(LedgerTransaction, LedgerTransaction.id == LedgerEntry.transaction_id)
        .where(LedgerEntry.owner_id == owner.account_id, LedgerEntry.account.in_(MERCHANT_ACCOUNTS))
        .order_by(LedgerEntry.posted_at, LedgerEntry.id)
    )
    return {**balances[0], "entries": list_rows(entries_query)} if balances else {}
