"""How gunicorn serves event streams alone: one process of greenlets, each of which may hold a stream.

    BIND=127.0.0.1:8001 gunicorn -c gunicorn_streams.conf.py

The other settings are those of gunicorn.conf.py; docs/decisions/event-streams.md gives the reasons and figures.
"""

import os
import runpy
import sys
from pathlib import Path
from typing import Any, cast

os.environ.setdefault("DATABASE_POOL", "4")
_shared = runpy.run_path(str(Path(__file__).with_name("gunicorn.conf.py")))
globals().update({name: value for name, value in _shared.items() if not name.startswith("_")})

MAX_STREAMS = 200
"""The limit of a host (app/web/streams/connection_limits.py)."""
worker_class = "gevent"
workers = 1
worker_connections = 2 * MAX_STREAMS
# The worker loads the program after gevent has replaced its locks, sockets and threads.
preload_app = False
# Streams end immediately, and their clients reconnect. Connections that wait for another request close before the worker
# would cut them off with a traceback.
graceful_timeout = 5
keepalive = 2


def post_worker_init(worker: Any) -> None:
    """Lets streams stay open until the worker stops."""
    cast("Any", sys.modules["app.web.streams"]).keep_streams_open(MAX_STREAMS, lambda: not worker.alive)
