"""Reads of people's wishes."""

from datetime import datetime
from hashlib import sha256
from typing import Any

from app.accounts.caller import Caller
from app.core.db import fetch_row
from app.subscriptions.channels import CHANNELS
from app.subscriptions.unsubscribe_links import UnsubscribeTarget

MAX_UNSUBSCRIBES_LISTED, VERSION_RANGE = 500, 10**9
FROM_ALL, FROM_ORGANISER, FROM_NONE = "all", "organiser", "none"
PREFERENCES_SQL = f"""
    SELECT (SELECT coalesce(jsonb_object_agg(channel, jsonb_build_array(wanted, version)), '{{}}')
              FROM channel_preference WHERE account_id = %(id)s),
           (SELECT coalesce(jsonb_agg(
                       jsonb_build_array(u.id, u.organiser_id, coalesce(p.org_name, a.name), u.created_at)
                       ORDER BY u.created_at DESC, u.id), '[]')
              FROM (SELECT id, organiser_id, created_at FROM unsubscribe
                     WHERE address = %(address)s ORDER BY organiser_id IS NULL DESC, created_at DESC LIMIT {MAX_UNSUBSCRIBES_LISTED}) u
              LEFT JOIN account a ON a.id = u.organiser_id
              LEFT JOIN organiser_profile p ON p.account_id = u.organiser_id)
"""
UNSUBSCRIBE_STATUS_SQL = """
    SELECT coalesce(p.org_name, a.name), a.email,
           EXISTS (SELECT FROM unsubscribe WHERE address = %(address)s AND organiser_id = %(organiser_id)s),
           EXISTS (SELECT FROM unsubscribe WHERE address = %(address)s AND organiser_id IS NULL)
      FROM (VALUES (CAST(%(organiser_id)s AS text))) asked (id)
      LEFT JOIN account a ON a.id = asked.id LEFT JOIN organiser_profile p ON p.account_id = a.id
     WHERE asked.id IS NULL OR a.id IS NOT NULL
"""


def load_preferences(caller: Caller) -> dict[str, Any]:
    """Which channels the caller wants, and the organisers (at most the last 500) who may not write any more.

    `version` follows from all of it, so it also changes when a link in a mail is used.
    """
    row = fetch_row(PREFERENCES_SQL, {"id": caller.id, "address": caller.email})
    assert row is not None
    channel_preferences, unsubscribes = row
    return {
        **{channel: channel_preferences.get(channel, [True])[0] for channel in CHANNELS},
        "unsubscribed_from_all": any(organiser_id is None for _, organiser_id, *_ in unsubscribes),
        "unsubscribed_from": [
            {"organiser_id": organiser_id, "name": name, "since": datetime.fromisoformat(since)}
            for _, organiser_id, name, since in unsubscribes
            if organiser_id is not None
        ],
        "version": _compute_version(channel_preferences, [unsubscribe_id for unsubscribe_id, *_ in unsubscribes]),
    }


def find_unsubscribe_status(target: UnsubscribeTarget) -> dict[str, Any] | None:
    """What a link is about and how it stands: `organiser` and `contact` (None on a link about all), `ended` as ALL,
    ORGANISER or NONE. None when the organiser is gone."""
    row = fetch_row(UNSUBSCRIBE_STATUS_SQL, {"address": target.address, "organiser_id": target.organiser_id})
    if row is None:
        return None
    name, contact, is_unsubscribed, is_unsubscribed_from_all = row
    scope = FROM_ALL if is_unsubscribed_from_all else FROM_ORGANISER if is_unsubscribed else FROM_NONE
    return {"organiser": name, "contact": contact, "scope": scope}


def _compute_version(channel_preferences: dict[str, Any], unsubscribe_ids: list[str]) -> int:
    return (
        int(sha256(repr((sorted(channel_preferences.items()), sorted(unsubscribe_ids))).encode()).hexdigest()[:12], 16)
        % VERSION_RANGE
    )
