"""`python -m tests.faults.process worker|relay PACE [--unfenced]`: the real thing, with these tests' jobs."""

import json
import sys

from app import create_app
from app.core import relay
from app.core.outbox.lease import Lease
from app.core.outbox.pace import EXTENSION, Pace
from app.worker import serve
from tests.faults import jobs

__all__ = ["jobs"]


def main(what: str, pace: str, *options: str) -> int:
    app = create_app()
    app.extensions[EXTENSION] = Pace(**json.loads(pace))
    if "--unfenced" in options:
        Lease.fence = lambda self: None  # type: ignore[method-assign]
    if what == "worker":
        return serve(app)
    relay.serve(app)
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
