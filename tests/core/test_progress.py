"""The progress of long commands."""

import io
import sys

import pytest

from app.core.command_line import show_progress


class Stderr(io.StringIO):
    def __init__(self, *, is_terminal: bool) -> None:
        super().__init__()
        self.is_terminal = is_terminal

    def isatty(self) -> bool:
        return self.is_terminal


@pytest.mark.parametrize("is_terminal", [True, False])
def test_progress_is_shown_on_a_terminal_only(monkeypatch: pytest.MonkeyPatch, is_terminal: bool) -> None:
    stderr = Stderr(is_terminal=is_terminal)
    monkeypatch.setattr(sys, "stderr", stderr)
    with show_progress("Reading", range(3)) as rows:
        assert list(rows) == [0, 1, 2]
    assert ("Reading" in stderr.getvalue() and "100%" in stderr.getvalue()) is is_terminal
    assert is_terminal or not stderr.getvalue()
