"""Two processes that migrate at once, as `flask db upgrade` does; forked from one that has read the program already.

python -m tests.topology.migrating      # a line of JSON for each pair: settings, folders of migrations and outputs
"""

import json
import logging
import os
import sys
from contextlib import suppress
from pathlib import Path

from flask_migrate import upgrade

from tests.settings import app_for


def migrate(settings: dict[str, str], migrations: str, output: Path) -> None:
    """In a process of its own: says what it does in that file, and ends with what the command would end with."""
    with output.open("w") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    code = 1
    with suppress(BaseException):
        app = app_for(**settings)
        log = logging.getLogger("alembic")
        log.setLevel(logging.INFO)
        with app.app_context():
            try:
                upgrade(directory=migrations)
                code = 0
            except Exception:
                log.exception("failed")
    os._exit(code)


def main() -> None:
    for line in sys.stdin:
        asked = json.loads(line)
        children = []
        for output in asked["outputs"]:
            child = os.fork()
            if not child:
                migrate(asked["settings"], asked["migrations"], Path(output))
            children.append(child)
        codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
        sys.stdout.write(json.dumps(codes) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
