"""The page docs/state-machines.md: the states of all objects, from the tables of transitions in the code."""

from app.accounts import personal_data_models
from app.allocations import states as allocations
from app.applications import states as applications
from app.campaigns import states as campaigns
from app.core.outbox import models as outbox
from app.crew import states as crew
from app.events import visibility as events
from app.files import states as files
from app.inventory import background_jobs, order_states
from app.invitations import states as invitations
from app.merchants import states as merchants
from app.payouts import states as payouts
from app.web.state_machine import StateMachine, render_mermaid

PAGE_HEADER = """\
# State machines

The states of all objects of the service, and the transitions between them. The API returns these states and filters by
them. A final state has no transition to another one. `flask docs write` generates this page from the tables in the
code; in a test, the database refuses all other transitions while the service is in use.
"""
STATE_MACHINES = (
    StateMachine(
        name="Event",
        description="Published and unlisted events can be read by id; only published ones are in lists. A draft with `publishAt`"
        " counts as published from that time on, without a transition.",
        transitions=events.STEPS,
        initial_states=(events.DRAFT,),
        column=("event", "visibility"),
        source=("STEPS", "app/events/visibility.py"),
        doc_pages=("events.md#visibility",),
        transition_labels={(events.DRAFT, events.PUBLISHED): "visibility=published"},
    ),
    StateMachine(
        name="Merchant",
        description="A deleted merchant becomes active again when they register as a merchant again.",
        transitions=merchants.STEPS,
        initial_states=(merchants.ACTIVE,),
        column=("merchant", "status"),
        source=("STEPS", "app/merchants/states.py"),
        doc_pages=("merchants.md",),
        transition_labels={
            (merchants.ACTIVE, merchants.PAUSED): "without a password",
            (merchants.PAUSED, merchants.ACTIVE): "with the password",
            (merchants.DELETED, merchants.ACTIVE): "registers again",
        },
    ),
    StateMachine(
        name="Copy of data",
        description="A copy of what is stored about a person. Its row and its file are deleted when its link ends.",
        transitions=personal_data_models.EXPORT_STEPS,
        initial_states=(personal_data_models.QUEUED,),
        column=("data_export", "status"),
        source=("EXPORT_STEPS", "app/accounts/personal_data_models.py"),
        doc_pages=("privacy.md#a-copy-of-your-data",),
    ),
    StateMachine(
        name="Application",
        description="`approved` is transient: the stored state is the first outstanding requirement. The applicant may"
        " withdraw. Applications that are not final expire when the event is over. The next in line on the waitlist gets"
        " an offer when a place is free.",
        transitions=applications.STEPS,
        initial_states=(applications.SUBMITTED,),
        column=("merchant_application", "status"),
        source=("STEPS", "app/applications/states.py"),
        doc_pages=("applications.md",),
        transient_states=(applications.APPROVED,),
        transition_labels={
            (applications.SUBMITTED, applications.APPROVED): "the organiser, or an admin",
            (applications.SUBMITTED, applications.WAITLISTED): "the organiser",
            (applications.WAITLISTED, applications.APPROVED): "the applicant accepts the offered place",
            (applications.WAITLISTED, applications.DECLINED): "the organiser, or the applicant says no",
            (applications.WAITLISTED, applications.EXPIRED): "an offer is not answered in time",
            (applications.AWAITING_DOCUMENTS, applications.AWAITING_PAYMENT): "documents submitted",
            (applications.READY, applications.AWAITING_DOCUMENTS): "a document is asked for again",
            (applications.AWAITING_PAYMENT, applications.READY): "paid",
            (applications.READY, applications.ACTIVATED): "the applicant opens an account, or has one",
        },
    ),
    StateMachine(
        name="Stall fee",
        description="One attempt to pay. At most one payment of an application is in progress or paid. A `paid` from the"
        " payment rail counts at any time, also late. Without a final response the payment stays `processing`, and the"
        " service polls the rail. A payment with a wrong amount also stays `processing` until a person reviews it.",
        transitions=applications.PAYMENT_STEPS,
        initial_states=("starting",),
        column=("stall_payment", "status"),
        source=("PAYMENT_STEPS", "app/applications/states.py"),
        doc_pages=("applications.md#the-stall-fee",),
        transition_labels={
            ("starting", "otp_required"): "the rail sends a code",
            ("otp_required", "processing"): "the payer enters the code",
            ("processing", "otp_required"): "wrong code",
            ("processing", "expired"): "five wrong codes",
            ("otp_required", "expired"): "another wallet",
        },
    ),
    StateMachine(
        name="Refund of a stall fee",
        description="A refund by the payment rail is requested until the rail has an outcome. One that the organiser has sent"
        " by transfer is refunded at once, also after the rail has refused it.",
        transitions=applications.REFUND_STEPS,
        initial_states=(applications.REFUND_REQUESTED, applications.REFUNDED),
        column=("stall_fee_refund", "status"),
        source=("REFUND_STEPS", "app/applications/states.py"),
        doc_pages=("applications.md#refunds",),
        transition_labels={
            (applications.REFUND_REQUESTED, applications.REFUNDED): "the rail has sent the money",
            (applications.REFUND_REQUESTED, applications.REFUND_REFUSED): "the rail cannot",
            (applications.REFUND_REFUSED, applications.REFUNDED): "sent by transfer",
        },
    ),
    StateMachine(
        name="Invitation",
        description="An invitation of one merchant to one event. An answer does not change; a merchant who is invited again gets"
        " a new invitation.",
        transitions=invitations.STEPS,
        initial_states=(invitations.PENDING,),
        column=("event_invite", "status"),
        source=("STEPS", "app/invitations/states.py"),
        doc_pages=("merchants.md#invitations-from-the-directory",),
        transition_labels={
            (invitations.PENDING, invitations.ACCEPTED): "the merchant, or automatically",
            (invitations.PENDING, invitations.DECLINED): "the merchant",
            (invitations.PENDING, invitations.WITHDRAWN): "the organiser, or the event is cancelled",
            (invitations.PENDING, invitations.EXPIRED): "its deadline passes",
            (invitations.ACCEPTED, invitations.WITHDRAWN): "its application ends before the fee is paid",
        },
    ),
    StateMachine(
        name="Shift",
        description="A shift never reopens: a person who returns verifies their identity again.",
        transitions=crew.STEPS,
        initial_states=(crew.CHECKED_IN,),
        column=None,
        source=("STEPS", "app/crew/states.py"),
        doc_pages=("crew.md#shifts",),
        transition_labels={(crew.CHECKED_IN, crew.CHECKED_OUT): "the crew, or automatically after 16 hours"},
    ),
    StateMachine(
        name="Payout",
        description="`paid`, `failed`, `cancelled` and `returned` are final, except that a bounce turns `paid` into `returned`."
        " `failed`, `cancelled` and `returned` return the money to the balance, once.",
        transitions=payouts.STEPS,
        initial_states=payouts.STEPS[""],
        column=("payout", "status"),
        source=("STEPS", "app/payouts/states.py"),
        doc_pages=("payouts.md",),
        transition_labels={
            (payouts.SCHEDULED, payouts.REQUESTED): "its time is reached",
            (payouts.REQUESTED, payouts.PROCESSING): "sent to the payment rail",
            (payouts.PROCESSING, payouts.NEEDS_REVIEW): "72 hours without an outcome",
            (payouts.PAID, payouts.RETURNED): "a late bounce",
        },
    ),
    StateMachine(
        name="Slot",
        description="One place of an allocation. A final slot never changes. When its place returns to the block, it becomes a"
        " new slot with new secrets, so old codes, links and tickets stay invalid.",
        transitions=allocations.SLOT_STEPS,
        initial_states=(allocations.AVAILABLE,),
        column=("allocation_slot", "status"),
        source=("SLOT_STEPS", "app/allocations/states.py"),
        doc_pages=("allocations.md",),
        transition_labels={
            (allocations.AVAILABLE, allocations.INVITED): "a code or an invitation",
            (allocations.AVAILABLE, allocations.CLAIMED): "an open link, the holder, a pack",
            (allocations.INVITED, allocations.CLAIMED): "the guest enters a name",
            (allocations.CLAIMED, allocations.ADMITTED): "at the gate, once",
            (allocations.AVAILABLE, allocations.RELEASED): "returned to public sale",
            (allocations.CLAIMED, allocations.REVOKED): "revoked, or renamed",
        },
    ),
    StateMachine(
        name="Block",
        description="An allocation as a whole. Its slots determine its state.",
        transitions=allocations.BLOCK_STEPS,
        initial_states=(allocations.OPEN,),
        column=("allocation_block", "status"),
        source=("BLOCK_STEPS", "app/allocations/states.py"),
        doc_pages=("allocations.md",),
        transition_labels={
            (allocations.OPEN, allocations.EXHAUSTED): "all slots are claimed",
            (allocations.OPEN, allocations.RELEASED): "the rest returned to public sale",
            (allocations.OPEN, allocations.CANCELLED): "every slot revoked or moved",
            (allocations.EXHAUSTED, allocations.OPEN): "a slot returns",
        },
    ),
    StateMachine(
        name="Pack",
        description="Tickets without names, printed for sale at the entrance.",
        transitions=allocations.PACK_STEPS,
        initial_states=(allocations.QUEUED,),
        column=("ticket_pack", "status"),
        source=("PACK_STEPS", "app/allocations/states.py"),
        doc_pages=("allocation-documents.md#packs-printed-tickets-for-the-door",),
    ),
    StateMachine(
        name="Purchase order",
        description="What one supplier is asked to deliver. An order stays open while the rest comes later. Received also closes"
        " an order of which only a part came.",
        transitions=order_states.STEPS,
        initial_states=(order_states.OPEN,),
        column=("inventory_order", "status"),
        source=("STEPS", "app/inventory/order_states.py"),
        doc_pages=("inventory.md#reorder-and-reminders",),
    ),
    StateMachine(
        name="Campaign",
        description="Texts, split and audience cannot change from `sending` on.",
        transitions=campaigns.STEPS,
        initial_states=(campaigns.DRAFT, campaigns.SCHEDULED, campaigns.SENDING),
        column=("campaign", "status"),
        source=("STEPS", "app/campaigns/states.py"),
        doc_pages=("campaigns.md#schedule",),
        transition_labels={
            (campaigns.DRAFT, campaigns.SCHEDULED): "scheduledAt",
            (campaigns.SCHEDULED, campaigns.DRAFT): "scheduledAt null",
            (campaigns.DRAFT, campaigns.SENDING): "sendNow",
            (campaigns.SCHEDULED, campaigns.SENDING): "its time is reached",
            (campaigns.SENDING, campaigns.SENT): "no message is pending",
            (campaigns.SENDING, campaigns.FAILED): "no recipient could be reached",
        },
    ),
    StateMachine(
        name="Message",
        description="One person, one campaign, one channel. An `uncertain` message was handed over, but no response"
        " confirms its arrival: only a person sends it again.",
        transitions=campaigns.RECIPIENT_STEPS,
        initial_states=(campaigns.PENDING,),
        column=("campaign_recipient", "state"),
        source=("RECIPIENT_STEPS", "app/campaigns/states.py"),
        doc_pages=("campaigns.md#delivery-results",),
        transition_labels={
            (campaigns.PENDING, campaigns.SUPPRESSED): "unsubscribed meanwhile",
            (campaigns.UNCERTAIN, campaigns.PENDING): "the organiser sends it again",
            (campaigns.FAILED, campaigns.SENT): "an operator's retry",
        },
    ),
    StateMachine(
        name="Stock job",
        description="A large import, or a PDF report. A job that has not ended after two hours is shown as `failed`. If a"
        " worker dies, another one starts the job again.",
        transitions=background_jobs.STEPS,
        initial_states=("queued", "done"),
        column=("inventory_job", "status"),
        source=("STEPS", "app/inventory/background_jobs.py"),
        doc_pages=("inventory-reports.md#pdf-reports",),
        transition_labels={("queued", "running"): "a worker takes it"},
    ),
    StateMachine(
        name="File",
        description="What a worker makes for an organisation; it is deleted seven days after its end. If a worker dies,"
        " another one starts again, up to five times.",
        transitions=files.STEPS,
        initial_states=(files.QUEUED,),
        column=("organisation_file", "status"),
        source=("STEPS", "app/files/states.py"),
        doc_pages=("desk.md#files",),
        transition_labels={
            (files.QUEUED, files.RUNNING): "a worker takes it",
            (files.QUEUED, files.FAILED): "no worker could start it",
        },
    ),
    StateMachine(
        name="Work",
        description="A job that a request leaves for a worker: a row of the outbox.",
        transitions=outbox.STEPS,
        initial_states=("ready",),
        column=("outbox", "state"),
        source=("STEPS", "app/core/outbox/models.py"),
        doc_pages=("operations.md", "decisions/outbox.md"),
        transition_labels={
            ("ready", "leased"): "a worker takes it",
            ("leased", "ready"): "retried later, or its lease expired",
            ("leased", "dead"): "failed for good, or too many attempts",
            ("leased", "uncertain"): "perhaps sent, never retried automatically",
            ("ready", "dead"): "its deadline has passed",
            ("dead", "ready"): "outbox retry",
            ("uncertain", "ready"): "outbox retry",
        },
    ),
)


def _render_section(machine: StateMachine) -> str:
    name, path = machine.source
    links = "".join(f", [{doc_page.partition('#')[0]}]({doc_page})" for doc_page in machine.doc_pages)
    final_states = ", ".join(f"`{state}`" for state in machine.final_states) or "none"
    return (
        f"\n## {machine.name}\n\n{machine.description}\n\n{render_mermaid(machine)}\n\n"
        f"Final states: {final_states}. Table: `{name}` in [{path}](../{path}){links}.\n"
    )


def render_state_machines_page() -> str:
    """Return the page, with a table of contents."""
    contents = " · ".join(f"[{machine.name}](#{machine.name.lower().replace(' ', '-')})" for machine in STATE_MACHINES)
    return f"{PAGE_HEADER}\n{contents}\n" + "".join(map(_render_section, STATE_MACHINES))
