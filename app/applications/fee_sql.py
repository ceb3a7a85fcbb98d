"""SQL text of the books of stall fees. The checks return one column: a sentence for every difference."""

FEES_NOT_ACCOUNTED = """
    SELECT format('event %s: fees of %s are due; %s is paid, %s waived, %s refunded, %s open', event_id,
                  coalesce(due, 0), coalesce(paid, 0), coalesce(waived, 0), coalesce(refunded, 0), coalesce(open, 0))
      FROM (
           SELECT a.event_id,
                  sum(a.amount_minor) FILTER (
                      WHERE a.status IN ('awaiting_documents', 'awaiting_payment', 'ready', 'activated')
                         OR a.paid_at IS NOT NULL OR a.waived_at IS NOT NULL) AS due,
                  sum(r.amount_minor) AS waived,
                  sum(a.amount_minor) FILTER (
                      WHERE a.status IN ('awaiting_documents', 'awaiting_payment')
                        AND a.paid_at IS NULL AND a.waived_at IS NULL) AS open
             FROM merchant_application a
             LEFT JOIN stall_fee_record r ON r.application_id = a.id AND r.kind = 'waived'
            WHERE a.organiser_id IS NOT NULL GROUP BY a.event_id) fee
      FULL JOIN (
           SELECT event_id, sum(CASE kind WHEN 'stall_fee' THEN amount_minor ELSE -amount_minor END) AS paid,
                  sum(amount_minor) FILTER (WHERE kind = 'stall_fee_refund') AS refunded
             FROM ledger_transaction WHERE kind IN ('stall_fee', 'stall_fee_refund') GROUP BY event_id) booked
     USING (event_id)
     WHERE coalesce(due, 0) <> coalesce(paid, 0) + coalesce(waived, 0) + coalesce(refunded, 0) + coalesce(open, 0)
"""

FEES_UNLIKE_THEIR_BOOKINGS = """
    SELECT format('application %s: the records say %s %s on %s, the ledger %s on %s', reference, kind,
                  coalesce(recorded.amount, 0), coalesce(recorded.account, 'nothing'), coalesce(booked.amount, 0),
                  coalesce(booked.account, 'nothing'))
      FROM (
           SELECT a.id AS reference, 'stall_fee' AS kind, a.organiser_id AS owner, a.event_id, a.amount_minor AS amount,
                  CASE WHEN r.kind = 'received' THEN 'bank' ELSE 'rail_clearing' END AS account
             FROM merchant_application a LEFT JOIN stall_fee_record r ON r.application_id = a.id
            WHERE a.paid_at IS NOT NULL AND a.organiser_id IS NOT NULL
            UNION ALL
           SELECT a.id, 'stall_fee_refund', a.organiser_id, a.event_id, f.amount_minor,
                  CASE f.method WHEN 'rail' THEN 'rail_clearing' ELSE 'bank' END
             FROM stall_fee_refund f JOIN merchant_application a ON a.id = f.application_id
            WHERE f.status = 'refunded' AND a.organiser_id IS NOT NULL) recorded
      FULL JOIN (
           SELECT t.reference, t.kind, t.owner_id AS owner, t.event_id, t.amount_minor AS amount, e.account
             FROM ledger_transaction t
             JOIN ledger_entry e ON e.transaction_id = t.id AND e.account <> 'organisation'
            WHERE t.kind IN ('stall_fee', 'stall_fee_refund')) booked
     USING (reference, kind)
     WHERE (recorded.owner, recorded.event_id, recorded.amount, recorded.account)
           IS DISTINCT FROM (booked.owner, booked.event_id, booked.amount, booked.account)
"""

FEES_UNLIKE_THEIR_INVOICES = """
    SELECT format('application %s: %s was paid and %s refunded, %s is invoiced and %s credited', a.id,
                  CASE WHEN a.paid_at IS NULL THEN 0 ELSE a.amount_minor END, coalesce(f.amount_minor, 0),
                  coalesce(i.total_minor, 0), coalesce(-c.total_minor, 0))
      FROM merchant_application a
      LEFT JOIN stall_fee_invoice i ON i.application_id = a.id
      LEFT JOIN stall_fee_credit_note c ON c.application_id = a.id
      LEFT JOIN stall_fee_refund f ON f.application_id = a.id AND f.status = 'refunded'
     WHERE a.organiser_id IS NOT NULL
       AND (i.total_minor <> CASE WHEN a.paid_at IS NULL THEN 0 ELSE a.amount_minor END
            OR coalesce(-c.total_minor, 0) <> coalesce(f.amount_minor, 0)
            OR (c.id IS NOT NULL AND i.id IS NULL))
"""

BOOK_MISSING_FEES = """
    WITH fee AS (
        SELECT a.id, a.reference, a.organiser_id, a.event_id, a.amount_minor, a.paid_at,
               CASE WHEN r.kind = 'received' THEN 'bank' ELSE 'rail_clearing' END AS account
          FROM merchant_application a LEFT JOIN stall_fee_record r ON r.application_id = a.id
         WHERE a.paid_at IS NOT NULL AND a.organiser_id IS NOT NULL
           AND NOT EXISTS (SELECT FROM ledger_transaction t WHERE t.kind = 'stall_fee' AND t.reference = a.id)
    ), posted AS (
        INSERT INTO ledger_transaction (kind, reference, owner_id, event_id, amount_minor, occurred_at, description)
        SELECT 'stall_fee', id, organiser_id, event_id, amount_minor, paid_at, reference FROM fee
        RETURNING id, reference
    ), entries AS (
        INSERT INTO ledger_entry (transaction_id, owner_id, account, amount_minor)
        SELECT posted.id, fee.organiser_id, leg.account, leg.sign * fee.amount_minor
          FROM posted JOIN fee ON fee.id = posted.reference
         CROSS JOIN LATERAL (VALUES ('organisation', 1), (fee.account, -1)) AS leg (account, sign)
    )
    SELECT count(*) FROM posted
"""
