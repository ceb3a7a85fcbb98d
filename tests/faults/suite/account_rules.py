"""Rules of accounts: A1 to A5."""

from collections import Counter
from collections.abc import Iterator

from tests.faults.suite.evidence import Evidence, law
from tests.faults.suite.request_log import OK

TRIES = 5


@law("A1 sessions")
def sessions(found: Evidence) -> Iterator[str]:
    """One successor for a token, no matter who asks how often; and nothing more from a family that was revoked."""
    successors: dict[str, set[str]] = {}
    for asked in found.said_yes("refresh"):
        successors.setdefault(asked.about["given"], set()).update(told["refreshToken"] for told in asked.told)
    for given, told in successors.items():
        if len(told) > 1:
            yield f"the token {given[:6]}… has {len(told)} successors"
    for asked in found.said_yes("reuse"):
        yield f"a token of {asked.about['email']} was taken that had been replaced long ago, or was revoked"


@law("A2 codes")
def codes(found: Evidence) -> Iterator[str]:
    """Five tries at most, and a burned code stays burned."""
    query = f"SELECT email, tries FROM one_time_code WHERE tries > {TRIES}"
    yield from (f"{row.tries} tries for the code of {row.email}" for row in found.rows(query))
    yield from (f"a wrong code was taken for {asked.about['email']}" for asked in found.said_yes("guess"))
    yield from (f"the burned code of {asked.about['email']} was taken" for asked in found.said_yes("burned"))


@law("A3 one account")
def one_account(found: Evidence) -> Iterator[str]:
    """One for each address in any spelling, and one for everybody who was told so."""
    count = Counter(row.email for row in found.rows("SELECT lower(email) AS email FROM account"))
    yield from (f"{email} has {accounts} accounts" for email, accounts in count.items() if accounts > 1)
    for asked in found.said_yes("register"):
        if not count[asked.about["email"]]:
            yield f"{asked.about['email']} registered and has no account"


@law("A4 one first admin")
def one_first_admin(found: Evidence) -> Iterator[str]:
    rows = found.rows("SELECT email FROM account WHERE admin_tier = 'super_admin'")
    tried = list(found.journal.of("bootstrap"))
    if len(rows) > 1:
        yield f"{len(rows)} super admins by one secret"
    if any(asked.outcome == OK for asked in tried) and not rows:
        yield "the first admin was acknowledged and is not there"


@law("A5 no secret is written down")
def no_secret_is_written_down(found: Evidence) -> Iterator[str]:
    yield from (f"{secret[:4]}… stands in {line[:200]}" for secret, line in found.leaks.items())
