"""Reads of preferences and unsubscriptions."""

from datetime import datetime
from hashlib import sha256
from typing import TypedDict

from app.accounts.caller import Caller
from app.core.db import fetch_row
from app.subscriptions.message_links import UnsubscribeTarget
from app.subscriptions.sql import PREFERENCES_SQL, UNSUBSCRIBE_STATUS_SQL

VERSION_RANGE = 10**9
ChannelPreferences = dict[str, tuple[bool, int]]
"""Of each channel with a row: whether it is wanted, and the version."""
FROM_ALL, FROM_ORGANISER, FROM_NONE = "all", "organiser", "none"


class UnsubscribedOrganiser(TypedDict):
    """An organiser who may not write to the caller."""

    organiser_id: str
    name: str
    since: datetime


class Preferences(TypedDict):
    """The caller's channels and unsubscriptions."""

    email: bool
    sms: bool
    push: bool
    unsubscribed_from_all: bool
    unsubscribed_from: list[UnsubscribedOrganiser]
    version: int


class UnsubscribeStatus(TypedDict):
    """The organiser of a link and their address (None for a link to all), and what has `ended`: FROM_… ."""

    organiser: str | None
    contact: str | None
    scope: str


def load_preferences(caller: Caller) -> Preferences:
    """The caller's channels, and the newest unsubscriptions (at most MAX_UNSUBSCRIBES_LISTED).

    `version` is a hash of all values, so it also changes when a link in a mail is used.
    """
    row = fetch_row(PREFERENCES_SQL, {"id": caller.id, "address": caller.email})
    assert row is not None
    channel_preferences, unsubscribes = row
    return {
        "email": _is_wanted(channel_preferences, "email"),
        "sms": _is_wanted(channel_preferences, "sms"),
        "push": _is_wanted(channel_preferences, "push"),
        "unsubscribed_from_all": any(organiser_id is None for _, organiser_id, *_ in unsubscribes),
        "unsubscribed_from": [
            {"organiser_id": organiser_id, "name": name, "since": datetime.fromisoformat(since)}
            for _, organiser_id, name, since in unsubscribes
            if organiser_id is not None
        ],
        "version": _compute_version(channel_preferences, [unsubscribe_id for unsubscribe_id, *_ in unsubscribes]),
    }


def find_unsubscribe_status(target: UnsubscribeTarget) -> UnsubscribeStatus | None:
    """The organiser of an unsubscribe link, and what has ended; None when the organiser no longer exists."""
    row = fetch_row(UNSUBSCRIBE_STATUS_SQL, {"address": target.address, "organiser_id": target.organiser_id})
    if row is None:
        return None
    name, contact, is_unsubscribed, is_unsubscribed_from_all = row
    scope = FROM_ALL if is_unsubscribed_from_all else FROM_ORGANISER if is_unsubscribed else FROM_NONE
    return {"organiser": name, "contact": contact, "scope": scope}


def _is_wanted(channel_preferences: ChannelPreferences, channel: str) -> bool:
    return channel_preferences[channel][0] if channel in channel_preferences else True


def _compute_version(channel_preferences: ChannelPreferences, unsubscribe_ids: list[str]) -> int:
    state = repr((sorted(channel_preferences.items()), sorted(unsubscribe_ids)))
    return int(sha256(state.encode()).hexdigest()[:12], 16) % VERSION_RANGE
