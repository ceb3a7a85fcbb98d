"""Reads of the audit trail: by the organisation, for one event, and by admins; as a list and as CSV."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any, TypedDict, Unpack

from sqlalchemy import ColumnElement, Select, and_, func, literal_column, or_, select, true

from app.accounts.caller import Caller
from app.accounts.models import Account
from app.accounts.team_models import ApiKey
from app.audit.actions import Action
from app.audit.log import record_export
from app.audit.models import AuditEntry
from app.core.csv_export import stream_query_csv
from app.core.db import DIALECT
from app.core.formatting import HOME
from app.core.replica import as_of_now
from app.core.spreadsheet_cells import escape_sql
from app.events.queries import get_event
from app.events.timezones import to_instant
from app.teams.models import Device

SORTS: dict[str, ColumnElement[Any]] = {"at": AuditEntry.at.expression}
COLUMNS = {
    "id": "id",
    "at": "at",
    "action": "action",
    "actor_kind": "actorKind",
    "actor_id": "actorId",
    "actor_name": "actorName",
    "session_id": "sessionId",
    "organisation_id": "organisationId",
    "event_id": "eventId",
    "account_id": "accountId",
    "subject_kind": "subjectKind",
    "subject_id": "subjectId",
    "network": "network",
    "request_id": "requestId",
    "data": "data",
}
"""The columns of a list, and their names in the CSV."""


class AuditFilters(TypedDict, total=False):
    """Filters of entries. `actor` is an account, a device or an API key; naive times are in the zone of the event."""

    action: str | None
    area: str | None
    actor: str | None
    subject: str | None
    since: datetime | None
    until: datetime | None


def list_organisation_entries_query(caller: Caller, **filters: Unpack[AuditFilters]) -> Select[Any]:
    """The entries of the organisation for which the caller acts."""
    return _entries_query(AuditEntry.organisation_id == caller.organisation_id, filters, HOME)


def list_event_entries_query(caller: Caller, event_id: str, **filters: Unpack[AuditFilters]) -> Select[Any]:
    """The entries of an event that the caller may read. Raises NotFound."""
    event = get_event(caller, event_id)
    return _entries_query(AuditEntry.event_id == event.id, filters, event.timezone)


def list_all_entries_query(
    *,
    organisation_id: str | None = None,
    event_id: str | None = None,
    account_id: str | None = None,
    **filters: Unpack[AuditFilters],
) -> Select[Any]:
    """The entries of all organisations and accounts, for admins.

    `account_id` is the account that acted, or on which something was done.
    """
    conditions: list[ColumnElement[bool]] = []
    if organisation_id is not None:
        conditions.append(AuditEntry.organisation_id == organisation_id)
    if event_id is not None:
        conditions.append(AuditEntry.event_id == event_id)
    if account_id is not None:
        conditions.append(or_(AuditEntry.account_id == account_id, AuditEntry.actor_id == account_id))
    return _entries_query(and_(true(), *conditions), filters, HOME)


def stream_organisation_csv(caller: Caller, **filters: Unpack[AuditFilters]) -> Iterator[bytes]:
    """The entries of the organisation as CSV. The export is recorded."""
    query = list_organisation_entries_query(caller, **filters)
    record_export(Action.AUDIT_EXPORTED, organisation_id=caller.organisation_id)
    return _stream_csv(query)


def stream_event_csv(caller: Caller, event_id: str, **filters: Unpack[AuditFilters]) -> Iterator[bytes]:
    """The entries of an event as CSV. The export is recorded. Raises NotFound."""
    query = list_event_entries_query(caller, event_id, **filters)
    record_export(Action.AUDIT_EXPORTED, event_id=event_id)
    return _stream_csv(query)


def stream_all_csv(
    *,
    organisation_id: str | None = None,
    event_id: str | None = None,
    account_id: str | None = None,
    **filters: Unpack[AuditFilters],
) -> Iterator[bytes]:
    """The entries of all organisations and accounts as CSV, with the filters of the list. The export is recorded."""
    scope: dict[str, Any] = {"organisation_id": organisation_id, "event_id": event_id, "account_id": account_id}
    record_export(Action.AUDIT_EXPORTED, **scope)
    return _stream_csv(list_all_entries_query(**scope, **filters))


def _entries_query(scope: ColumnElement[bool], filters: AuditFilters, zone: str) -> Select[Any]:
    """The entries with the present name of a person, device or key that acted."""
    columns = [
        func.coalesce(Device.name, ApiKey.name, Account.name).label(name)
        if name == "actor_name"
        else getattr(AuditEntry, name)
        for name in COLUMNS
    ]
    return (
        select(*columns)
        .select_from(AuditEntry)
        .outerjoin(Account, Account.id == AuditEntry.actor_id)
        .outerjoin(Device, and_(Device.id == AuditEntry.session_id, Device.event_id == AuditEntry.event_id))
        .outerjoin(ApiKey, ApiKey.id == AuditEntry.session_id)
        .where(scope, *_build_conditions(filters, zone))
    )


def _build_conditions(filters: AuditFilters, zone: str) -> list[ColumnElement[bool]]:
    conditions: list[ColumnElement[bool]] = []
    if action := filters.get("action"):
        conditions.append(AuditEntry.action == action)
    if area := filters.get("area"):
        conditions.append(AuditEntry.action.in_([action.value for action in Action if action.area == area]))
    if actor := filters.get("actor"):
        conditions.append(or_(AuditEntry.actor_id == actor, AuditEntry.session_id == actor))
    if subject := filters.get("subject"):
        conditions.append(AuditEntry.subject_id == subject)
    if since := filters.get("since"):
        conditions.append(AuditEntry.at >= to_instant(since, zone))
    if until := filters.get("until"):
        conditions.append(AuditEntry.at <= to_instant(until, zone))
    return conditions


@as_of_now
def _stream_csv(query: Select[Any]) -> Iterator[bytes]:
    """The rows of a query as CSV, the newest first."""
    entries = query.subquery("entries")
    cells: list[ColumnElement[Any]] = [literal_column(escape_sql(f"CAST(entries.{name} AS text)")) for name in COLUMNS]
    ordered = select(*cells).select_from(entries).order_by(entries.c.at.desc(), entries.c.id.desc())
    compiled = ordered.compile(dialect=DIALECT, compile_kwargs={"render_postcompile": True})
    return stream_query_csv(str(compiled), tuple(COLUMNS.values()), compiled.params)
