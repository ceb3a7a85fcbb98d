"""How the desk names the states, channels, audiences and results of messages to many."""

from collections.abc import Mapping, Sequence
from itertools import permutations
from typing import Any

from app.blueprints.pages.desk.stall_words import STATE_LABELS
from app.campaigns import states, suppressions
from app.campaigns.filtered_people_sql import APPLICANTS, GUESTS, STALLHOLDERS, TICKET_HOLDERS
from app.campaigns.queries import AudienceChoices
from app.core.languages import LANGUAGES, gettext, lazy_gettext, lazy_pgettext, lazy_text, ngettext

CAMPAIGN_STATES = {
    states.DRAFT: lazy_gettext("Draft"),
    states.SCHEDULED: lazy_gettext("Scheduled"),
    states.SENDING: lazy_gettext("Being sent"),
    states.SENT: lazy_gettext("Sent"),
    states.FAILED: lazy_gettext("Failed"),
    states.CANCELED: lazy_pgettext("message", "Cancelled"),
}
CHANNEL_LABELS = {"email": lazy_gettext("E-mail"), "sms": lazy_gettext("SMS"), "push": lazy_gettext("Push message")}
ROLE_LABELS = {
    TICKET_HOLDERS: lazy_gettext("Ticket holders"),
    GUESTS: lazy_gettext("Guests of blocks who have claimed their ticket"),
    STALLHOLDERS: lazy_gettext("Stallholders"),
    APPLICANTS: lazy_gettext("Applicants for a stall"),
}
EXCLUSION_LABELS = {
    "optedOut": lazy_gettext("Unsubscribed, or switched the channel off"),
    "noAddress": lazy_gettext("Without an address for these channels"),
    "suppressed": lazy_gettext("The address refuses all messages"),
    "duplicate": lazy_gettext("The same people again"),
    "notRelated": lazy_gettext("Not at this event"),
}
FIGURE_LABELS = {
    "total": lazy_gettext("Messages"),
    "sent": lazy_gettext("Sent"),
    "failed": lazy_gettext("Failed"),
    "uncertain": lazy_gettext("Uncertain"),
    "suppressed": lazy_gettext("Left out while sending"),
    "pending": lazy_gettext("Still to send"),
    "clicked": lazy_gettext("Clicked the link"),
    "unsubscribed": lazy_gettext("Unsubscribed since"),
}
RECIPIENT_LABELS = {
    state: FIGURE_LABELS[state]
    for state in (states.SENT, states.PENDING, states.FAILED, states.UNCERTAIN, states.SUPPRESSED)
}
UNDELIVERED_LABELS = {states.FAILED: lazy_gettext("Failed"), states.UNCERTAIN: lazy_gettext("Uncertain")}
MAIL_LABELS = {
    "applications.mail": lazy_gettext("About the application"),
    "applications.mail_reminder": lazy_gettext("Reminder of what is due"),
    "applications.mail_expiry": lazy_gettext("Document that expires"),
    "allocations.invite": lazy_gettext("Invitation to a place"),
    "allocations.remind": lazy_gettext("Reminder of an invitation"),
    "allocations.ticket": lazy_gettext("Tickets"),
    "allocations.mail_allocator_link": lazy_gettext("Holder’s link"),
    "allocations.mail_invoice": lazy_gettext("Invoice"),
    "allocations.mail_payment": lazy_gettext("Payment of an invoice"),
    "allocations.mail_payment_taken_back": lazy_gettext("Payment taken back"),
    "allocations.mail_report": lazy_gettext("Report"),
    "invitations.mail_invite": lazy_gettext("Invitation to apply"),
    "invitations.mail_link": lazy_gettext("Invitation to apply"),
}
"""By the kind of the job that sends the mail."""
SUPPRESSION_LABELS = {
    suppressions.UNSUBSCRIBED: lazy_gettext("Unsubscribed"),
    suppressions.STOPPED: lazy_gettext("Stopped by you"),
    suppressions.BOUNCED: lazy_gettext("Refuses all messages"),
}
ACT_LABELS = {
    "drafted": lazy_gettext("Saved as a draft"),
    "scheduled": lazy_gettext("Scheduled"),
    "sent": lazy_gettext("Sent"),
    "changed": lazy_gettext("Changed"),
    "canceled": lazy_pgettext("message", "Cancelled"),
    "resent": lazy_gettext("Uncertain messages were sent again"),
}
TEMPLATE_LABELS = {
    "event-reminder": lazy_gettext("Reminder"),
    "line-up": lazy_gettext("Line-up"),
    "event-change": lazy_pgettext("noun", "Change"),
    "event-cancelled": lazy_gettext("Cancellation"),
    "stalls-cancelled": lazy_gettext("Cancellation, to the stalls"),
    "sold-out-warning": lazy_gettext("Nearly sold out"),
    "thank-you": lazy_gettext("Thank you"),
    "blank": lazy_gettext("Blank"),
}
IN_LABELS = {
    True: lazy_gettext("Only people who are in"),
    False: lazy_gettext("Only people who are not in yet"),
}


def describe_channels(channels: Sequence[str]) -> str:
    """The channels in words: `E-mail, SMS`."""
    return ", ".join(str(CHANNEL_LABELS[channel]) for channel in channels)


CHANNEL_LISTS = {
    ", ".join(channels): lazy_text(describe_channels, channels)
    for count in range(1, len(CHANNEL_LABELS) + 1)
    for channels in permutations(CHANNEL_LABELS, count)
}
"""The words of each list of channels, as `list_campaigns_with_sums_query` joins them."""


def describe_audience(campaign: Mapping[Any, Any], choices: AudienceChoices) -> list[str]:
    """Who gets a message, as lines: the roles, then each condition."""
    if campaign["audience_type"] == states.SPECIFIC:
        return [ngettext("%(num)s person chosen by name", "%(num)s people chosen by name", len(campaign["user_ids"]))]
    if campaign["audience_type"] == states.HOLDERS:
        return [gettext("Ticket holders, guests of blocks")]
    chosen = campaign["audience_filter"] or {}
    names = {**dict(choices.ticket_types), **dict(choices.blocks)}
    lines = [", ".join(str(ROLE_LABELS[role]) for role in chosen.get("roles") or ())]
    conditions = {
        gettext("Ticket types"): [
            names.get(id, gettext("a ticket type that was removed")) for id in chosen.get("ticket_type_ids") or ()
        ],
        gettext("Blocks"): [names.get(id, gettext("a block that was removed")) for id in chosen.get("block_ids") or ()],
        gettext("Applications"): [str(STATE_LABELS[state]) for state in chosen.get("application_states") or ()],
        gettext("Languages"): [LANGUAGES[language] for language in chosen.get("languages") or ()],
    }
    lines += [f"{label}: {', '.join(values)}" for label, values in conditions.items() if values]
    if chosen.get("admitted") is not None:
        lines.append(str(IN_LABELS[chosen["admitted"]]))
    return lines
