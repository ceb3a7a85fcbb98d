"""Writes entries of the audit trail, in the transaction of the act.

    with transaction() as session:
        …
        record(session, Action.PAYOUT_REQUESTED, account_id=caller.id, subject=payout.id)

The actor, the network and the request id come from `app.core.context`. An act that is one statement adds its entry in the
same statement: a CTE with `sql.insert_entries_sql` and the parameters of `entry_params`.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Protocol

import orjson
from sqlalchemy import ColumnElement, Insert, String, insert, literal, select
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Session

from app.audit.actions import Action
from app.audit.models import AuditEntry
from app.audit.sql import INSERT_ENTRIES
from app.core.addresses import truncate_address
from app.core.context import client_address, current_actor, request_id
from app.core.db import fetch_rows
from app.core.transaction import write_row

Data = Mapping[str, object]


class ActingCaller(Protocol):
    """Who acts: a caller, or an `Actor`."""

    @property
    def kind(self) -> str: ...
    @property
    def id(self) -> str | None: ...
    @property
    def session_id(self) -> str | None: ...


def record(
    session: Session,
    action: Action,
    *,
    caller: ActingCaller | None = None,
    organisation_id: str | None = None,
    event_id: str | None = None,
    account_id: str | None = None,
    subject: str | None = None,
    data: Data | None = None,
) -> None:
    """Add an entry to the open transaction. `subject` is the id of the thing, `account_id` the account that it concerns.

    `caller` is needed only where the request has no token, as in a sign-in. An event gives the organisation. `data` is
    small and has no secrets, names or addresses.
    """
    record_many(
        session,
        action,
        [subject],
        caller=caller,
        organisation_id=organisation_id,
        event_id=event_id,
        account_id=account_id,
        data=data,
    )


def record_many(
    session: Session,
    action: Action,
    subjects: Sequence[str | None],
    *,
    caller: ActingCaller | None = None,
    organisation_id: str | None = None,
    event_id: str | None = None,
    account_id: str | None = None,
    data: Data | None = None,
) -> None:
    """Add an entry for each subject to the open transaction, in one statement."""
    assert session.info.get("writing"), "record an act in its transaction"
    if subjects:
        fetch_rows(INSERT_ENTRIES, _build_params(action, caller, subjects, organisation_id, event_id, account_id, data))


def record_export(
    action: Action,
    *,
    caller: ActingCaller | None = None,
    organisation_id: str | None = None,
    event_id: str | None = None,
    account_id: str | None = None,
    subject: str | None = None,
    data: Data | None = None,
) -> None:
    """Record a read that exports data, before the data is sent. The entry is a transaction of its own."""
    write_row(INSERT_ENTRIES, _build_params(action, caller, [subject], organisation_id, event_id, account_id, data))


def entry_params(action: Action, caller: ActingCaller | None = None) -> dict[str, str | None]:
    """Return the parameters of `insert_entries_sql`."""
    actor = caller or current_actor.get()
    return {
        "audit_action": action.value,
        "audit_subject_kind": action.subject_kind,
        "audit_actor_kind": actor.kind,
        "audit_actor_id": actor.id,
        "audit_session_id": actor.session_id or None,
        "audit_network": _truncate_address(client_address.get()),
        "audit_request_id": request_id.get() or None,
    }


def insert_entry(action: Action, *, account: ColumnElement[str], data: Data) -> Insert:
    """Return the insert of an entry for the row of a CTE whose id is `account`, for statements of SQLAlchemy."""
    columns: dict[str, ColumnElement[Any]] = {
        **{name.removeprefix("audit_"): literal(value, String) for name, value in entry_params(action).items()},
        "account_id": account,
        "subject_id": account,
        "data": literal(data, JSONB),
    }
    return insert(AuditEntry).from_select([*columns], select(*columns.values()), include_defaults=False)


def _build_params(
    action: Action,
    caller: ActingCaller | None,
    subjects: Sequence[str | None],
    organisation_id: str | None,
    event_id: str | None,
    account_id: str | None,
    data: Data | None,
) -> dict[str, object]:
    facts = {name.removeprefix("audit_"): value for name, value in entry_params(action, caller).items()}
    return {
        **facts,
        "organisation_id": organisation_id,
        "event_id": event_id,
        "account_id": account_id,
        "subjects": list(subjects),
        "data": orjson.dumps(data or {}).decode(),
    }


@lru_cache(1024)
def _truncate_address(address: str) -> str | None:
    return truncate_address(address)
