"""What must hold between payouts and the ledger: `flask ledger verify` checks it along with the ledger's own laws."""

from app.ledger.integrity_check import register_check
from app.payouts.states import CANCELLED, FAILED, OPEN_STATES, PAID, RETURNED

_OPEN_STATES_SQL = ", ".join(map(repr, OPEN_STATES))
_EXPECTED_TRANSACTIONS = {
    **dict.fromkeys(OPEN_STATES, "hold"),
    FAILED: "hold, release",
    CANCELLED: "hold, release",
    PAID: "hold, payout",
    RETURNED: "hold, payout, return",
}
_EXPECTED_CASES_SQL = " ".join(f"WHEN '{status}' THEN '{kinds}'" for status, kinds in _EXPECTED_TRANSACTIONS.items())

register_check(
    "what is held is what open payouts hold",
    f"""SELECT format('merchant %s has %s held, their open payouts come to %s',
                      owner_id, coalesce(p.held_minor, 0), coalesce(o.amount, 0))
          FROM ledger_purse p FULL JOIN (
               SELECT account_id AS owner_id, sum(amount_minor) AS amount FROM payout
                WHERE status IN ({_OPEN_STATES_SQL}) GROUP BY account_id) o USING (owner_id)
         WHERE coalesce(p.held_minor, 0) <> coalesce(o.amount, 0)""",
)
register_check(
    "every payout is booked as its state says, once",
    f"""SELECT format('payout %s is %s and booked as %s', id, status, coalesce(kinds, 'nothing'))
          FROM (SELECT p.id, p.status, string_agg(t.kind, ', ' ORDER BY t.id) AS kinds,
                       bool_or(t.amount_minor <> p.amount_minor OR t.owner_id <> p.account_id) AS other
                  FROM payout p LEFT JOIN ledger_transaction t ON t.reference = p.id AND t.kind <> 'settlement'
                 GROUP BY p.id) found
         WHERE other OR kinds IS DISTINCT FROM CASE status {_EXPECTED_CASES_SQL} END""",
)
register_check(
    "every payout's history ends where it stands",
    """SELECT format('payout %s is %s, its history says %s', p.id, p.status, e.to_status)
         FROM payout p LEFT JOIN LATERAL (
              SELECT to_status FROM payout_event WHERE payout_id = p.id ORDER BY id DESC LIMIT 1) e ON true
        WHERE e.to_status IS DISTINCT FROM p.status""",
)
register_check(
    "no payout to a new destination leaves before its owner was told and could stop it",
    """SELECT format('payout %s was submitted at %s, its owner was told at %s, it rested until %s',
                     id, submitted_at, coalesce(CAST(owner_told_at AS text), 'no time'), held_until) FROM payout
        WHERE held_until IS NOT NULL AND submitted_at IS NOT NULL
          AND (owner_told_at IS NULL OR submitted_at < held_until)""",
)
register_check(
    "no payout is without an outcome for longer than 72 hours unless somebody is told",
    """SELECT format('payout %s was submitted at %s and is %s', id, submitted_at, status) FROM payout p
        WHERE status IN ('processing', 'needs_review') AND submitted_at < now() - interval '73 hours'
          AND NOT EXISTS (SELECT 1 FROM payout_review r WHERE r.reference = p.id)""",
)
