"""What can go wrong with the embedded servers, as one error with a sentence for the reader."""

from __future__ import annotations


class EmbeddedError(RuntimeError):
    """The servers cannot run here; the message says why and what to do."""
