"""Money: payout requests of a thousand merchants and of one, and what a balance costs among a million entries."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from sqlalchemy import text

from app.accounts import sessions
from app.accounts.models import Account
from app.core.ids import new_id
from app.core.transaction import transaction
from app.ledger.settlement_import import Credit, import_settlement
from app.payouts.destination_encryption import hash_wallet
from app.web.access import serialize_sign_in
from benchmarks.events import cost_against, share_remembered
from benchmarks.outcome import Outcome, of_rounds
from benchmarks.pgbench import simple_update
from benchmarks.registry import Benchmark, Load, benchmark
from benchmarks.stage import Stage

PATH = "/api/merchants/me/payout-requests"
BODY = {"amountMinor": 100, "destination": "payrail", "mode": "now", "payrailMsisdn": "+264811234567"}
MERCHANTS, RICH = 1000, 10**10
KNOWN = """
    INSERT INTO payout (id, account_id, amount_minor, destination, shown_as, wallet_mark, mode, status, due_at,
                        settled_at)
    SELECT id, id, 100, 'payrail', 'known', mark, 'now', 'paid', now(), now()
      FROM unnest(CAST(:ids AS text[]), CAST(:marks AS text[])) AS known (id, mark)
"""
"""A payout to the wallet that was paid already: what costs is asking for one to a destination that is known."""
STATEMENTS = 6
"""In the transaction of a request without a key, counted as pgbench's are (simple-update has five): BEGIN, merchant,
ledger, payout, outbox, COMMIT."""
GROW = """
    WITH posted AS (
        INSERT INTO ledger_transaction (kind, reference, owner_id, amount_minor)
        SELECT 'settlement', CAST(:owner AS text) || '-' || n, :owner, 100 FROM generate_series(1, :count) AS n
        RETURNING id
    )
    INSERT INTO ledger_entry (transaction_id, owner_id, account, amount_minor, balance_after_minor)
    SELECT id, :owner, account, sign * 100, CASE sign WHEN 1 THEN 100 END
      FROM posted CROSS JOIN (VALUES ('merchant_balance', 1), ('platform', -1)) AS leg (account, sign)
"""


def against_pgbench(stage: Stage, it: Benchmark) -> Outcome:
    """The rate as a share of pgbench simple-update divided by the statements of our transaction, in turns."""
    values, runs, floors = [], [], []
    for _ in range(stage.rounds):
        floors.append(simple_update(stage))
        runs.append(stage.run(it.prepare(stage)))
        values.append(runs[-1].rate / (floors[-1] / STATEMENTS))
    floor = sorted(floors)[len(floors) // 2]
    return of_rounds(values, f"of pgbench ÷ {STATEMENTS}", runs, f"simple-update {floor:,.0f}/s")


def rate(stage: Stage, it: Benchmark) -> Outcome:
    """Requests per second."""
    runs = [stage.run(it.prepare(stage)) for _ in range(stage.rounds)]
    return of_rounds([run.rate for run in runs], "per second", runs)


@cache
def tokens(count: int) -> tuple[tuple[str, ...], str]:
    """So many rich merchants: their access tokens, and the id of the first."""
    ids = [new_id() for _ in range(count)]
    with transaction() as session:
        session.execute(
            text(
                "INSERT INTO account (id, email, name, roles, email_verified_at, password_version, version)"
                " SELECT id, id || '@example.com', 'Merchant', '{merchant}', now(), 1, 1"
                " FROM unnest(CAST(:ids AS text[])) AS id"
            ),
            {"ids": ids},
        )
        session.execute(
            text(
                "INSERT INTO merchant_profile (account_id, business_name) SELECT unnest(CAST(:ids AS text[])), 'Stall'"
            ),
            {"ids": ids},
        )
    import_settlement([Credit(n, f"bench-{item}", item, RICH, None, None) for n, item in enumerate(ids, 2)])
    with transaction() as session:
        session.execute(text("SET LOCAL session_replication_role = replica"))
        marks = [hash_wallet(id, str(BODY["payrailMsisdn"])) for id in ids]
        session.execute(text(KNOWN), {"ids": ids, "marks": marks})
    with transaction() as session:
        begun = [sessions.create_session(session, session.get_one(Account, id)) for id in ids]
    return tuple(serialize_sign_in(item)["access_token"] for item in begun), ids[0]


def grown(entries: int) -> Callable[[Stage], None]:
    """Seeds a merchant with so many ledger entries."""

    def seed(stage: Stage) -> None:
        _, owner = _merchant(entries)
        with transaction() as session:
            for setting in ("statement_timeout = 0", "session_replication_role = replica"):
                session.execute(text(f"SET LOCAL {setting}"))
            session.execute(text(GROW), {"owner": owner, "count": entries // 2})
            session.execute(text("UPDATE ledger_purse SET available_minor = 100 WHERE owner_id = :id"), {"id": owner})

    return seed


@cache
def _merchant(entries: int) -> tuple[str, str]:
    tokens.cache_clear()
    found, owner = tokens(1)
    tokens.cache_clear()
    return found[0], owner


def _availability(entries: int) -> Load:
    token, _ = _merchant(entries)
    return Load(f"{PATH}/availability", headers={"Authorization": f"Bearer {token}"})


@benchmark("payouts", goal=0.5, measure=against_pgbench)
def payouts(stage: Stage) -> Load:
    """`POST payout-requests` of 1,000 merchants in turn, against pgbench simple-update ÷ our statements."""
    found, _ = tokens(MERCHANTS)
    return Load(PATH, method="POST", bodies=[BODY] * MERCHANTS, tokens=found)


@benchmark("payouts-hot", goal=100, measure=rate)
def payouts_hot(stage: Stage) -> Load:
    """`POST payout-requests` of one merchant, from every connection at once."""
    found, _ = tokens(MERCHANTS)
    return Load(PATH, method="POST", bodies=[BODY, BODY], tokens=[found[0]] * 2)


@benchmark("availability", goal=0.35, seed=grown(100), measure=share_remembered("availability"))
def availability(stage: Stage) -> Load:
    """`GET availability` of a merchant with 100 ledger entries."""
    return _availability(100)


@benchmark("availability-1m", goal=1.2, at_most=True, seed=grown(1_000_000), measure=cost_against("availability"))
def availability_1m(stage: Stage) -> Load:
    """`GET availability` of a merchant with 1,000,000 ledger entries."""
    return _availability(1_000_000)
