"""What happens to blocks and slots: one verb, one transaction."""

from app.allocations.actions.admit import admit
from app.allocations.actions.allocator import hand_out, rename, take_back, use_allocator
from app.allocations.actions.claim import claim
from app.allocations.actions.codes import make_codes
from app.allocations.actions.create import create_block
from app.allocations.actions.invite import invite
from app.allocations.actions.links import change_allocator_link, change_open_link
from app.allocations.actions.move import move_places
from app.allocations.actions.release import preview_release, release_unused
from app.allocations.actions.remind import remind
from app.allocations.actions.revoke import revoke

__all__ = [
    "admit",
    "change_allocator_link",
    "change_open_link",
    "claim",
    "create_block",
    "hand_out",
    "invite",
    "make_codes",
    "move_places",
    "preview_release",
    "release_unused",
    "remind",
    "rename",
    "revoke",
    "take_back",
    "use_allocator",
]
