"""Search among the people of an event: holders of tickets and participating merchants.

Holders come from search indexes; participants of one event are few. The id is that of a ticket or slot, or of a merchant's
account; campaigns accept both as `user_ids`. The result does not show whether a holder has an account.
"""

from typing import NamedTuple

from app.accounts.caller import Caller
from app.allocations.will_call import build_tsquery
from app.campaigns.audience_sql import FIND_PEOPLE
from app.core.addresses import mask_email
from app.core.db import fetch_rows
from app.core.errors import NotFound
from app.events.queries import READS


class Person(NamedTuple):
    """A person of an event, with a masked e-mail address."""

    id: str
    name: str | None
    email: str | None
    participates: bool
    tickets: int


def search_recipients(caller: Caller, event_id: str, *, q: str) -> list[Person]:
    """Up to twenty people by the beginnings of words of name, e-mail address or ticket. Raises NotFound."""
    parameters = {
        "event_id": event_id,
        "caller_id": caller.id,
        "is_admin": caller.has_tier(READS),
        "words": build_tsquery(q, event_id),
        "plain": q.lower(),
    }
    rows = fetch_rows(FIND_PEOPLE, parameters, prepare=False)
    if not rows:
        raise NotFound()
    people = [Person(*row) for row in rows if row[0] is not None]
    return [person._replace(email=mask_email(person.email)) for person in people]
