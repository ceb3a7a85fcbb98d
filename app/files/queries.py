"""Which files a person may see, and the content of one."""

from datetime import datetime
from typing import NamedTuple

from sqlalchemy import ColumnElement, and_, false, func, or_, select

from app.accounts.caller import PERSON, Caller
from app.accounts.permissions import EVENTS_WRITE
from app.audit.actions import Action
from app.audit.log import record_export
from app.core.db import db
from app.core.errors import NotFound
from app.files.kinds import FileContent, list_kinds
from app.files.models import OrganisationFile
from app.files.states import OPEN_STATES


class FileState(NamedTuple):
    """A file without its content. `message` is the reason of a failure, or what the work did."""

    id: str
    event_id: str | None
    kind: str
    status: str
    progress: int
    message: str | None
    name: str | None
    expires_at: datetime
    may_delete: bool

    @property
    def is_over(self) -> bool:
        return self.status not in OPEN_STATES


def is_visible(caller: Caller) -> ColumnElement[bool]:
    """The rule of files: those that are not expired, and for whose event or organisation the caller has the permission."""
    rules = [_has_permission(caller, permission) for permission in dict.fromkeys(k.permission for k in list_kinds())]
    return and_(OrganisationFile.expires_at > func.now(), or_(false(), *rules))


def is_deletable(caller: Caller) -> ColumnElement[bool]:
    """Which files the caller may delete: those that they have asked for as a person, and of events that they may change all.

    A key has the organisation's account, so what the owner has asked for is not its own.
    """
    is_own = OrganisationFile.account_id == caller.id if caller.kind == PERSON else false()
    return and_(is_visible(caller), or_(is_own, _is_in_scope(caller, EVENTS_WRITE)))


def get_file(caller: Caller, file_id: str) -> FileState:
    """Return a file that the caller may see. Raises NotFound."""
    row = db.session.execute(
        select(
            OrganisationFile.id,
            OrganisationFile.event_id,
            OrganisationFile.kind,
            OrganisationFile.status,
            OrganisationFile.progress,
            OrganisationFile.message,
            OrganisationFile.name,
            OrganisationFile.expires_at,
            is_deletable(caller),
        ).where(OrganisationFile.id == file_id, is_visible(caller))
    ).first()
    if row is None:
        raise NotFound()
    return FileState._make(row)


def get_deletable_file(caller: Caller, file_id: str) -> FileState:
    """Return a file that the caller may delete. Raises NotFound."""
    file = get_file(caller, file_id)
    if not file.may_delete:
        raise NotFound()
    return file


def get_content(caller: Caller, file_id: str) -> FileContent:
    """Return the content of a finished file. The download is recorded. Raises NotFound."""
    row = db.session.execute(
        select(
            OrganisationFile.name,
            OrganisationFile.content_type,
            OrganisationFile.content,
            OrganisationFile.organisation_id,
            OrganisationFile.event_id,
            OrganisationFile.kind,
        ).where(OrganisationFile.id == file_id, OrganisationFile.content.is_not(None), is_visible(caller))
    ).first()
    if row is None:
        raise NotFound()
    record_export(
        Action.FILE_EXPORTED,
        caller=caller,
        organisation_id=row.organisation_id,
        event_id=row.event_id,
        subject=file_id,
        data={"kind": row.kind, "fileName": row.name},
    )
    return FileContent(row.name, row.content_type, row.content)


def _has_permission(caller: Caller, permission: str) -> ColumnElement[bool]:
    return and_(OrganisationFile.permission == permission, _is_in_scope(caller, permission))


def _is_in_scope(caller: Caller, permission: str) -> ColumnElement[bool]:
    grant = caller.for_permission(permission).grant
    return or_(
        OrganisationFile.organisation_id.in_(grant.organisation_ids), OrganisationFile.event_id.in_(grant.event_ids)
    )
