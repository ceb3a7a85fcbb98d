"""Folders for servers of one test."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults.service import kept_open


@pytest.fixture
def open_folder() -> Iterator[Path]:
    with kept_open() as folder:
        yield folder
