"""How gunicorn serves the program. `gunicorn` alone, started beside this file, is the whole command.

docs/decisions/gunicorn-settings.md gives the figures behind each line.
"""

import contextlib
import ctypes
import gc
import os
import sys
from pathlib import Path
from typing import Any, cast

from dotenv import load_dotenv

# As app.config does it. The program itself must not be imported here: gevent workers patch the libraries before that.
if not os.environ.get("FLASK_SKIP_DOTENV"):
    load_dotenv(Path.cwd() / ".env")

wsgi_app = "wsgi:app"


def _number(name: str, default: int) -> int:
    """A setting; the default for one that is no number, which stops the start in wsgi.py with all other problems."""
    value = os.environ.get(name, "").strip()
    return int(value) if value.isdecimal() and int(value) else default


bind = (os.environ.get("BIND") or f"127.0.0.1:{_number('PORT', 8000)}").split(",")

# One process per core. The threads are for requests that wait: for a password hash, for PostgreSQL.
worker_class = "gthread"
workers = _number("WEB_WORKERS", 2)
threads = _number("WEB_THREADS", 8)
# A thread never waits for a connection, and no connection waits for a thread.
os.environ.setdefault("DATABASE_POOL", str(threads))

# One pool of memory instead of one for each thread: argon2 takes 19 MB at a time, and each pool would keep them.
_M_ARENA_MAX = -8
with contextlib.suppress(AttributeError, OSError):
    ctypes.CDLL(None).mallopt(_M_ARENA_MAX, 1)

# structlog takes rich, where it is installed, to paint tracebacks on a terminal: 8 MB that a worker never uses.
cast("dict[str, Any]", sys.modules).setdefault("rich", None)

# The master loads the program and the workers are forks of it: they share its memory and answer at once. Nothing is
# connected before the fork. The price: HUP keeps the loaded version, a new one comes by a restart (deploy/upgrade.sh).
preload_app = True
http_parser = "auto"

# Longer than the proxy keeps an idle connection (nginx: 60 s), so that the proxy is always the one to close it.
keepalive = 75
timeout = 30
graceful_timeout = 30

# A worker is replaced now and then, in case something leaks; the jitter keeps the two from going together.
max_requests = 100_000
max_requests_jitter = 20_000

# The sign of life that workers give is a file; on a disk that stalls it would get them killed.
_memory = Path("/dev/shm")
worker_tmp_dir = str(_memory) if _memory.is_dir() and os.access(_memory, os.W_OK) else None

control_socket_disable = True
accesslog = None
loglevel = os.environ.get("LOG_LEVEL") or "info"


def when_ready(server: object) -> None:
    """Loads the languages once for all workers, and keeps the collector from touching, and so copying, what they share."""
    languages = sys.modules.get("app.core.languages")
    if languages is not None:
        cast("Any", languages).preload()
    gc.collect()
    gc.freeze()


def post_worker_init(worker: Any) -> None:
    """Lets streams stay open until the worker stops. A stream holds a thread, so most threads are for other requests."""
    streams = sys.modules.get("app.web.streams")
    if streams is not None:
        cast("Any", streams).keep_streams_open(max(1, threads // 3), lambda: not worker.alive)
