"""The copy of all that is stored about a person: a ZIP with a JSON file for each topic, and the files that they uploaded.

Each domain registers its topics, in its `data_export.py`:

    @export_part("payouts")
    def export_payouts(owner):
        return list_rows(select(…).where(Payout.account_id == owner.account_id))

A part has what is about this person: never other people's data, never hashes, tokens or codes. A topic without data has
no file. `@export_files` registers the files that the person has uploaded.

The token of the download link is derived from the id, so that a repeated mail has the same link. Only its hash is stored.
"""

import zipfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import IO, Any, NamedTuple

import orjson
from sqlalchemy import Select, delete, func, or_, select, update
from sqlalchemy.orm import Session as OrmSession

from app.accounts.models import Account
from app.accounts.personal_data_models import DONE, FAILED, QUEUED, DataExport
from app.clients import storage
from app.core.db import db, release_connection
from app.core.outbox import enqueue
from app.core.throttle import Rule
from app.core.tokens import derived_text, fingerprint

EXPORTS_PER_DAY = Rule("data-exports", 1, timedelta(days=1))
LINK_LIFETIME = timedelta(days=7)
FAILED_LIFETIME = timedelta(days=1)
BATCH_SIZE = 100
JSON_OPTIONS = orjson.OPT_INDENT_2 | orjson.OPT_UTC_Z | orjson.OPT_APPEND_NEWLINE
README = """This is a copy of what Event Commerce stores about {name} ({email}), made on {day}.

Each file with the ending .json is a text file about one topic. Times are in UTC, amounts ending in "_minor" are cents.
The folder "documents" has the files that you uploaded.

The copy has nothing about other people: guests of your events, your crew and the people in your team are not in it.
It has no passwords, codes or keys.
"""


@dataclass(frozen=True)
class ExportOwner:
    """The person whose data is copied. The address is verified, so what is stored under it is theirs."""

    account_id: str
    email: str
    name: str


class ExportFile(NamedTuple):
    """A file in the private storage, and its name in the copy."""

    name: str
    stored_as: str


Part = Callable[[ExportOwner], object]
FileList = Callable[[ExportOwner], Iterable[ExportFile]]
_parts: dict[str, Part] = {}
_file_lists: list[FileList] = []


def export_part(topic: str) -> Callable[[Part], Part]:
    """Registers a function that returns a domain's data about a person, as JSON; `topic` names the file."""

    def register(part: Part) -> Part:
        if topic in _parts:
            raise TypeError(f"two parts are named {topic}")
        _parts[topic] = part
        return part

    return register


def export_files(file_list: FileList) -> FileList:
    """Registers a function that lists the files which a person has uploaded."""
    _file_lists.append(file_list)
    return file_list


def list_rows(statement: Select[*tuple[Any, ...]]) -> list[dict[str, object]]:
    """The rows of a statement by the names of their columns."""
    return [dict(row) for row in db.session.execute(statement).mappings()]


def find_queued_owner(export_id: str) -> ExportOwner | None:
    """The person of an export that is not made yet; None if it is made, or the account was deleted."""
    query = (
        select(Account.id, Account.email, Account.name)
        .join(DataExport, DataExport.account_id == Account.id)
        .where(DataExport.id == export_id, DataExport.status == QUEUED, Account.email_verified_at.is_not(None))
    )
    row = db.session.execute(query).first()
    return ExportOwner(*row) if row else None


def write_export(file: IO[bytes], owner: ExportOwner, *, day: str) -> None:
    """Writes the ZIP. Raises StorageUnavailable."""
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("README.txt", README.format(name=owner.name, email=owner.email, day=day))
        for topic, part in sorted(_parts.items()):
            data = part(owner)
            if data:
                archive.writestr(f"{topic}.json", orjson.dumps(data, default=str, option=JSON_OPTIONS))
        files = [file for file_list in _file_lists for file in file_list(owner)]
        release_connection()
        for name, stored_as in files:
            content = storage.get(stored_as)
            if content is not None:
                archive.writestr(name, content)


def finish_export(session: OrmSession, export_id: str, size: int) -> bool:
    """Makes the link valid and enqueues its mail. False when the export or its account was deleted meanwhile."""
    is_owner_there = select(Account.id).where(
        Account.id == DataExport.account_id, Account.email_verified_at.is_not(None)
    )
    statement = (
        update(DataExport)
        .where(DataExport.id == export_id, DataExport.status == QUEUED, is_owner_there.exists())
        .values(
            status=DONE,
            token_hash=fingerprint(build_token(export_id)),
            size=size,
            expires_at=func.now() + LINK_LIFETIME,
        )
        .returning(DataExport.id)
    )
    is_finished = session.scalar(statement, execution_options={"synchronize_session": False}) is not None
    if is_finished:
        enqueue("accounts.mail_export", export_id=export_id)
    return is_finished


def build_token(export_id: str) -> str:
    return derived_text("data-export", export_id)


def build_file_name(export_id: str) -> str:
    return f"private/exports/{export_id}.zip"


@dataclass(frozen=True)
class ReadyExport:
    """An export that can be downloaded; `size` is in bytes."""

    id: str
    size: int
    created_at: datetime
    expires_at: datetime


def find_export_by_token(token: str) -> ReadyExport | None:
    """The export of a link; None when the link is unknown or has expired, or the account was deleted."""
    query = (
        select(DataExport.id, DataExport.size, DataExport.created_at, DataExport.expires_at)
        .join(Account, Account.id == DataExport.account_id)
        .where(DataExport.token_hash == fingerprint(token), *_ready_conditions())
    )
    row = db.session.execute(query).first()
    return ReadyExport(row.id, row.size, row.created_at, row.expires_at) if row else None


def read_file(export: ReadyExport) -> Iterator[bytes] | None:
    """The file in pieces; None when it is missing. Raises StorageUnavailable."""
    release_connection()
    return storage.stream(build_file_name(export.id))


def find_mail_data(export_id: str) -> tuple[ExportOwner, datetime] | None:
    """The owner of an export whose link is valid, and its end."""
    query = (
        select(Account.id, Account.email, Account.name, DataExport.expires_at)
        .join(DataExport, DataExport.account_id == Account.id)
        .where(DataExport.id == export_id, *_ready_conditions())
    )
    row = db.session.execute(query).first()
    return (ExportOwner(row.id, row.email, row.name), row.expires_at) if row else None


def _ready_conditions() -> tuple[Any, ...]:
    # A deleted account has no verified address.
    return DataExport.expires_at > func.now(), Account.email_verified_at.is_not(None)


def list_dead_exports() -> list[str]:
    """The ids of up to BATCH_SIZE exports whose file must go: expired or failed ones, and those of deleted accounts."""
    query = (
        select(DataExport.id)
        .join(Account, Account.id == DataExport.account_id)
        .where(
            or_(
                DataExport.expires_at <= func.now(),
                (DataExport.status == FAILED) & (DataExport.created_at <= func.now() - FAILED_LIFETIME),
                Account.email_verified_at.is_(None),
            )
        )
        .limit(BATCH_SIZE)
    )
    return list(db.session.scalars(query))


def delete_exports(session: OrmSession, ids: Iterable[str]) -> None:
    session.execute(delete(DataExport).where(DataExport.id.in_(list(ids))))


def fail_exports(session: OrmSession, ids: Iterable[str]) -> list[str]:
    """Marks exports that cannot be made, and returns the ids of their accounts."""
    statement = update(DataExport).where(DataExport.id.in_(list(ids)), DataExport.status == QUEUED)
    failed = statement.values(status=FAILED).returning(DataExport.account_id)
    return list(session.scalars(failed, execution_options={"synchronize_session": False}))
