"""Asking the doctor about one thing."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType

from app.config import Settings
from app.doctor.results import OK, Finding

STRONG = "kN3-vq8Zr_Lw0sXyB5tGhJ2mPd7cFaUe"


def found(part: ModuleType, settings: Settings, about: str, state: str) -> str:
    """The sentences about that in that state; every one that is not well says what to do."""
    made: list[Finding] = list(part.run_checks(settings))
    assert all(item.state == OK or item.do for item in made)
    told = [item.says for item in made if (item.about, item.state) == (about, state)]
    assert told, made
    return " ".join(told)


@contextmanager
def listening() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield int(server.getsockname()[1])
