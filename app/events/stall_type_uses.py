"""Stall types that are in use: other domains count what has a stall type, and such a type keeps its name.

Applications, stalls and invitations refer to a stall type by its name. If an event renamed it, their places would no
longer count, and nobody on its waitlist would get an offer.

    @counts_stall_type_uses
    def count_uses(session, event_id):
        return dict(session.execute(select(…)).all())

A hook runs in the transaction that changes the event, and the event's row is locked. `app/jobs.py` lists its module.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from sqlalchemy.orm import Session

from app.events.errors import StallTypeInUse
from app.events.models import StoredObject

UseHook = Callable[[Session, str], Mapping[str, int]]
_use_hooks: list[UseHook] = []


def counts_stall_type_uses(hook: UseHook) -> UseHook:
    """Registers a function that returns how many uses each stall type has, by the names in its rows."""
    _use_hooks.append(hook)
    return hook


def check_removed_types(
    session: Session, event_id: str, previous: Sequence[StoredObject], current: Sequence[StoredObject]
) -> None:
    """Checks that no type in use is missing from the current list. Another case is the same name.

    Raises StallTypeInUse.
    """
    kept_names = {stall_type["name"].casefold() for stall_type in current}
    removed_names = {stall_type["name"].casefold(): stall_type["name"] for stall_type in previous}
    removed_names = {key: name for key, name in removed_names.items() if key not in kept_names}
    if not removed_names:
        return
    uses = Counter[str]()
    for hook in _use_hooks:
        for used_name, count in hook(session, event_id).items():
            uses[used_name.casefold()] += count
    used_types = [{"name": name, "uses": uses[key]} for key, name in removed_names.items() if uses[key]]
    if used_types:
        raise StallTypeInUse(stallTypes=used_types)
