"""The bytes of server-sent events (WHATWG HTML, 9.2)."""

RETRY_LINE = b"retry: 2000\n\n"
RESYNC_EVENT = b"event: resync\ndata: {}\n\n"


def format_event(name: str, data: bytes, position: str | None = None) -> bytes:
    """Return an event; a client that has read one with a position reconnects from there."""
    id_line = f"id: {position}\n" if position else ""
    return f"{id_line}event: {name}\ndata: ".encode() + data + b"\n\n"


def format_heartbeat(position: str) -> bytes:
    """Return a comment, with the id that keeps the position of a client without updates recent."""
    return f": here\nid: {position}\n\n".encode()
