"""What the service logs, line by line, as it stands on standard error."""

import io
import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class Lines(io.StringIO):
    """The text of the log, and each line of it as an object."""

    @property
    def text(self) -> str:
        return self.getvalue()

    @property
    def all(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.getvalue().splitlines()]


@contextmanager
def logged() -> Iterator[Lines]:
    """Catches what the handler of the service writes, and shows everything from debug on."""
    root = logging.getLogger()
    handler = next(handler for handler in root.handlers if getattr(handler, "is_ours", False))
    assert isinstance(handler, logging.StreamHandler)
    lines, level = Lines(), root.level
    before = handler.setStream(lines)
    root.setLevel(logging.DEBUG)
    try:
        yield lines
    finally:
        handler.setStream(before or io.StringIO())
        root.setLevel(level)
