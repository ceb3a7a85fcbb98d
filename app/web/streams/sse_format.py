"""The bytes of events (WHATWG HTML, 9.2) and of HTTP/1.1 chunks around them."""

RETRY_MS = 2000
RETRY_LINE = b"retry: %d\n\n" % RETRY_MS
RESYNC_EVENT = b"event: resync\ndata: {}\n\n"
LAST_CHUNK = b"0\r\n\r\n"


def format_event(name: str, data: bytes, position: str | None = None) -> bytes:
    """An event; with `position` the client that has read it to its end goes on from there."""
    id_line = f"id: {position}\n" if position else ""
    return f"{id_line}event: {name}\ndata: ".encode() + data + b"\n\n"


def format_heartbeat(position: str | None) -> bytes:
    """A sign of life: no event, but an id of its own keeps a quiet listener's position young."""
    return b": here\n" + (f"id: {position}\n\n".encode() if position else b"\n")


def format_chunk(data: bytes) -> tuple[bytes, bytes, bytes]:
    """The data as a chunk, in pieces: what goes to many is not copied for each."""
    return b"%x\r\n" % len(data), data, b"\r\n"
