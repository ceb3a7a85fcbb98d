"""Reads of people's wishes."""

from datetime import datetime
from hashlib import sha256
from typing import Any

from app.accounts.caller import Caller
from app.core.db import fetch_row
from app.subscriptions.channels import CHANNELS
from app.subscriptions.links import Subject

SHOWN, VERSIONS = 500, 10**9
ALL, ORGANISER, NONE = "all", "organiser", "none"
PREFERENCES = f"""
    SELECT (SELECT coalesce(jsonb_object_agg(channel, jsonb_build_array(wanted, version)), '{{}}')
              FROM channel_preference WHERE account_id = %(id)s),
           (SELECT coalesce(jsonb_agg(
                       jsonb_build_array(u.id, u.organiser_id, coalesce(p.org_name, a.name), u.created_at)
                       ORDER BY u.created_at DESC, u.id), '[]')
              FROM (SELECT id, organiser_id, created_at FROM unsubscribe
                     WHERE address = %(address)s ORDER BY organiser_id IS NULL DESC, created_at DESC LIMIT {SHOWN}) u
              LEFT JOIN account a ON a.id = u.organiser_id
              LEFT JOIN organiser_profile p ON p.account_id = u.organiser_id)
"""
STANDING = """
    SELECT coalesce(p.org_name, a.name), a.email,
           EXISTS (SELECT FROM unsubscribe WHERE address = %(address)s AND organiser_id = %(organiser_id)s),
           EXISTS (SELECT FROM unsubscribe WHERE address = %(address)s AND organiser_id IS NULL)
      FROM (VALUES (CAST(%(organiser_id)s AS text))) asked (id)
      LEFT JOIN account a ON a.id = asked.id LEFT JOIN organiser_profile p ON p.account_id = a.id
     WHERE asked.id IS NULL OR a.id IS NOT NULL
"""


def preferences(caller: Caller) -> dict[str, Any]:
    """Which channels the caller wants, and the organisers (at most the last 500) who may not write any more.

    `version` follows from all of it, so it also changes when a link in a mail is used.
    """
    row = fetch_row(PREFERENCES, {"id": caller.id, "address": caller.email})
    assert row is not None
    wishes, ended = row
    return {
        **{channel: wishes.get(channel, [True])[0] for channel in CHANNELS},
        "unsubscribed_from_all": any(organiser is None for _, organiser, *_ in ended),
        "unsubscribed_from": [
            {"organiser_id": organiser, "name": name, "since": datetime.fromisoformat(since)}
            for _, organiser, name, since in ended
            if organiser is not None
        ],
        "version": _version(wishes, [id for id, *_ in ended]),
    }


def standing(subject: Subject) -> dict[str, Any] | None:
    """What a link is about and how it stands: `organiser` and `contact` (None on a link about all), `ended` as ALL,
    ORGANISER or NONE. None when the organiser is gone."""
    row = fetch_row(STANDING, {"address": subject.address, "organiser_id": subject.organiser_id})
    if row is None:
        return None
    name, contact, organiser, everything = row
    ended = ALL if everything else ORGANISER if organiser else NONE
    return {"organiser": name, "contact": contact, "ended": ended}


def _version(wishes: dict[str, Any], ended: list[str]) -> int:
    return int(sha256(repr((sorted(wishes.items()), sorted(ended))).encode()).hexdigest()[:12], 16) % VERSIONS
