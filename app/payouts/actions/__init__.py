"""What merchants, the rail and operators do to payouts: one verb, one transaction."""

from app.payouts import farewell
from app.payouts.actions.cancel import cancel_payout
from app.payouts.actions.hear import hear
from app.payouts.actions.request import request_payout
from app.payouts.actions.stop import stop_payouts

__all__ = ["cancel_payout", "farewell", "hear", "request_payout", "stop_payouts"]
