"""Runs a command with the embedded servers: `python -m app.embedded --state var -- flask run`."""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
from pathlib import Path

from app.embedded import EmbeddedError, Servers, servers
from app.embedded.subprocesses import dying_with_parent


def main() -> int:
    """Run the command with DATABASE_URL and REDIS_URL in its environment; return its exit code."""
    parser = argparse.ArgumentParser(prog="python -m app.embedded", description=__doc__)
    parser.add_argument("--state", type=Path, required=True, help="folder for the data of the servers")
    parser.add_argument("--throwaway", action="store_true", help="faster, for tests: a crash may lose data")
    parser.add_argument("command", nargs="+", metavar="command", help="what to run, after `--`")
    args = parser.parse_args()
    try:
        with servers(args.state, durable=not args.throwaway) as running:
            return _run(args.command, running)
    except EmbeddedError as error:
        parser.exit(1, f"{error}\n")


def _run(command: list[str], running: Servers) -> int:
    environment = {**os.environ, "DATABASE_URL": running.database_url, "REDIS_URL": running.redis_url}
    try:
        child = subprocess.Popen(command, env=environment, preexec_fn=dying_with_parent(signal.SIGTERM))
    except OSError as error:
        sys.stderr.write(f"{command[0]} cannot be run: {error.strerror}\n")
        return 127
    # The terminal sends Ctrl-C to the command as well; the servers run until the command ends.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for forwarded in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(forwarded, lambda number, _frame: child.send_signal(number))
    code = child.wait()
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    sys.exit(main())
