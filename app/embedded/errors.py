"""The error of the embedded servers."""

from __future__ import annotations


class EmbeddedError(RuntimeError):
    """The servers cannot run; the message says why and what to do."""
