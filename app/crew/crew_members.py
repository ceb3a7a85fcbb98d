"""Members of a crew: who in a sent list stays and who is new, and their shift codes.

A code has six digits, is shown once and stored as a keyed hash. Five wrong codes lock for 15 minutes. A try is counted
before the code is compared, and its row stays locked until the transaction ends. Of a hundred simultaneous wrong codes
exactly five are refused as wrong; the others are locked out.
"""

import secrets
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import NotRequired, TypedDict

import segno
from sqlalchemy import Integer, case, delete, func, or_, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session as OrmSession

from app.core.errors import ValidationFailed
from app.core.ids import new_id
from app.core.tokens import derive
from app.crew.errors import ShiftCodeLocked
from app.crew.models import CodeGuard, CrewMember
from app.crew.queries import Crew, Stall

CODE_DIGITS = 6
MAX_TRIES = 5
LOCK_DURATION = timedelta(minutes=15)


class CrewEntry(TypedDict):
    """A member in the list that was sent."""

    name: str
    id: NotRequired[str | None]
    phone: NotRequired[str | None]
    email: NotRequired[str | None]
    role: NotRequired[str | None]
    pin: NotRequired[str | None]
    rotate_code: NotRequired[bool]


class MemberWithCode(TypedDict):
    """A member in the response; the code is present only in the response that made it."""

    id: str
    name: str
    phone: str | None
    email: str | None
    role: str | None
    shift_code: NotRequired[str]
    shift_code_qr: NotRequired[str]


@dataclass
class CrewChange:
    """A member after the change; `code` is set only if it is new."""

    id: str
    position: int
    entry: CrewEntry
    code_hash: str
    code: str | None

    def to_row(self, stall: Stall) -> dict[str, object]:
        """The values of the member's row."""
        return {
            "id": self.id,
            "merchant_id": stall.merchant_id,
            "event_id": stall.event_id,
            "position": self.position,
            "name": self.entry["name"],
            "phone": self.entry.get("phone") or None,
            "email": self.entry.get("email") or None,
            "role": self.entry.get("role") or None,
            "code_hash": self.code_hash,
            "retired_at": None,
        }

    def to_dict(self) -> MemberWithCode:
        """The member for the response, with a new code as text and as a QR code."""
        member: MemberWithCode = {
            "id": self.id,
            "name": self.entry["name"],
            "phone": self.entry.get("phone") or None,
            "email": self.entry.get("email") or None,
            "role": self.entry.get("role") or None,
        }
        if self.code is not None:
            member |= {"shift_code": self.code, "shift_code_qr": _draw_code_qr(self.id, self.code)}
        return member


def hash_code(merchant_id: str, event_id: str, code: str) -> str:
    """The keyed hash that the database stores; it cannot be reversed without SECRET_KEY."""
    return derive("shift-code", merchant_id, event_id, code).hex()


def generate_code(merchant_id: str, event_id: str, taken_hashes: Container[str]) -> str:
    """A random code whose hash is not among `taken_hashes`."""
    while True:
        code = f"{secrets.randbelow(10**CODE_DIGITS):0{CODE_DIGITS}d}"
        if hash_code(merchant_id, event_id, code) not in taken_hashes:
            return code


def _draw_code_qr(member_id: str, code: str) -> str:
    """Member id and code as a QR code, for a screen or a badge: the data URI of an SVG."""
    return segno.make(f"{member_id}:{code}", error="m", micro=False).svg_data_uri(scale=4, border=4)


def count_try(session: OrmSession, subject: str) -> None:
    """Counts one try. Raises ShiftCodeLocked after five within the lock duration."""
    is_expired = CodeGuard.last_at <= func.now() - LOCK_DURATION
    statement = insert(CodeGuard).values(subject=subject, tries=1, last_at=func.now())
    result = session.execute(
        statement.on_conflict_do_update(
            index_elements=["subject"],
            set_={"tries": case((is_expired, 1), else_=CodeGuard.tries + 1), "last_at": func.now()},
            where=or_(is_expired, CodeGuard.tries < MAX_TRIES),
        ).returning(CodeGuard.tries)
    )
    if result.first() is None:
        raise ShiftCodeLocked(retry_after=_get_lock_seconds(session, subject))


def delete_expired_tries(session: OrmSession) -> None:
    """Deletes the counts of tries that are older than the lock duration."""
    session.execute(delete(CodeGuard).where(CodeGuard.last_at <= func.now() - LOCK_DURATION))


def _get_lock_seconds(session: OrmSession, subject: str) -> int:
    seconds_left = func.ceil(func.extract("epoch", CodeGuard.last_at + LOCK_DURATION - func.now()))
    seconds = session.scalar(select(func.greatest(1, seconds_left).cast(Integer)).where(CodeGuard.subject == subject))
    return seconds or 1


def match_crew(stall: Stall, entries: Sequence[CrewEntry], existing_members: Sequence[CrewMember]) -> list[CrewChange]:
    """The crew in the order of the list. Raises ValidationFailed.

    An entry without an id is the member with the same email, phone or name, or else a new one; so sending the same
    list again changes nothing.
    """
    member_by_id = {existing_member.id: existing_member for existing_member in existing_members}
    matches = _match_entries(entries, member_by_id)
    taken_hashes = {
        existing_member.code_hash for existing_member in existing_members if existing_member.retired_at is None
    }
    changes: list[CrewChange] = []
    problems: list[dict[str, str]] = []
    for position, entry in enumerate(entries):
        matched_member = matches[position]
        is_returning = matched_member is not None and matched_member.retired_at is not None
        change = CrewChange(
            matched_member.id if matched_member else new_id(),
            position,
            entry,
            matched_member.code_hash if matched_member and not is_returning else "",
            None,
        )
        if entry.get("pin"):
            problems += _assign_pin(stall, change, taken_hashes)
        elif matched_member is None or is_returning or entry.get("rotate_code"):
            change.code = generate_code(stall.merchant_id, stall.event_id, taken_hashes)
        if change.code is not None:
            change.code_hash = hash_code(stall.merchant_id, stall.event_id, change.code)
            taken_hashes.add(change.code_hash)
        changes.append(change)
    if problems:
        raise ValidationFailed(problems)
    return changes


def list_crew_entries(crew: Crew) -> list[CrewEntry]:
    """The crew as a list that changes nothing when it is sent."""
    return [
        {"id": member.id, "name": member.name, "phone": member.phone, "email": member.email, "role": member.role}
        for member in crew.crew
    ]


def _match_entries(entries: Sequence[CrewEntry], member_by_id: Mapping[str, CrewMember]) -> list[CrewMember | None]:
    """The existing member of each entry, if any. Raises ValidationFailed for unknown or repeated ids."""
    matches: list[CrewMember | None] = [None] * len(entries)
    unmatched_members = dict(member_by_id)
    for position, entry in enumerate(entries):
        if entry.get("id"):
            matches[position] = unmatched_members.pop(str(entry["id"]), None)
            if matches[position] is None:
                code = "duplicate" if entry["id"] in member_by_id else "not_found"
                raise ValidationFailed.of(f"crew[{position}].id", code, "Take the id of a member of this crew, once.")
    for field in ("email", "phone", "name"):
        for position, entry in enumerate(entries):
            value = entry.get(field)
            if matches[position] is None and not entry.get("id") and value:
                matches[position] = _pop_matching_member(unmatched_members, field, str(value))
    return matches


def _pop_matching_member(unmatched_members: dict[str, CrewMember], field: str, value: str) -> CrewMember | None:
    for id, member in unmatched_members.items():
        if member.retired_at is None and (getattr(member, field) or "").casefold() == value.casefold():
            return unmatched_members.pop(id)
    return None


def _assign_pin(stall: Stall, change: CrewChange, taken_hashes: set[str]) -> list[dict[str, str]]:
    """Makes the PIN the member's code. Returns a problem if a colleague has it, even one whom this list gives another."""
    pin = str(change.entry["pin"])
    code_hash = hash_code(stall.merchant_id, stall.event_id, pin)
    if code_hash == change.code_hash:
        return []
    if code_hash in taken_hashes:
        problem = {"code": "taken", "message": "Somebody at this stall has this code."}
        return [{"path": f"crew[{change.position}].pin", **problem}]
    change.code = pin
    return []
