"""A folder of its own for each test of the embedded servers, and other processes that hold them."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from app.embedded import servers
from tests.embedded.running import Holder


@contextmanager
def open_folder() -> Iterator[Path]:
    """An empty folder that every account can enter, since the servers of root run as another."""
    folder = Path(tempfile.mkdtemp(prefix="embedded-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def home() -> Iterator[Path]:
    """A folder in which nothing was ever started."""
    with open_folder() as folder:
        yield folder


@pytest.fixture(scope="session")
def warm() -> Iterator[Path]:
    """A folder in which servers ran and were stopped; tests share it to save cold starts."""
    with open_folder() as folder:
        with servers(folder / "state", durable=False):
            pass
        yield folder


@pytest.fixture
def hold(warm: Path) -> Iterator[Callable[..., Holder]]:
    """Starts another process that holds the servers of `warm`."""
    holders: list[Holder] = []

    def start(*words: str, **options: Any) -> Holder:
        holders.append(Holder(warm, *words, **options))
        return holders[-1]

    yield start
    for holder in holders:
        if holder.process.poll() is None:
            holder.leave()
