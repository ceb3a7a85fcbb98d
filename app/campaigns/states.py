"""The states of campaigns and recipients, and every step from one to another.

    draft ──▶ scheduled ──▶ sending ──▶ sent
      │  ◀──────  │            │
      │           │            └──────▶ failed     every message failed
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
OPEN = tuple(state for state, targets in STEPS.items() if SENDING in targets)
"""States in which a campaign may still be changed or cancelled."""

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
"""Failed and uncertain messages can be sent again: by the organiser (`pending`), or by an operator's retry."""
CHANNELS = ("email", "sms", "push")
HOLDERS, SPECIFIC, FILTERED = "event_ticket_holders", "specific_users", "filtered_people"
AUDIENCES = (HOLDERS, SPECIFIC, FILTERED)
