"""How often a password may be guessed: ten times in a quarter of an hour per address, fifty per network.

Failures are counted, not sign-ins, and sessions that exist go on.
"""

from datetime import timedelta

from app.accounts import passwords
from app.accounts.models import Account
from app.accounts.queries import by_id
from app.core import throttle
from app.core.db import release
from app.core.errors import Throttled
from app.core.outbox import enqueue
from app.core.throttle import Rule
from app.core.transaction import transaction

WINDOW = timedelta(minutes=15)
PER_ADDRESS = Rule("login-address", 10, WINDOW)
PER_NETWORK = Rule("login-network", 50, WINDOW)
TOO_MANY = "Too many failed attempts; wait for the seconds in Retry-After, or reset the password."


def check(email: str, network: str | None) -> bool:
    """Whether there are failures to remember. Raises Throttled when the address or the network has used them up."""
    found = throttle.standing(*_subjects(email, network))
    spent = [each for each in found if each.spent]
    if spent:
        raise Throttled(TOO_MANY, retry_after=max(each.seconds for each in spent))
    return bool(found)


def count_failure(email: str, network: str | None, account: Account | None) -> None:
    """Remembers a failure, and tells the owner of the address when it was the last one allowed.

    Raises Throttled for failures that were under way while others used the count up.
    """
    with transaction() as session:
        found = throttle.hit_all(session, *_subjects(email, network))
        if account is not None and found[0].hits == found[0].rule.allowed:
            enqueue(
                "accounts.mail_notice",
                template="login_throttled",
                account_id=account.id,
                failures=found[0].hits,
                minutes=int(WINDOW.total_seconds() // 60),
            )
    beyond = [each for each in found if each.exceeded]
    if beyond:
        raise Throttled(TOO_MANY, retry_after=max(each.seconds for each in beyond))


def check_own_password(account_id: str, password: str) -> bool:
    """Whether it is the account's password; failures count like failed sign-ins. Raises Throttled."""
    return own_password_version(account_id, password) is not None


def own_password_version(account_id: str, password: str) -> int | None:
    """The same, answering which password it was, so that its owner can be sure it is still the present one."""
    account = by_id(account_id)
    return account.password_version if account is not None and check_password_of(account, password) else None


def check_password_of(account: Account, password: str) -> bool:
    """`check_own_password` for an account that was read already. Raises Throttled."""
    check(account.email, None)
    release()
    if passwords.matches(account.password_hash, password):
        return True
    count_failure(account.email, None, account)
    return False


def _subjects(email: str, network: str | None) -> list[tuple[Rule, str]]:
    return [(PER_ADDRESS, email), *([(PER_NETWORK, network)] if network else [])]
