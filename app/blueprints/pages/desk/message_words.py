"""How the desk names the states, channels, audiences and results of messages to many."""

from collections.abc import Mapping, Sequence
from itertools import permutations
from typing import Any

from app.blueprints.pages.desk.stall_words import STATE_LABELS
from app.campaigns import states, suppressions
from app.campaigns.filtered_people_sql import APPLICANTS, GUESTS, STALLHOLDERS, TICKET_HOLDERS
from app.campaigns.queries import AudienceChoices
from app.core.languages import LANGUAGES

CAMPAIGN_STATES = {
    states.DRAFT: "Draft",
    states.SCHEDULED: "Scheduled",
    states.SENDING: "Being sent",
    states.SENT: "Sent",
    states.FAILED: "Failed",
    states.CANCELED: "Cancelled",
}
CHANNEL_LABELS = {"email": "E-mail", "sms": "SMS", "push": "Push message"}
ROLE_LABELS = {
    TICKET_HOLDERS: "Ticket holders",
    GUESTS: "Guests of blocks",
    STALLHOLDERS: "Stallholders",
    APPLICANTS: "Applicants for a stall",
}
EXCLUSION_LABELS = {
    "optedOut": "Unsubscribed, or switched the channel off",
    "noAddress": "Without an address for these channels",
    "suppressed": "The address refused messages for good",
    "duplicate": "Further entries of people who are counted already",
    "notRelated": "Not at this event",
}
FIGURE_LABELS = {
    "total": "Messages",
    "sent": "Sent",
    "failed": "Failed",
    "uncertain": "Uncertain",
    "suppressed": "Unsubscribed meanwhile",
    "pending": "Still to send",
    "clicked": "Clicked the link",
}
UNDELIVERED_LABELS = {states.FAILED: "Failed", states.UNCERTAIN: "Uncertain"}
SUPPRESSION_LABELS = {
    suppressions.UNSUBSCRIBED: "Unsubscribed",
    suppressions.STOPPED: "Stopped by you",
    suppressions.BOUNCED: "Refused for good",
}
ACT_LABELS = {
    "drafted": "Saved as a draft",
    "scheduled": "Scheduled",
    "sent": "Sent",
    "changed": "Changed",
    "canceled": "Cancelled",
    "resent": "Uncertain messages were sent again",
}


def describe_channels(channels: Sequence[str]) -> str:
    """The channels in words: `E-mail, SMS`."""
    return ", ".join(CHANNEL_LABELS[channel] for channel in channels)


CHANNEL_LISTS = {
    ", ".join(channels): describe_channels(channels)
    for count in range(1, len(CHANNEL_LABELS) + 1)
    for channels in permutations(CHANNEL_LABELS, count)
}
"""The words of each list of channels, as `list_campaigns_with_sums_query` joins them."""


def describe_audience(campaign: Mapping[Any, Any], choices: AudienceChoices) -> list[str]:
    """Who gets a message, as lines: the roles, then each condition."""
    if campaign["audience_type"] == states.SPECIFIC:
        return [f"{len(campaign['user_ids'])} people chosen by name"]
    if campaign["audience_type"] == states.HOLDERS:
        return [f"{ROLE_LABELS[TICKET_HOLDERS]}, {ROLE_LABELS[GUESTS].lower()}"]
    chosen = campaign["audience_filter"] or {}
    names = {**dict(choices.ticket_types), **dict(choices.blocks)}
    lines = [", ".join(ROLE_LABELS[role] for role in chosen.get("roles") or ())]
    conditions = {
        "Ticket types": [names.get(id, "a ticket type that is gone") for id in chosen.get("ticket_type_ids") or ()],
        "Blocks": [names.get(id, "a block that is gone") for id in chosen.get("block_ids") or ()],
        "Applications": [STATE_LABELS[state] for state in chosen.get("application_states") or ()],
        "Languages": [LANGUAGES[language] for language in chosen.get("languages") or ()],
    }
    lines += [f"{label}: {', '.join(values)}" for label, values in conditions.items() if values]
    if chosen.get("admitted") is not None:
        lines.append("Only people who are in" if chosen["admitted"] else "Only people who are not in yet")
    return lines
