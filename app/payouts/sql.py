"""All SQL text of payouts. Parameters are the driver's: `%(name)s`.

The integrity checks have no parameters. Each returns one column: a sentence for every difference.
"""

# One row by primary keys and the index of scheduled payouts; it does not read ledger entries.
AVAILABILITY = """
    SELECT b.available_minor, b.held_minor, m.status, m.payout_details,
           (SELECT min(scheduled_for) FROM payout WHERE account_id = a.id AND status = 'scheduled')
      FROM (SELECT CAST(%(account_id)s AS text) COLLATE "C" AS id) a
      LEFT JOIN ledger_purse b ON b.owner_id = a.id
      LEFT JOIN merchant m ON m.account_id = a.id AND m.profile_id IS NOT NULL
"""

# An entry has the time at which its transaction began and becomes visible when that commits. The application's clock
# decides which month to write; it may be ahead of the database's clock.
MONTH_IS_OPEN = """
    SELECT now() < %(until)s OR EXISTS (
           SELECT FROM pg_stat_activity
            WHERE datname = current_database() AND backend_type = 'client backend'
              AND pid <> pg_backend_pid() AND xact_start < %(until)s)
"""

# Merchants without a movement in the month get no statement. It scans balances, one row per merchant, not entries.
CREATE_DUE_STATEMENTS = """
    INSERT INTO payout_statement (account_id, month)
    SELECT b.owner_id, %(month)s::date FROM ledger_purse b
     WHERE NOT EXISTS (SELECT 1 FROM payout_statement s
                        WHERE s.account_id = b.owner_id AND s.month = %(month)s::date)
       AND EXISTS (SELECT 1 FROM ledger_entry e
                    WHERE e.owner_id = b.owner_id AND e.posted_at >= %(since)s AND e.posted_at < %(until)s)
     ORDER BY b.owner_id LIMIT %(batch_size)s
    ON CONFLICT DO NOTHING RETURNING account_id
"""

HELD_AMOUNTS_UNLIKE_OPEN_PAYOUTS = """
    SELECT format('merchant %s has %s held, their open payouts come to %s',
                  owner_id, coalesce(b.held_minor, 0), coalesce(open.amount, 0))
      FROM ledger_purse b FULL JOIN (
           SELECT account_id AS owner_id, sum(amount_minor) AS amount FROM payout
            WHERE status IN ('scheduled', 'requested', 'processing', 'needs_review')
            GROUP BY account_id) open USING (owner_id)
     WHERE coalesce(b.held_minor, 0) <> coalesce(open.amount, 0)
"""

PAYOUTS_UNLIKE_THEIR_TRANSACTIONS = """
    SELECT format('payout %s is %s and booked as %s', id, status, coalesce(kinds, 'nothing'))
      FROM (SELECT p.id, p.status, string_agg(t.kind, ', ' ORDER BY t.id) AS kinds,
                   bool_or(t.amount_minor <> p.amount_minor OR t.owner_id <> p.account_id) AS is_other
              FROM payout p LEFT JOIN ledger_transaction t ON t.reference = p.id AND t.kind <> 'settlement'
             GROUP BY p.id) booked
     WHERE is_other
        OR kinds IS DISTINCT FROM CASE
           WHEN status IN ('scheduled', 'requested', 'processing', 'needs_review') THEN 'hold'
           WHEN status IN ('failed', 'cancelled') THEN 'hold, release'
           WHEN status = 'paid' THEN 'hold, payout'
           WHEN status = 'returned' THEN 'hold, payout, return' END
"""

PAYOUTS_UNLIKE_THEIR_HISTORY = """
    SELECT format('payout %s is %s, its history says %s', p.id, p.status, e.to_status)
      FROM payout p LEFT JOIN LATERAL (
           SELECT to_status FROM payout_event WHERE payout_id = p.id ORDER BY id DESC LIMIT 1) e ON true
     WHERE e.to_status IS DISTINCT FROM p.status
"""

PAYOUTS_SUBMITTED_TOO_EARLY = """
    SELECT format('payout %s was submitted at %s, its owner was told at %s, it was on hold until %s',
                  id, submitted_at, coalesce(CAST(owner_told_at AS text), 'no time'), held_until)
      FROM payout
     WHERE held_until IS NOT NULL AND submitted_at IS NOT NULL
       AND (owner_told_at IS NULL OR submitted_at < held_until)
"""

OVERDUE_PAYOUTS_WITHOUT_REVIEW = """
    SELECT format('payout %s was submitted at %s and is %s', id, submitted_at, status)
      FROM payout p
     WHERE status IN ('processing', 'needs_review') AND submitted_at < now() - interval '73 hours'
       AND NOT EXISTS (SELECT 1 FROM payout_review r WHERE r.reference = p.id)
"""
