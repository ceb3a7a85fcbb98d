"""The states of a campaign, and every way from one to another; and those of a recipient.

    draft ──▶ scheduled ──▶ sending ──▶ sent
      │  ◀──────  │            │
      │           │            └──────▶ failed     nobody could be written to
      └───────────┴──▶ canceled

    pending ──▶ sent | failed | suppressed | uncertain        uncertain ──▶ pending (sent again on purpose)

Texts, split and audience are frozen from `sending` on.
"""

DRAFT, SCHEDULED, SENDING, SENT, FAILED, CANCELED = "draft", "scheduled", "sending", "sent", "failed", "canceled"
STEPS: dict[str, frozenset[str]] = {
    DRAFT: frozenset({DRAFT, SCHEDULED, SENDING, CANCELED}),
    SCHEDULED: frozenset({DRAFT, SCHEDULED, SENDING, CANCELED}),
    SENDING: frozenset({SENT, FAILED}),
    SENT: frozenset(),
    FAILED: frozenset(),
    CANCELED: frozenset(),
}
STATES = tuple(STEPS)
OPEN = tuple(state for state, ways in STEPS.items() if SENDING in ways)
"""States in which a campaign may still be changed or called off."""

PENDING, SUPPRESSED, UNCERTAIN = "pending", "suppressed", "uncertain"
SETTLED = (SENT, FAILED, SUPPRESSED, UNCERTAIN)
RECIPIENT_STATES = (PENDING, *SETTLED)
RECIPIENT_STEPS: dict[str, frozenset[str]] = {
    PENDING: frozenset({SENT, FAILED, SUPPRESSED, UNCERTAIN}),
    SENT: frozenset(),
    FAILED: frozenset({SENT, SUPPRESSED, UNCERTAIN}),
    SUPPRESSED: frozenset(),
    UNCERTAIN: frozenset({PENDING, SENT, FAILED, SUPPRESSED}),
}
"""What has failed or is uncertain can be sent again: by the organiser (`pending`), or by an operator's retry."""
CHANNELS = ("email", "sms", "push")
HOLDERS, SPECIFIC = "event_ticket_holders", "specific_users"
AUDIENCES = (HOLDERS, SPECIFIC)
