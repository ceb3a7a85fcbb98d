"""Changes of blocks and slots, each in one transaction."""

from app.allocations.actions.admission import admit_slot
from app.allocations.actions.block_changes import update_block
from app.allocations.actions.block_links import (
    hand_out_slots,
    reassign_slot,
    reclaim_slot,
    update_allocator_link,
    update_open_link,
)
from app.allocations.actions.blocks import create_block, preview_release, release_unused_slots, revoke_slot
from app.allocations.actions.claims import claim_slot
from app.allocations.actions.guest_lists import hand_out_list
from app.allocations.actions.invites import create_claim_codes, invite_recipients, remind_recipients
from app.allocations.actions.moves import move_slots
from app.allocations.actions.ticket_links import give_back_ticket, pass_on_ticket

__all__ = [
    "admit_slot",
    "claim_slot",
    "create_block",
    "create_claim_codes",
    "give_back_ticket",
    "hand_out_list",
    "hand_out_slots",
    "invite_recipients",
    "move_slots",
    "pass_on_ticket",
    "preview_release",
    "reassign_slot",
    "reclaim_slot",
    "release_unused_slots",
    "remind_recipients",
    "revoke_slot",
    "update_allocator_link",
    "update_block",
    "update_open_link",
]
