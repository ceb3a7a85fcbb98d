"""Server-sent events that cost no thread while nothing happens.

    return event_stream(source, topic=event_id, asked=filters)      # a view, after it has authorised

The request's thread checks everything and sends the head of the answer; then the socket is handed to one thread of
the process, which writes to all listeners (see docs/decisions/event-streams.md). Between events a stream holds
neither a thread nor a database connection.

    handover.py   takes the client's socket from gunicorn
    listener.py   one client: what it waits for, what is still to be written to it
    hall.py       the thread: sockets in, events out, ends
    desk.py       what the thread has others do: questions to the database and to Redis
    ear.py        the one connection that hears NOTIFY
    places.py     how many streams there may be
    source.py     what a domain has to tell
"""

from app.web.streams.connection_limits import StreamsFull, TooManyStreams, TooManyStreamsFromNetwork
from app.web.streams.event_loop import set_stop_condition
from app.web.streams.stream_response import build_event_stream

__all__ = ["StreamsFull", "TooManyStreams", "TooManyStreamsFromNetwork", "set_stop_condition", "build_event_stream"]
