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
from app.web.machine import Machine, drawing

HEAD = """\
# State machines

What an event, an application, a payout and all the others can be, and every step between. The states are those that
the API answers and filters by. Nothing leads out of an end. Made from the tables in the code by `flask docs write`; a
test lets the database refuse every other step while the service is used.
"""

MACHINES = (
    Machine(
        name="Event",
        about="Published and unlisted events answer by id, only published ones stand in lists. A draft with `publishAt`"
        " counts as published from that moment on, without a step.",
        steps=events.STEPS,
        begins=(events.DRAFT,),
        column=("event", "visibility"),
        source=("STEPS", "app/events/visibility.py"),
        pages=("events.md#visibility",),
        said={(events.DRAFT, events.PUBLISHED): "visibility=published"},
    ),
    Machine(
        name="Merchant",
        about="Who has deleted himself becomes active by registering as a merchant again.",
        steps=merchants.STEPS,
        begins=(merchants.ACTIVE,),
        column=("merchant", "status"),
        source=("STEPS", "app/merchants/states.py"),
        pages=("merchants.md",),
        said={
            (merchants.ACTIVE, merchants.PAUSED): "needs nothing",
            (merchants.PAUSED, merchants.ACTIVE): "needs the password",
            (merchants.DELETED, merchants.ACTIVE): "registers again",
        },
    ),
    Machine(
        name="Application",
        about="`approved` is passed through at once: what is shown is the first thing that is outstanding. The"
        " applicant withdraws; when the event is over, what has not come to its end expires.",
        steps=applications.MOVES,
        begins=(applications.SUBMITTED,),
        column=("merchant_application", "status"),
        source=("MOVES", "app/applications/states.py"),
        pages=("applications.md",),
        passed=(applications.APPROVED,),
        said={
            (applications.SUBMITTED, applications.APPROVED): "the organiser, or an admin",
            (applications.AWAITING_DOCUMENTS, applications.AWAITING_PAYMENT): "handed in",
            (applications.AWAITING_PAYMENT, applications.READY): "paid",
            (applications.READY, applications.ACTIVATED): "the applicant opens an account",
        },
    ),
    Machine(
        name="Stall fee",
        about="One try to pay. Of an application at most one payment runs or is paid. That it was paid counts whenever"
        " the rail says so, also late. Without a final answer it stays `processing` and the rail is asked until there"
        " is one; an amount that is not ours is `processing`, too, until a person has looked.",
        steps=applications.PAYMENT_STEPS,
        begins=("starting",),
        column=("stall_payment", "status"),
        source=("PAYMENT_STEPS", "app/applications/states.py"),
        pages=("applications.md#the-stall-fee",),
        said={
            ("starting", "otp_required"): "a code goes out",
            ("otp_required", "processing"): "a code comes in",
            ("processing", "otp_required"): "it was wrong",
            ("processing", "expired"): "wrong five times",
            ("otp_required", "expired"): "another wallet",
        },
    ),
    Machine(
        name="Invitation",
        about="Of one merchant to one event. Only `pending` leads anywhere; whoever is invited again gets a new one.",
        steps=invitations.STEPS,
        begins=(invitations.PENDING,),
        column=("event_invite", "status"),
        source=("STEPS", "app/invitations/states.py"),
        pages=("merchants.md#invitations-from-the-directory",),
        said={
            (invitations.PENDING, invitations.ACCEPTED): "the merchant, or by itself",
            (invitations.PENDING, invitations.DECLINED): "the merchant",
            (invitations.PENDING, invitations.WITHDRAWN): "the organiser, or the event is called off",
            (invitations.PENDING, invitations.EXPIRED): "its time is over",
        },
    ),
    Machine(
        name="Shift",
        about="A shift never opens again: whoever comes back verifies anew.",
        steps=crew.STEPS,
        begins=(crew.CHECKED_IN,),
        column=None,
        source=("STEPS", "app/crew/states.py"),
        pages=("crew.md#shifts",),
        said={(crew.CHECKED_IN, crew.CHECKED_OUT): "the crew, or by itself after 16 hours"},
    ),
    Machine(
        name="Payout",
        about="`paid`, `failed`, `cancelled` and `returned` are conclusive; only a bounce can follow `paid`. `failed`,"
        " `cancelled` and `returned` give the money back, once.",
        steps=payouts.STEPS,
        begins=payouts.STEPS[""],
        column=("payout", "status"),
        source=("STEPS", "app/payouts/states.py"),
        pages=("payouts.md",),
        said={
            (payouts.SCHEDULED, payouts.REQUESTED): "its time has come",
            (payouts.REQUESTED, payouts.PROCESSING): "the rail is told",
            (payouts.PROCESSING, payouts.NEEDS_REVIEW): "72 hours without an outcome",
            (payouts.PAID, payouts.RETURNED): "a late bounce",
        },
    ),
    Machine(
        name="Slot",
        about="One place of an allocation. A slot that ends is history; when its place goes back to the block, that"
        " place is a new slot with secrets of its own, so no old code, link or ticket ever opens anything again.",
        steps=allocations.SLOT_STEPS,
        begins=(allocations.AVAILABLE,),
        column=("allocation_slot", "status"),
        source=("SLOT_STEPS", "app/allocations/states.py"),
        pages=("allocations.md",),
        said={
            (allocations.AVAILABLE, allocations.INVITED): "a code or an invitation",
            (allocations.AVAILABLE, allocations.CLAIMED): "an open link, the holder, a pack",
            (allocations.INVITED, allocations.CLAIMED): "the guest says who comes",
            (allocations.CLAIMED, allocations.ADMITTED): "at the gate, once",
            (allocations.AVAILABLE, allocations.RELEASED): "back to the public",
            (allocations.CLAIMED, allocations.REVOKED): "taken back, or renamed",
        },
    ),
    Machine(
        name="Block",
        about="An allocation as a whole. What it is follows from its slots.",
        steps=allocations.BLOCK_STEPS,
        begins=(allocations.OPEN,),
        column=("allocation_block", "status"),
        source=("BLOCK_STEPS", "app/allocations/states.py"),
        pages=("allocations.md",),
        said={
            (allocations.OPEN, allocations.EXHAUSTED): "everything is claimed",
            (allocations.OPEN, allocations.RELEASED): "the rest went back to the public",
            (allocations.OPEN, allocations.CANCELLED): "every place revoked or moved away",
            (allocations.EXHAUSTED, allocations.OPEN): "a place comes back",
        },
    ),
    Machine(
        name="Pack",
        about="Tickets without names, printed for the door.",
        steps=packs.STEPS,
        begins=(packs.QUEUED,),
        column=("ticket_pack", "status"),
        source=("STEPS", "app/allocations/tickets/models.py"),
        pages=("allocations-papers.md#packs-printed-tickets-for-the-door",),
    ),
    Machine(
        name="Campaign",
        about="Texts, split and audience are frozen from `sending` on.",
        steps=campaigns.STEPS,
        begins=(campaigns.DRAFT, campaigns.SCHEDULED, campaigns.SENDING),
        column=("campaign", "status"),
        source=("STEPS", "app/campaigns/states.py"),
        pages=("campaigns.md#when",),
        said={
            (campaigns.DRAFT, campaigns.SCHEDULED): "scheduledAt",
            (campaigns.SCHEDULED, campaigns.DRAFT): "scheduledAt null",
            (campaigns.DRAFT, campaigns.SENDING): "sendNow",
            (campaigns.SCHEDULED, campaigns.SENDING): "its time has come",
            (campaigns.SENDING, campaigns.SENT): "nothing is pending",
            (campaigns.SENDING, campaigns.FAILED): "nobody could be reached",
        },
    ),
    Machine(
        name="Message",
        about="One person, one campaign, one channel. `uncertain` was handed over, and no answer says whether it"
        " arrived: it goes out again only when somebody says so.",
        steps=campaigns.RECIPIENT_STEPS,
        begins=(campaigns.PENDING,),
        column=("campaign_recipient", "state"),
        source=("RECIPIENT_STEPS", "app/campaigns/states.py"),
        pages=("campaigns.md#what-became-of-it",),
        said={
            (campaigns.PENDING, campaigns.SUPPRESSED): "said no meanwhile",
            (campaigns.UNCERTAIN, campaigns.PENDING): "the organiser sends it again",
            (campaigns.FAILED, campaigns.SENT): "an operator's retry",
        },
    ),
    Machine(
        name="Stock job",
        about="A large import, or a report on paper. One that has not ended after two hours is shown as `failed`. When"
        " a worker dies, another one begins again.",
        steps=background_jobs.STEPS,
        begins=("queued", "done"),
        column=("inventory_job", "status"),
        source=("STEPS", "app/inventory/background_jobs.py"),
        pages=("inventory-reports.md#on-paper",),
        said={("queued", "running"): "a worker takes it"},
    ),
    Machine(
        name="Work",
        about="What a request leaves for later: a row of the outbox.",
        steps=outbox.STEPS,
        begins=("ready",),
        column=("outbox", "state"),
        source=("STEPS", "app/core/outbox/models.py"),
        pages=("operations.md", "decisions/outbox.md"),
        said={
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


def page() -> str:
    """The page, with a table of contents."""
    contents = " · ".join(f"[{it.name}](#{it.name.lower().replace(' ', '-')})" for it in MACHINES)
    return f"{HEAD}\n{contents}\n" + "".join(map(_section, MACHINES))


def _section(machine: Machine) -> str:
    name, path = machine.source
    more = "".join(f", [{item.partition('#')[0]}]({item})" for item in machine.pages)
    ends = ", ".join(f"`{end}`" for end in machine.ends) or "none"
    return (
        f"\n## {machine.name}\n\n{machine.about}\n\n{drawing(machine)}\n\n"
        f"Ends: {ends}. Table: `{name}` in [{path}](../{path}){more}.\n"
    )
