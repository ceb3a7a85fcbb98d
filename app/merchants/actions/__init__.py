"""What merchants do with their own account: one verb, one transaction."""

from app.merchants.actions.delete import delete_merchant
from app.merchants.actions.password import change_password
from app.merchants.actions.pause import pause, resume
from app.merchants.actions.profile import change_profile

__all__ = ["change_password", "change_profile", "delete_merchant", "pause", "resume"]
