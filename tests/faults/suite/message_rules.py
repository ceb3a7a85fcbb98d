"""Rules of messages and jobs: N1 to N6."""

from collections import Counter
from collections.abc import Iterator
from functools import partial
from urllib.parse import unquote

from tests.faults.suite.evidence import Evidence, law
from tests.faults.suite.request_log import OK

ROWS = "SELECT coalesce(dedupe_key, 'outbox-' || id) AS key, kind, class, state FROM outbox"
ALWAYS = ("campaigns.deliver", "payouts.mail", "allocations.ticket")
"""Work that is done when its mail is out, and not otherwise."""
LONGEST = 16.0
STUCK = """
    SELECT kind, state, count(*) AS n, max(last_error) AS error FROM outbox
     WHERE state = 'leased' AND lease_until < now() OR state = 'ready' AND run_at < now() - interval '5 seconds'
     GROUP BY kind, state"""

SENDING = "SELECT id FROM campaign WHERE status = 'sending'"
ON_THE_WAY = "SELECT id, status FROM payout WHERE status IN ('requested', 'processing')"


def sent_keys(found: Evidence) -> Counter[str]:
    """The keys of the work that the mail server has heard of, and how often."""
    keys: Counter[str] = Counter()
    for name, count in found.mails.items():
        keys[unquote(name.strip("<>").rpartition("@")[0])] += count
    return keys


@law("N1 once each")
def once_each(found: Evidence) -> Iterator[str]:
    """One row for a person, campaign and channel, and none is left out."""
    query = """
        SELECT campaign_id, person, channel FROM campaign_recipient GROUP BY 1, 2, 3 HAVING count(*) > 1"""
    yield from (f"{row.person} stands twice in campaign {row.campaign_id}" for row in found.rows(query))
    people = partial(found.rows, "SELECT person FROM campaign_recipient WHERE campaign_id = :id")
    for asked in found.said_yes("campaign"):
        missing = set(found.audience) - {row.person for row in people(id=asked.data["campaignId"])}
        if missing:
            yield f"campaign {asked.data['campaignId']} leaves out {len(missing)} people"


@law("N2 mail")
def mail(found: Evidence) -> Iterator[str]:
    """Whatever went out has its row; whatever is done went out; whatever may go out once went out once."""
    work, sent = {row.key: row for row in found.rows(ROWS)}, sent_keys(found)
    yield from (f"mail {key} has no row" for key in sent.keys() - work.keys())
    for key, row in work.items():
        if row.kind in ALWAYS and row.state == "done" and key not in sent:
            yield f"{row.kind} {key} is done and never went out"
        if row[2] == "A" and sent[key] > 1:
            yield f"{row.kind} {key} went out {sent[key]} times"
        if row[2] == "A" and key in sent and row.state not in ("done", "uncertain"):
            yield f"{row.kind} {key} went out and is {row.state}"


@law("N3 nothing is stuck")
def nothing_is_stuck(found: Evidence) -> Iterator[str]:
    for row in found.rows(STUCK):
        yield f"{row.n} of {row.kind} are {row.state} and overdue ({row.error})"
    yield from (f"campaign {row.id} is still being sent" for row in found.rows(SENDING))
    yield from (f"payout {row.id} is still {row.status}" for row in found.rows(ON_THE_WAY))


@law("N4 uncertain")
def uncertain(found: Evidence) -> Iterator[str]:
    """As many as processes were killed under them, at most."""
    count = found.rows("SELECT count(*) FROM outbox WHERE state = 'uncertain'")[0][0]
    if count > found.uncertain_allowed:
        yield f"{count} are uncertain, at most {found.uncertain_allowed} may be"


@law("N5 work of a yes")
def work_of_a_yes(found: Evidence) -> Iterator[str]:
    """A yes that promises a mail, a payout, a campaign or an import has its work in the same commit."""
    aggregates = {row.aggregate for row in found.rows("SELECT DISTINCT aggregate FROM outbox")}
    paid = {row.id for row in found.rows("SELECT id FROM payout WHERE status = 'cancelled'")}
    for asked in found.said_yes("payout"):
        if f"payout:{asked.data['id']}" not in aggregates and asked.data["id"] not in paid:
            yield f"payout {asked.data['id']} was acknowledged and has no work"
    codes = "SELECT payload->>'email' AS email FROM outbox WHERE kind IN ('accounts.mail_code', 'accounts.renew_code')"
    emails = {row.email for row in found.rows(codes)}
    for asked in found.said_yes("register"):
        if asked.about["email"] not in emails:
            yield f"{asked.about['email']} registered and no code is on its way"
    ids = "SELECT payload->>'campaign_id' AS id FROM outbox WHERE kind = 'campaigns.fan_out'"
    campaigns = {row.id for row in found.rows(ids)}
    for asked in found.said_yes("campaign"):
        if asked.data["campaignId"] not in campaigns:
            yield f"campaign {asked.data['campaignId']} was acknowledged and has no work"


@law("N6 short transactions")
def short_transactions(found: Evidence) -> Iterator[str]:
    if found.longest_transaction > LONGEST:
        yield f"a transaction was open for {found.longest_transaction:.0f} s"


@law("no errors")
def no_errors(found: Evidence) -> Iterator[str]:
    """Whatever breaks, nobody is answered 500: that would be a mistake of the program."""
    for asked in found.journal.asked:
        if asked.status == 500:
            yield f"{asked.kind} was answered 500: {' '.join(found.mistakes)[-3000:]}"
        if asked.outcome == OK and asked.about.get("refused"):
            yield f"{asked.kind} was granted first and refused later: {asked.about['refused']}"
