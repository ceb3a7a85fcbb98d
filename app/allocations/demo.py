"""Demo blocks with a story: a sponsor's, half claimed, and the press at a weekend that is on, some of it inside.

Seeding twice changes nothing: an event that has blocks is left alone.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import select

from app.accounts.caller import Caller, acting_as
from app.accounts.models import Account
from app.allocations import actions, states
from app.allocations.models import AllocationBlock
from app.core.db import db
from app.events.models import Event, TicketType

Story = Mapping[str, Any]
STORIES: Sequence[Story] = (
    {
        "event": "Windhoek Lights",
        "type": "Weekend pass",
        "quantity": 20,
        "kind": "sponsor",
        "name": "Gold sponsor",
        "holder": {
            "name": "Lukas Haufiku",
            "email": "lukas@kalahari-coffee.example",
            "phone": "+264811234567",
            "organisation": "Kalahari Coffee",
        },
        "invited": ("Ndapewa Iipinge", "Johan van Wyk", "Zoë Großmann", "Selma Nangolo"),
        "claimed": ("Frieda Amupolo", "Tjizembua Kauaria", "Elago Nghipandulwa", "Maria ǃGaroës", "Petrus Shilongo"),
    },
    {
        "event": "Katutura Food Weekend",
        "type": "Entry",
        "quantity": 15,
        "kind": "press",
        "name": "Press",
        "unit_price_minor": 0,
        "holder": {"name": "Hilma Weber", "email": "hilma@the-dune-post.example", "organisation": "The Dune Post"},
        "claimed": ("Hilma Weber", "Immanuel Shiweda", "Johanna Beukes", "Rauna Hango", "Tuli Hamutenya", "Jan Beukes"),
        "admitted": 4,
    },
)


def seed(organiser_id: str) -> int:
    """How many blocks had to be made for this organiser."""
    stories = {each["event"]: each for each in STORIES}
    rows = db.session.execute(
        select(Event.name, Event.id, TicketType.id, TicketType.name)
        .join(TicketType, TicketType.event_id == Event.id)
        .where(
            Event.organiser_id == organiser_id,
            Event.name.in_(stories),
            ~select(AllocationBlock.id).where(AllocationBlock.event_id == Event.id).exists(),
        )
    ).all()
    wanted = [row for row in rows if stories[row[0]]["type"] == row[3]]
    for name, event_id, type_id, _ in wanted:
        _make(acting_as(db.session.get_one(Account, organiser_id)), event_id, type_id, stories[name])
    return len(wanted)


def _make(caller: Caller, event_id: str, type_id: str, story: Story) -> None:
    words = {name: story[name] for name in ("quantity", "kind", "name", "holder", "unit_price_minor") if name in story}
    block_id = actions.create_block(caller, event_id, ticket_type_id=type_id, **words)
    recipients = [{"name": each, "email": _address(each)} for each in story.get("invited", ())]
    if recipients:
        actions.invite(caller, event_id, block_id, recipients=recipients, allow_duplicates=False, dry_run=False)
    url = actions.change_open_link(caller, event_id, block_id)["url"]
    for number, name in enumerate(story["claimed"]):
        delivery = states.WILL_CALL if number else states.E_TICKET
        mine = actions.claim(url.rpartition("/")[2], "demo", name=name, email=_address(name), delivery=delivery)
        if number < story.get("admitted", 0):
            actions.admit(caller, event_id, mine["slot_id"], gate="Main gate")


def _address(name: str) -> str:
    plain = "".join(
        each
        for each in name.lower().replace("ë", "e").replace("ö", "o").replace("ß", "ss")
        if each.isascii() and (each.isalpha() or each == " ")
    )
    return f"{'.'.join(plain.split())}@example.com"
