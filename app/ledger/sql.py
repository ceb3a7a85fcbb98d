"""All SQL text of the ledger. Parameters are the driver's: `%(name)s`.

The integrity checks have no parameters. Each returns one column: a sentence for every difference.
"""

POST_TRANSACTION = """
    WITH balance AS (
        UPDATE ledger_purse
           SET available_minor = available_minor + %(available_change)s, held_minor = held_minor + %(held_change)s
         WHERE owner_id = %(owner_id)s
           AND available_minor + %(available_change)s >= 0 AND held_minor + %(held_change)s >= 0
        RETURNING available_minor, held_minor
    ), posted AS (
        INSERT INTO ledger_transaction (kind, reference, owner_id, amount_minor, description)
        SELECT %(kind)s, %(reference)s, %(owner_id)s, %(amount)s, %(description)s FROM balance RETURNING id
    ), entries AS (
        INSERT INTO ledger_entry (transaction_id, owner_id, account, amount_minor, balance_after_minor)
        SELECT posted.id, %(owner_id)s, leg.account, leg.amount,
               CASE leg.account WHEN 'merchant_balance' THEN available_minor WHEN 'merchant_held' THEN held_minor END
          FROM balance, posted, unnest(%(accounts)s::text[], %(amounts)s::bigint[]) AS leg (account, amount)
    )
    SELECT available_minor, held_minor FROM balance
"""
"""Returns the new balances, or no row when the balance is missing or too low; then nothing is written."""

POST_EVENT_TRANSACTION = """
    WITH posted AS (
        INSERT INTO ledger_transaction (kind, reference, owner_id, event_id, amount_minor, description)
        VALUES (%(kind)s, %(reference)s, %(owner_id)s, %(event_id)s, %(amount)s, %(description)s) RETURNING id
    )
    INSERT INTO ledger_entry (transaction_id, owner_id, account, amount_minor)
    SELECT posted.id, %(owner_id)s, leg.account, leg.amount
      FROM posted, unnest(%(accounts)s::text[], %(amounts)s::bigint[]) AS leg (account, amount)
    RETURNING id
"""

SETTLEMENT_TIMEOUTS = (
    "SET LOCAL lock_timeout = '60s'",
    "SET LOCAL statement_timeout = '10min'",
    "SET LOCAL idle_in_transaction_session_timeout = '10min'",
)

# FOR SHARE makes the deletion of a merchant wait for the import, or the import for the deletion.
LOCK_MERCHANTS = """
    SELECT id, email FROM account
     WHERE (id = ANY(%(ids)s) OR email = ANY(%(emails)s)) AND roles @> ARRAY['merchant']::varchar[]
     ORDER BY id FOR SHARE
"""

POSTED_SETTLEMENTS = """
    SELECT reference, owner_id, amount_minor FROM ledger_transaction
     WHERE kind = 'settlement' AND reference = ANY(%(references)s)
"""

POST_CREDITS = """
    WITH credit AS MATERIALIZED (
        SELECT * FROM unnest(%(references)s::text[], %(owner_ids)s::text[], %(amounts)s::bigint[],
                             %(occurred_at)s::timestamptz[], %(descriptions)s::text[])
                      WITH ORDINALITY AS row (reference, owner_id, amount, occurred_at, description, position)
    ), balance AS (
        INSERT INTO ledger_purse AS old (owner_id, available_minor)
        SELECT owner_id, sum(amount) FROM credit GROUP BY owner_id ORDER BY owner_id
        ON CONFLICT (owner_id) DO UPDATE SET available_minor = old.available_minor + excluded.available_minor
        RETURNING owner_id, available_minor
    ), posted AS (
        INSERT INTO ledger_transaction (kind, reference, owner_id, amount_minor, occurred_at, description)
        SELECT 'settlement', reference, owner_id, amount, coalesce(occurred_at, now()), description
          FROM credit ORDER BY position
        RETURNING id, reference
    ), entries AS (
        INSERT INTO ledger_entry (transaction_id, owner_id, account, amount_minor, balance_after_minor)
        SELECT posted.id, credit.owner_id, leg.account, leg.sign * credit.amount,
               CASE leg.account WHEN 'merchant_balance'
                    THEN balance.available_minor - credit.owner_total + credit.owner_running_total END
          FROM (SELECT *, sum(amount) OVER (PARTITION BY owner_id) AS owner_total,
                       sum(amount) OVER (PARTITION BY owner_id ORDER BY position) AS owner_running_total
                  FROM credit) credit
          JOIN balance ON balance.owner_id = credit.owner_id
          JOIN posted ON posted.reference = credit.reference
         CROSS JOIN (VALUES ('platform', -1), ('merchant_balance', 1)) AS leg (account, sign)
         ORDER BY credit.position, leg.sign
    )
    SELECT count(*) FROM credit
"""
"""Posts a page of credits; their owners are locked."""

CHECK_TIMEOUTS = ("SET LOCAL statement_timeout = '30min'", "SET LOCAL idle_in_transaction_session_timeout = '30min'")

UNBALANCED_TRANSACTIONS = """
    SELECT format('transaction %s sums to %s', transaction_id, sum(amount_minor))
      FROM ledger_entry GROUP BY transaction_id HAVING sum(amount_minor) <> 0
"""

UNBALANCED_LEDGER = """
    SELECT format('all entries sum to %s', sum(amount_minor)) FROM ledger_entry HAVING sum(amount_minor) <> 0
"""

TRANSACTIONS_UNLIKE_THEIR_ENTRIES = """
    SELECT format('transaction %s (%s %s) says %s, its entries %s', t.id, t.kind, t.reference, t.amount_minor,
                  coalesce(sum(e.amount_minor) FILTER (WHERE e.amount_minor > 0), 0))
      FROM ledger_transaction t LEFT JOIN ledger_entry e ON e.transaction_id = t.id AND e.owner_id = t.owner_id
     GROUP BY t.id
    HAVING coalesce(sum(e.amount_minor) FILTER (WHERE e.amount_minor > 0), 0) <> t.amount_minor
"""

BALANCES_UNLIKE_THEIR_ENTRIES = """
    SELECT format('merchant %s has %s available and %s held, by the entries %s and %s',
                  owner_id, p.available_minor, p.held_minor, coalesce(e.available, 0), coalesce(e.held, 0))
      FROM ledger_purse p FULL JOIN (
           SELECT owner_id, coalesce(sum(amount_minor) FILTER (WHERE account = 'merchant_balance'), 0) AS available,
                  coalesce(sum(amount_minor) FILTER (WHERE account = 'merchant_held'), 0) AS held
             FROM ledger_entry GROUP BY owner_id) e USING (owner_id)
     WHERE (coalesce(p.available_minor, 0), coalesce(p.held_minor, 0))
           <> (coalesce(e.available, 0), coalesce(e.held, 0))
"""

WRONG_RUNNING_BALANCES = """
    SELECT format('entry %s of merchant %s says %s on %s, the entries up to it %s',
                  id, owner_id, balance_after_minor, account, running_total)
      FROM (SELECT id, owner_id, account, balance_after_minor,
                   sum(amount_minor) OVER (PARTITION BY owner_id, account ORDER BY id) AS running_total
              FROM ledger_entry WHERE account IN ('merchant_balance', 'merchant_held')) e
     WHERE running_total <> balance_after_minor
"""
