"""Asking for a file, and deleting one."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from sqlalchemy import delete, select

from app.accounts.caller import Caller
from app.audit.actions import Action
from app.audit.log import record
from app.core import throttle
from app.core.db import ReadOrWriteSession
from app.core.errors import NotFound, Throttled
from app.core.outbox import enqueue
from app.core.throttle import Rule
from app.core.transaction import lock_name, transaction
from app.files.kinds import FileKind, get_kind
from app.files.models import OrganisationFile
from app.files.queries import is_deletable
from app.files.states import OPEN_STATES

REQUEST_LIMIT = Rule("files", 60, timedelta(hours=1))


def request_file(
    caller: Caller,
    kind: str,
    *,
    organisation_id: str,
    event_id: str | None = None,
    parameters: Mapping[str, Any] | None = None,
    input: bytes | None = None,
) -> str:
    """Have a file made by a worker and return its id; that of the same file if it is being made already.

    `parameters` are JSON. Raises NotFound without the permission of the kind, Throttled.
    """
    file_kind = get_kind(kind)
    _check_permission(caller, file_kind, organisation_id, event_id)
    request_parameters = dict(parameters or {})
    with transaction() as session:
        hits = throttle.hit(session, REQUEST_LIMIT, caller.client_id)
        lock_name(session, f"file:{organisation_id}")
        file_id = None if input else _find_open_file(session, file_kind, organisation_id, event_id, request_parameters)
        if file_id is None and not hits.exceeded:
            file = OrganisationFile(
                organisation_id=organisation_id,
                event_id=event_id,
                account_id=caller.id,
                kind=kind,
                permission=file_kind.permission,
                parameters=request_parameters,
                input=input,
            )
            session.add(file)
            session.flush()
            file_id = file.id
            enqueue("files.make", key=f"file:{file_id}", file_id=file_id)
    if file_id is None:
        raise Throttled(retry_after=hits.seconds)
    return file_id


def delete_file(caller: Caller, file_id: str) -> None:
    """Delete a file that the caller has asked for, or that belongs to what they may change. Raises NotFound."""
    with transaction() as session:
        file = session.scalar(
            delete(OrganisationFile)
            .where(OrganisationFile.id == file_id, is_deletable(caller))
            .returning(OrganisationFile)
        )
        if file is None:
            raise NotFound()
        record(
            session,
            Action.FILE_DELETED,
            organisation_id=file.organisation_id,
            event_id=file.event_id,
            subject=file_id,
            data={"kind": file.kind},
        )


def _check_permission(caller: Caller, kind: FileKind, organisation_id: str, event_id: str | None) -> None:
    grant = caller.for_permission(kind.permission).grant
    if organisation_id not in grant.organisation_ids and event_id not in grant.event_ids:
        raise NotFound()


def _find_open_file(
    session: ReadOrWriteSession,
    kind: FileKind,
    organisation_id: str,
    event_id: str | None,
    request_parameters: dict[str, Any],
) -> str | None:
    file_id: str | None = session.scalar(
        select(OrganisationFile.id)
        .where(
            OrganisationFile.organisation_id == organisation_id,
            OrganisationFile.event_id.is_not_distinct_from(event_id),
            OrganisationFile.kind == kind.name,
            OrganisationFile.parameters == request_parameters,
            OrganisationFile.input.is_(None),
            OrganisationFile.status.in_(OPEN_STATES),
        )
        .limit(1)
    )
    return file_id
