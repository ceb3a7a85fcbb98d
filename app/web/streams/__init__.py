"""Server-sent events: a response that follows a topic (see docs/decisions/event-streams.md).

    return build_event_stream(queries, topic=event_id, query_filters=filters)      # in a view, after authorization

One thread of the process reads changes and adds them to the queues of all clients (`broadcaster.py`); the response of
each client waits on its queue (`subscription.py`).
"""

from app.web.streams.connection_limits import StreamsFull, TooManyStreams, TooManyStreamsFromNetwork
from app.web.streams.stream_response import build_event_stream, keep_streams_open

__all__ = ["StreamsFull", "TooManyStreams", "TooManyStreamsFromNetwork", "build_event_stream", "keep_streams_open"]
