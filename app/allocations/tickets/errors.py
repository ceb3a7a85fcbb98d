"""Errors of ticket packs."""

from app.core.errors import Conflict


class PackNotReady(Conflict):
    number, code = 40976, "PACK_NOT_READY"
    message = "The tickets are still being drawn; data.progress says how far. Ask again after Retry-After."
