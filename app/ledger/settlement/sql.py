"""The set-based half of a settlement: pages of a few thousand credits, each booked by one statement."""

from sqlalchemy import text

TIMEOUTS_SQL = (
    "SET LOCAL lock_timeout = '60s'",
    "SET LOCAL statement_timeout = '10min'",
    "SET LOCAL idle_in_transaction_session_timeout = '10min'",
)
# One file at a time: of two with the same reference the second finds what the first has booked.
LOCK_SETTLEMENT_SQL = text("SELECT pg_advisory_xact_lock(7161005)")
# Anyone who deletes themselves as a merchant waits for the file, or the file for them.
LOCK_MERCHANTS_SQL = text("""
    SELECT id, email FROM account
     WHERE (id = ANY(:ids) OR email = ANY(:emails)) AND roles @> ARRAY['merchant']::varchar[]
     ORDER BY id FOR SHARE
""")
BOOKED_TRANSACTIONS_SQL = text("""
    SELECT reference, owner_id, amount_minor FROM ledger_transaction
     WHERE kind = 'settlement' AND reference = ANY(:references)
""")
BOOK_CREDITS_SQL = text("""
    WITH given AS MATERIALIZED (
        SELECT * FROM unnest(CAST(:references AS text[]), CAST(:owners AS text[]), CAST(:amounts AS bigint[]),
                             CAST(:moments AS timestamptz[]), CAST(:descriptions AS text[]))
                      WITH ORDINALITY AS row (reference, owner, amount, occurred_at, description, place)
    ), purse AS (
        INSERT INTO ledger_purse AS p (owner_id, available_minor)
        SELECT owner, sum(amount) FROM given GROUP BY owner ORDER BY owner
        ON CONFLICT (owner_id) DO UPDATE SET available_minor = p.available_minor + excluded.available_minor
        RETURNING owner_id, available_minor
    ), posted AS (
        INSERT INTO ledger_transaction (kind, reference, owner_id, amount_minor, occurred_at, description)
        SELECT 'settlement', reference, owner, amount, coalesce(occurred_at, now()), description
          FROM given ORDER BY place
        RETURNING id, reference
    )
    INSERT INTO ledger_entry (transaction_id, owner_id, account, amount_minor, balance_after_minor)
    SELECT posted.id, given.owner, leg.account, leg.sign * given.amount,
           CASE leg.account WHEN 'merchant_balance' THEN purse.available_minor - given.total + given.so_far END
      FROM (SELECT *, sum(amount) OVER (PARTITION BY owner) AS total,
                   sum(amount) OVER (PARTITION BY owner ORDER BY place) AS so_far FROM given) given
      JOIN purse ON purse.owner_id = given.owner
      JOIN posted ON posted.reference = given.reference
     CROSS JOIN (VALUES ('platform', -1), ('merchant_balance', 1)) AS leg (account, sign)
     ORDER BY given.place, leg.sign
""")
