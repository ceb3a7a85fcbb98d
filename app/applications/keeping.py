"""Writing down which documents an application has: one statement, whatever was there before."""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import func, null, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session as OrmSession

from app.applications.documents import Sent
from app.applications.models import ApplicationDocument
from app.applications.queries import HANDED
from app.applications.queries import Handed as Handed
from app.core.ids import new_id

CHANGING = ("id", "file_name", "content_type", "size", "stored_as", "uploaded_at")


def keep(
    session: OrmSession, application_id: str, sent: Sequence[Sent], stored: Mapping[str, str]
) -> tuple[list[Handed], list[str]]:
    """The documents there are then, and the stored names of those that were replaced. The application is locked."""
    before = select(*HANDED, ApplicationDocument.stored_as).where(ApplicationDocument.application_id == application_id)
    if not sent:
        return [Handed(*row[:-1]) for row in session.execute(before)], []
    statement = insert(ApplicationDocument).values([_row(application_id, item, stored[item.kind]) for item in sent])
    changes = {name: getattr(statement.excluded, name) for name in CHANGING}
    kept = (
        statement.on_conflict_do_update(index_elements=["application_id", "kind"], set_=changes)
        .returning(*HANDED)
        .cte("kept")
    )
    earlier = before.cte("earlier")
    untouched = select(*(earlier.c[item.key] for item in HANDED), null()).where(
        earlier.c.kind.not_in(select(kept.c.kind))
    )
    fresh = select(kept, earlier.c.stored_as).outerjoin(earlier, earlier.c.kind == kept.c.kind)
    rows = session.execute(fresh.union_all(untouched)).all()
    return [Handed(*row[:-1]) for row in rows], [row[-1] for row in rows if row[-1] is not None]


def _row(application_id: str, sent: Sent, stored_as: str) -> dict[str, Any]:
    return {
        "id": new_id(),
        "application_id": application_id,
        "kind": sent.kind,
        "file_name": sent.name,
        "content_type": sent.content_type,
        "size": len(sent.data),
        "stored_as": stored_as,
        "uploaded_at": func.now(),
    }
