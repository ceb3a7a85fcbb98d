"""docs/state-machines.md: every state machine of the service, drawn from the table that it goes by."""

from app.allocations import states as allocations
from app.allocations.tickets import models as packs
from app.applications import states as applications
from app.campaigns import states as campaigns
from app.core.outbox import models as outbox
from app.crew import states as crew
from app.events import visibility as events
from app.inventory import background_jobs
from app.invitations import states as invitations
from app.merchants import states as merchants
from app.payouts import states as payouts
from app.web.state_machine import StateMachine, render_mermaid

PAGE_HEADER = """\
# State machines

What an event, an application, a payout and all the others can be, and every step between. The states are those that
the API answers and filters by. Nothing leads out of an end. Made from the tables in the code by `flask docs write`; a
test lets the database refuse every other step while the service is used.
"""

STATE_MACHINES = (
    StateMachine(
        name="Event",
        description="Published and unlisted events answer by id, only published ones stand in lists. A draft with `publishAt`"
        " counts as published from that moment on, without a step.",
        transitions=events.STEPS,
        initial_states=(events.DRAFT,),
        column=("event", "visibility"),
        source=("STEPS", "app/events/visibility.py"),
        doc_pages=("events.md#visibility",),
        transition_labels={(events.DRAFT, events.PUBLISHED): "visibility=published"},
    ),
    StateMachine(
        name="Merchant",
        description="A deleted merchant becomes active by registering as a merchant again.",
        transitions=merchants.STEPS,
        initial_states=(merchants.ACTIVE,),
        column=("merchant", "status"),
        source=("STEPS", "app/merchants/states.py"),
        doc_pages=("merchants.md",),
        transition_labels={
            (merchants.ACTIVE, merchants.PAUSED): "needs nothing",
            (merchants.PAUSED, merchants.ACTIVE): "needs the password",
            (merchants.DELETED, merchants.ACTIVE): "registers again",
        },
    ),
    StateMachine(
        name="Application",
        description="`approved` is passed through at once: what is shown is the first thing that is outstanding. The"
        " applicant withdraws; when the event is over, what has not come to its end expires.",
        transitions=applications.STEPS,
        initial_states=(applications.SUBMITTED,),
        column=("merchant_application", "status"),
        source=("STEPS", "app/applications/states.py"),
        doc_pages=("applications.md",),
        transient_states=(applications.APPROVED,),
        transition_labels={
            (applications.SUBMITTED, applications.APPROVED): "the organiser, or an admin",
            (applications.AWAITING_DOCUMENTS, applications.AWAITING_PAYMENT): "handed in",
            (applications.AWAITING_PAYMENT, applications.READY): "paid",
            (applications.READY, applications.ACTIVATED): "the applicant opens an account",
        },
    ),
    StateMachine(
        name="Stall fee",
        description="One try to pay. Of an application at most one payment runs or is paid. That it was paid counts whenever"
        " the rail says so, also late. Without a final answer it stays `processing` and the rail is asked until there"
        " is one; an amount that is not ours is `processing`, too, until a person has looked.",
        transitions=applications.PAYMENT_STEPS,
        initial_states=("starting",),
        column=("stall_payment", "status"),
        source=("PAYMENT_STEPS", "app/applications/states.py"),
        doc_pages=("applications.md#the-stall-fee",),
        transition_labels={
            ("starting", "otp_required"): "a code goes out",
            ("otp_required", "processing"): "a code comes in",
            ("processing", "otp_required"): "it was wrong",
            ("processing", "expired"): "wrong five times",
            ("otp_required", "expired"): "another wallet",
        },
    ),
    StateMachine(
        name="Invitation",
        description="Of one merchant to one event. Only `pending` can change; a merchant who is invited again gets a new one.",
        transitions=invitations.STEPS,
        initial_states=(invitations.PENDING,),
        column=("event_invite", "status"),
        source=("STEPS", "app/invitations/states.py"),
        doc_pages=("merchants.md#invitations-from-the-directory",),
        transition_labels={
            (invitations.PENDING, invitations.ACCEPTED): "the merchant, or by itself",
            (invitations.PENDING, invitations.DECLINED): "the merchant",
            (invitations.PENDING, invitations.WITHDRAWN): "the organiser, or the event is called off",
            (invitations.PENDING, invitations.EXPIRED): "its time is over",
        },
    ),
    StateMachine(
        name="Shift",
        description="A shift never opens again: a person who comes back verifies again.",
        transitions=crew.STEPS,
        initial_states=(crew.CHECKED_IN,),
        column=None,
        source=("STEPS", "app/crew/states.py"),
        doc_pages=("crew.md#shifts",),
        transition_labels={(crew.CHECKED_IN, crew.CHECKED_OUT): "the crew, or by itself after 16 hours"},
    ),
    StateMachine(
        name="Payout",
        description="`paid`, `failed`, `cancelled` and `returned` are conclusive; only a bounce can follow `paid`. `failed`,"
        " `cancelled` and `returned` give the money back, once.",
        transitions=payouts.STEPS,
        initial_states=payouts.STEPS[""],
        column=("payout", "status"),
        source=("STEPS", "app/payouts/states.py"),
        doc_pages=("payouts.md",),
        transition_labels={
            (payouts.SCHEDULED, payouts.REQUESTED): "its time has come",
            (payouts.REQUESTED, payouts.PROCESSING): "the rail is told",
            (payouts.PROCESSING, payouts.NEEDS_REVIEW): "72 hours without an outcome",
            (payouts.PAID, payouts.RETURNED): "a late bounce",
        },
    ),
    StateMachine(
        name="Slot",
        description="One place of an allocation. A slot that ends is history; when its place goes back to the block, that"
        " place is a new slot with secrets of its own, so no old code, link or ticket ever opens anything again.",
        transitions=allocations.SLOT_STEPS,
        initial_states=(allocations.AVAILABLE,),
        column=("allocation_slot", "status"),
        source=("SLOT_STEPS", "app/allocations/states.py"),
        doc_pages=("allocations.md",),
        transition_labels={
            (allocations.AVAILABLE, allocations.INVITED): "a code or an invitation",
            (allocations.AVAILABLE, allocations.CLAIMED): "an open link, the holder, a pack",
            (allocations.INVITED, allocations.CLAIMED): "the guest says who comes",
            (allocations.CLAIMED, allocations.ADMITTED): "at the gate, once",
            (allocations.AVAILABLE, allocations.RELEASED): "back to the public",
            (allocations.CLAIMED, allocations.REVOKED): "taken back, or renamed",
        },
    ),
    StateMachine(
        name="Block",
        description="An allocation as a whole. What it is follows from its slots.",
        transitions=allocations.BLOCK_STEPS,
        initial_states=(allocations.OPEN,),
        column=("allocation_block", "status"),
        source=("BLOCK_STEPS", "app/allocations/states.py"),
        doc_pages=("allocations.md",),
        transition_labels={
            (allocations.OPEN, allocations.EXHAUSTED): "everything is claimed",
            (allocations.OPEN, allocations.RELEASED): "the rest went back to the public",
            (allocations.OPEN, allocations.CANCELLED): "every place revoked or moved away",
            (allocations.EXHAUSTED, allocations.OPEN): "a place comes back",
        },
    ),
    StateMachine(
        name="Pack",
        description="Tickets without names, printed for the door.",
        transitions=packs.STEPS,
        initial_states=(packs.QUEUED,),
        column=("ticket_pack", "status"),
        source=("STEPS", "app/allocations/tickets/models.py"),
        doc_pages=("allocations-papers.md#packs-printed-tickets-for-the-door",),
    ),
    StateMachine(
        name="Campaign",
        description="Texts, split and audience are frozen from `sending` on.",
        transitions=campaigns.STEPS,
        initial_states=(campaigns.DRAFT, campaigns.SCHEDULED, campaigns.SENDING),
        column=("campaign", "status"),
        source=("STEPS", "app/campaigns/states.py"),
        doc_pages=("campaigns.md#when",),
        transition_labels={
            (campaigns.DRAFT, campaigns.SCHEDULED): "scheduledAt",
            (campaigns.SCHEDULED, campaigns.DRAFT): "scheduledAt null",
            (campaigns.DRAFT, campaigns.SENDING): "sendNow",
            (campaigns.SCHEDULED, campaigns.SENDING): "its time has come",
            (campaigns.SENDING, campaigns.SENT): "nothing is pending",
            (campaigns.SENDING, campaigns.FAILED): "nobody could be reached",
        },
    ),
    StateMachine(
        name="Message",
        description="One person, one campaign, one channel. `uncertain` was handed over, and no answer says whether it"
        " arrived: it goes out again only when somebody says so.",
        transitions=campaigns.RECIPIENT_STEPS,
        initial_states=(campaigns.PENDING,),
        column=("campaign_recipient", "state"),
        source=("RECIPIENT_STEPS", "app/campaigns/states.py"),
        doc_pages=("campaigns.md#what-became-of-it",),
        transition_labels={
            (campaigns.PENDING, campaigns.SUPPRESSED): "said no meanwhile",
            (campaigns.UNCERTAIN, campaigns.PENDING): "the organiser sends it again",
            (campaigns.FAILED, campaigns.SENT): "an operator's retry",
        },
    ),
    StateMachine(
        name="Stock job",
        description="A large import, or a report on paper. One that has not ended after two hours is shown as `failed`. When"
        " a worker dies, another one begins again.",
        transitions=background_jobs.STEPS,
        initial_states=("queued", "done"),
        column=("inventory_job", "status"),
        source=("STEPS", "app/inventory/background_jobs.py"),
        doc_pages=("inventory-reports.md#on-paper",),
        transition_labels={("queued", "running"): "a worker takes it"},
    ),
    StateMachine(
        name="Work",
        description="What a request leaves for later: a row of the outbox.",
        transitions=outbox.STEPS,
        initial_states=("ready",),
        column=("outbox", "state"),
        source=("STEPS", "app/core/outbox/models.py"),
        doc_pages=("operations.md", "decisions/outbox.md"),
        transition_labels={
            ("ready", "leased"): "a worker takes it",
            ("leased", "ready"): "again later, or its holder died",
            ("leased", "dead"): "refused for good, or tried often enough",
            ("leased", "uncertain"): "perhaps sent, and never again by itself",
            ("ready", "dead"): "its time was over",
            ("dead", "ready"): "outbox retry",
            ("uncertain", "ready"): "outbox retry",
        },
    ),
)


def render_state_machines_page() -> str:
    """The page, with a table of contents."""
    contents = " · ".join(f"[{machine.name}](#{machine.name.lower().replace(' ', '-')})" for machine in STATE_MACHINES)
    return f"{PAGE_HEADER}\n{contents}\n" + "".join(map(_render_section, STATE_MACHINES))


def _render_section(machine: StateMachine) -> str:
    name, path = machine.source
    links = "".join(f", [{doc_page.partition('#')[0]}]({doc_page})" for doc_page in machine.doc_pages)
    final_states = ", ".join(f"`{state}`" for state in machine.final_states) or "none"
    return (
        f"\n## {machine.name}\n\n{machine.description}\n\n{render_mermaid(machine)}\n\n"
        f"Ends: {final_states}. Table: `{name}` in [{path}](../{path}){links}.\n"
    )
