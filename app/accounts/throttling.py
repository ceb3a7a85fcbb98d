"""How often a password may be guessed: ten times in a quarter of an hour per address, fifty per network.

Failures are counted, not sign-ins, and sessions that exist go on. A known device (see `devices`) counts for the address
alone: what others on its network get wrong does not hold it up.
"""

from datetime import timedelta

from app.accounts import passwords
from app.accounts.caller import Caller
from app.accounts.models import Account
from app.accounts.notices import enqueue_notice
from app.core import throttle
from app.core.db import fetch_row, release
from app.core.errors import Throttled
from app.core.throttle import Rule, Subject
from app.core.transaction import transaction

WINDOW = timedelta(minutes=15)
PER_ADDRESS = Rule("login-address", 10, WINDOW)
PER_NETWORK = Rule("login-network", 50, WINDOW)
OWN = f"""
    SELECT a.password_hash, a.password_version, s.hits, s.seconds
      FROM account a LEFT JOIN ({throttle.STANDING}) AS s(key, hits, seconds) ON true
     WHERE a.id = %s
"""
TOO_MANY = "Too many failed attempts; wait for the seconds in Retry-After, or reset the password."


def check(email: str, network: str | None) -> bool:
    """Whether there are failures to remember. Raises Throttled when the address or the network has used them up."""
    found = throttle.standing(*_subjects(email, network))
    spent = [item for item in found if item.spent]
    if spent:
        raise Throttled(TOO_MANY, retry_after=max(item.seconds for item in spent))
    return bool(found)


def count_failure(email: str, network: str | None, account_id: str | None) -> None:
    """Remembers a failure, and tells the owner of the address when it was the last one allowed.

    Raises Throttled for failures that were under way while others used the count up.
    """
    with transaction() as session:
        found = throttle.hit_all(session, *_subjects(email, network))
        if account_id is not None and found[0].hits == found[0].rule.allowed:
            enqueue_notice(
                "login_throttled",
                account_id,
                failures=found[0].hits,
                minutes=int(WINDOW.total_seconds() // 60),
            )
    beyond = [item for item in found if item.exceeded]
    if beyond:
        raise Throttled(TOO_MANY, retry_after=max(item.seconds for item in beyond))


def check_own_password(caller: Caller, password: str) -> bool:
    """Whether it is the caller's password; failures count like failed sign-ins. Raises Throttled."""
    return own_password_version(caller, password) is not None


def own_password_version(caller: Caller, password: str) -> int | None:
    """The same, answering which password it was, so that its owner can be sure it is still the present one."""
    row = fetch_row(OWN, ([throttle.key_of(PER_ADDRESS, caller.email)], caller.id))
    if row is None:
        return None
    password_hash, version, hits, seconds = row
    if hits is not None and hits >= PER_ADDRESS.allowed:
        raise Throttled(TOO_MANY, retry_after=seconds)
    if passwords.matches(password_hash, password):
        return int(version)
    count_failure(caller.email, None, caller.id)
    return None


def check_password_of(account: Account, password: str) -> bool:
    """Whether it is the password of an account that was read already; failures count. Raises Throttled."""
    check(account.email, None)
    release()
    if passwords.matches(account.password_hash, password):
        return True
    count_failure(account.email, None, account.id)
    return False


def _subjects(email: str, network: str | None) -> list[Subject]:
    return [(PER_ADDRESS, email), *(throttle.by_network(PER_NETWORK, network) if network else [])]
