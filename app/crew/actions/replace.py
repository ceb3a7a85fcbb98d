"""Replacing the crew of a stall."""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import or_, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session as OrmSession

from app.accounts.caller import Caller
from app.core.errors import StaleVersion
from app.core.transaction import transaction
from app.crew.closing import really_open
from app.crew.errors import ShiftOpen
from app.crew.listing import Member, listed
from app.crew.models import CrewMember, Shift
from app.crew.stall import Stall, stall_to_change
from app.invitations.models import Participation

CHANGING = ("position", "name", "phone", "email", "role", "code_hash", "retired_at")
COLUMNS = ("id", "merchant_id", "event_id", *CHANGING)


def replace_crew(
    *, caller: Caller, event_id: str, expected_version: int | None, crew: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """The crew as it is now; who is new, or wanted a new code, has it in `shift_code`, this once.

    Who is not named is retired and keeps his hours. Raises NotFound, StaleVersion, ShiftOpen, ValidationFailed.
    """
    with transaction() as session:
        own = stall_to_change(session, caller.id, event_id)
        if expected_version not in (None, own.crew_version):
            raise StaleVersion()
        known = _known(session, own, [str(item["id"]) for item in crew if item.get("id")])
        members = listed(own, crew, [member for member, _ in known])
        leaving = _leaving(known, {member.id for member in members})
        _write(session, own, members, leaving)
        version = session.scalar(
            update(Participation)
            .where(Participation.merchant_id == caller.id, Participation.event_id == event_id)
            .values(crew_version=Participation.crew_version + 1)
            .returning(Participation.crew_version)
            .execution_options(synchronize_session=False)
        )
    return {"crew": [member.shown() for member in members], "version": version}


def _known(session: OrmSession, own: Stall, ids: Sequence[str]) -> list[tuple[CrewMember, bool]]:
    """Who is in the crew, or was and is named again; and whether a shift of theirs is open."""
    at_work = select(Shift.id).where(Shift.crew_member_id == CrewMember.id, really_open()).exists()
    rows = session.execute(
        select(CrewMember, at_work)
        .where(
            CrewMember.merchant_id == own.merchant_id,
            CrewMember.event_id == own.event_id,
            or_(CrewMember.retired_at.is_(None), CrewMember.id.in_(ids)),
        )
        .order_by(CrewMember.position)
    )
    return [(member, working) for member, working in rows]


def _leaving(known: Sequence[tuple[CrewMember, bool]], staying: set[str]) -> list[CrewMember]:
    """Who is retired by the new list. Raises ShiftOpen, which names those still at work."""
    leaving = [(member, working) for member, working in known if member.id not in staying]
    at_work = [{"id": member.id, "name": member.name} for member, working in leaving if working]
    if at_work:
        raise ShiftOpen(members=at_work)
    return [member for member, _ in leaving if member.retired_at is None]


def _write(session: OrmSession, own: Stall, members: Sequence[Member], leaving: Sequence[CrewMember]) -> None:
    """Writes all of them in one statement: first who leaves, so that his code is free for the others."""
    gone = [{**{name: getattr(item, name) for name in COLUMNS}, "retired_at": own.now} for item in leaving]
    rows = [*gone, *(member.row(own) for member in members)]
    if not rows:
        return
    statement = insert(CrewMember).values(rows)
    changes = {name: getattr(statement.excluded, name) for name in CHANGING}
    session.execute(statement.on_conflict_do_update(index_elements=["id"], set_=changes))
