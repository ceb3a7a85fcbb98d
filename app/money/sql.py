"""SQL text of the journal and of the VAT. Parameters are the driver's: `organisation_id, since, until, event_id`."""

from app.core.formatting import HOME
from app.core.spreadsheet_cells import escape_sql

BANK, RAIL, RECEIVABLES, VAT, PLACES, STALL_FEES = "1000", "1010", "1100", "2100", "4000", "4100"
ACCOUNTS = {
    BANK: "Bank",
    RAIL: "Payment rail clearing",
    RECEIVABLES: "Receivables",
    VAT: "VAT output",
    PLACES: "Places in blocks",
    STALL_FEES: "Stall fees",
}
DOCUMENTS_SQL = f"""
    SELECT i.number, i.kind, i.issued_at, i.event_id, i.total_minor, i.paper, '{PLACES}' AS income
      FROM invoice i WHERE i.organiser_id = %(organisation_id)s
     UNION ALL
    SELECT f.number, 'invoice', f.issued_at, a.event_id, f.total_minor, f.paper, '{STALL_FEES}'
      FROM stall_fee_invoice f JOIN merchant_application a ON a.id = f.application_id
     WHERE f.organiser_id = %(organisation_id)s
     UNION ALL
    SELECT c.number, 'credit_note', c.issued_at, a.event_id, c.total_minor, c.paper, '{STALL_FEES}'
      FROM stall_fee_credit_note c JOIN merchant_application a ON a.id = c.application_id
     WHERE c.organiser_id = %(organisation_id)s
"""
"""The invoices and credit notes of an organisation; a credit note has negative amounts."""

TAXED_DOCUMENTS_SQL = f"""
    SELECT number, kind, issued_at, event_id, total_minor, income, paper,
           CASE WHEN paper ->> 'vat_number' <> '' THEN CAST(paper ->> 'vat_minor' AS bigint) ELSE 0 END AS vat_minor,
           CASE WHEN paper ->> 'vat_number' <> '' THEN CAST(paper ->> 'vat_percent' AS numeric) END AS vat_percent
      FROM ({DOCUMENTS_SQL}) document
     WHERE issued_at >= (CAST(%(since)s AS date))::timestamp AT TIME ZONE '{HOME}'
       AND issued_at < (CAST(%(until)s AS date) + 1)::timestamp AT TIME ZONE '{HOME}'
       AND (%(event_id)s::text IS NULL OR event_id = %(event_id)s)
"""

_ACCOUNT_NAMES = ", ".join(f"('{code}', '{name}')" for code, name in ACCOUNTS.items())

JOURNAL_SQL = f"""
    WITH document AS ({TAXED_DOCUMENTS_SQL}), leg AS (
        SELECT issued_at AS at, 'D-' || number AS entry, account.code, account.amount, account.vat_percent,
               account.vat_minor, number AS document, paper -> 'buyer' ->> 0 AS description, event_id,
               NULL::date AS received_on, NULL::text AS transfer
          FROM document
         CROSS JOIN LATERAL (VALUES ('{RECEIVABLES}', total_minor, NULL, NULL, 1),
                                    (income, vat_minor - total_minor, vat_percent, vat_minor, 2),
                                    ('{VAT}', -vat_minor, vat_percent, NULL, 3))
               AS account (code, amount, vat_percent, vat_minor, position)
         UNION ALL
        SELECT t.occurred_at, 'L-' || t.id,
               CASE e.account WHEN 'bank' THEN '{BANK}' WHEN 'rail_clearing' THEN '{RAIL}' ELSE '{RECEIVABLES}' END,
               -e.amount_minor, NULL, NULL, coalesce(d.number, t.description),
               concat_ws(': ',
                         CASE WHEN t.kind = 'stall_fee' THEN 'Stall fee paid'
                              WHEN t.kind = 'stall_fee_refund' THEN 'Stall fee refunded'
                              WHEN p.takes_back IS NOT NULL THEN 'Payment for an invoice of a block taken back'
                              WHEN p.amount_minor < 0 THEN 'Paid back for an invoice of a block'
                              ELSE 'Invoice of a block paid' END,
                         coalesce(d.paper, i.paper) -> 'buyer' ->> 0),
               t.event_id, CASE WHEN p.takes_back IS NULL THEN coalesce(p.received_on, f.received_on) END,
               coalesce(p.reference, f.reference, r.reference)
          FROM ledger_transaction t JOIN ledger_entry e ON e.transaction_id = t.id
          LEFT JOIN invoice_payment p
            ON t.kind = 'block_invoice' AND p.event_id = t.event_id AND p.invoice_id = split_part(t.reference, '-', 1)
           AND p.number = CAST(coalesce(nullif(split_part(t.reference, '-', 2), ''), '1') AS integer)
          LEFT JOIN invoice i ON i.event_id = p.event_id AND i.id = p.invoice_id
          LEFT JOIN stall_fee_invoice d ON t.kind IN ('stall_fee', 'stall_fee_refund') AND d.application_id = t.reference
          LEFT JOIN stall_fee_record f ON t.kind = 'stall_fee' AND f.application_id = t.reference
          LEFT JOIN stall_fee_refund r ON t.kind = 'stall_fee_refund' AND r.application_id = t.reference
         WHERE t.owner_id = %(organisation_id)s AND t.kind IN ('stall_fee', 'stall_fee_refund', 'block_invoice')
           AND t.occurred_at >= (CAST(%(since)s AS date))::timestamp AT TIME ZONE '{HOME}'
           AND t.occurred_at < (CAST(%(until)s AS date) + 1)::timestamp AT TIME ZONE '{HOME}'
           AND (%(event_id)s::text IS NULL OR t.event_id = %(event_id)s)
    ), line AS (
        SELECT leg.*, account.name AS account_name, event.name AS event_name
          FROM leg JOIN (VALUES {_ACCOUNT_NAMES}) AS account (code, name) USING (code)
          LEFT JOIN event ON event.id = leg.event_id
         WHERE amount <> 0
    )
    SELECT to_char(at AT TIME ZONE '{HOME}', 'YYYY-MM-DD'), entry, code, account_name,
           CASE WHEN amount > 0 THEN to_char(amount / 100.0, 'FM999999999990.00') END,
           CASE WHEN amount < 0 THEN to_char(-amount / 100.0, 'FM999999999990.00') END, 'NAD',
           CAST(vat_percent AS text), to_char(vat_minor / 100.0, 'FM999999999990.00'),
           {escape_sql("document")}, {escape_sql("description")}, {escape_sql("event_name")},
           CAST(received_on AS text), {escape_sql("transfer")}
      FROM line ORDER BY at, entry, amount DESC, code
"""

COUNT_DOCUMENTS_SQL = f"SELECT count(*) FROM ({TAXED_DOCUMENTS_SQL}) document"
PERIOD_DOCUMENTS_SQL = f"""
    SELECT number, paper, issued_at FROM ({TAXED_DOCUMENTS_SQL}) document
     ORDER BY issued_at, number LIMIT %(limit)s
"""
"""The documents of a period as they were issued, the first one first; the parameter `limit` is how many at most."""

VAT_SQL = f"""
    SELECT vat_percent, kind, count(*), sum(total_minor - vat_minor), sum(vat_minor), sum(total_minor)
      FROM ({TAXED_DOCUMENTS_SQL}) document WHERE vat_percent IS NOT NULL
     GROUP BY vat_percent, kind ORDER BY vat_percent DESC, kind DESC
"""

OPEN_PAYMENTS_SQL = """
    SELECT a.reference, coalesce(a.business_name, a.contact_name, a.reference) AS name, a.amount_minor, false,
           e.name AS event_name
      FROM merchant_application a JOIN event e ON e.id = a.event_id
     WHERE a.event_id = ANY(%(events)s) AND a.status = ANY(%(states)s) AND a.amount_minor > 0
       AND a.paid_at IS NULL AND a.waived_at IS NULL
       AND NOT EXISTS (SELECT FROM stall_payment p
                        WHERE p.application_id = a.id AND p.tries > p.answered AND p.status <> 'paid')
     UNION ALL
    SELECT i.number, i.paper -> 'buyer' ->> 0, due.minor, true, e.name
      FROM invoice i JOIN event e ON e.id = i.event_id CROSS JOIN LATERAL (
           SELECT CAST((SELECT sum(c.total_minor) FROM invoice c
                         WHERE c.event_id = i.event_id AND c.block_id = i.block_id)
                       - coalesce((SELECT sum(p.amount_minor) FROM invoice_payment p
                                    WHERE p.event_id = i.event_id AND p.invoice_id = i.id), 0) AS bigint) AS minor) due
     WHERE i.event_id = ANY(%(events)s) AND i.kind = 'invoice' AND due.minor > 0
     ORDER BY name, 1
"""
"""The stall fees and the invoices of blocks of events that are not paid: `events, states` are its parameters. Fees
that a wallet is paying now are not among them."""

RECORDED_TRANSFERS_SQL = """
    SELECT f.amount_minor, f.received_on, f.reference, a.reference, a.event_id, a.id, NULL AS block_id
      FROM stall_fee_record f JOIN merchant_application a ON a.id = f.application_id
     WHERE a.event_id = ANY(%(events)s) AND f.received_on = ANY(%(days)s)
     UNION ALL
    SELECT p.amount_minor, p.received_on, p.reference, i.number, p.event_id, NULL, i.block_id
      FROM invoice_payment p JOIN invoice i ON i.event_id = p.event_id AND i.id = p.invoice_id
     WHERE p.event_id = ANY(%(events)s) AND p.received_on = ANY(%(days)s) AND p.takes_back IS NULL
       AND NOT EXISTS (SELECT FROM invoice_payment b
                        WHERE b.event_id = p.event_id AND b.invoice_id = p.invoice_id AND b.takes_back = p.number)
"""
"""Transfers of these days that were recorded for events and not taken back: amount, day, text, the reference or the
number of what they paid, and the ids of the event and of the application or the block."""
