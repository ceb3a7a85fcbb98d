"""Which documents an approval asks for at first: those of the last approval of the stall type, else those it needs."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from sqlalchemy import func, select
from sqlalchemy.dialects.postgresql import distinct_on

from app.applications.documents import list_required_kinds
from app.applications.models import Application
from app.applications.stall_types import fold_name
from app.applications.states import APPROVED
from app.core.db import db


class SuggestedKinds(NamedTuple):
    """Kinds of documents; `is_chosen` if a decider has chosen them for the stall type at this event before."""

    kinds: Sequence[str]
    is_chosen: bool


def load_chosen_kinds(event_id: str) -> Mapping[str, Sequence[str]]:
    """The kinds that the last approved application of each stall type was asked for, by the folded name of the type.

    Invitations that were accepted with a fee ask for none, and do not count.
    """
    type_name = func.lower(func.coalesce(Application.stall_type, ""))
    rows = db.session.execute(
        select(Application.stall_type, Application.documents_required)
        .ext(distinct_on(type_name))
        .where(
            Application.event_id == event_id,
            Application.decision == APPROVED,
            Application.event_invite_id.is_(None),
        )
        .order_by(type_name, Application.decided_at.desc(), Application.id.desc())
    )
    return {fold_name(stall_type): kinds for stall_type, kinds in rows}


def suggest_kinds(chosen_kinds: Mapping[str, Sequence[str]], stall_type: str | None) -> SuggestedKinds:
    """The kinds to ask an applicant for this stall type for, by what `load_chosen_kinds` has found."""
    kinds = chosen_kinds.get(fold_name(stall_type))
    return SuggestedKinds(list_required_kinds(stall_type), False) if kinds is None else SuggestedKinds(kinds, True)
