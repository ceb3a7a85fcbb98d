"""A page: a file of numbers that one process writes and every process of the node may read.

    magic, 8 bytes │ bytes used, 8 │ scrap, 256 │ series …
    series:  length of its name, how many numbers, whether a gauge, 0; 2 bytes each
             │ name, filled up to 8 │ numbers, 8 bytes each

The writer holds the file's lock, which ends with the process. The next process that locks the page goes on with it, so
there are only as many pages as there were processes at one time, and the numbers of a killed process are not lost.
"""

import fcntl
import mmap
import os
import struct
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import ClassVar, Protocol

import structlog

SIZE = 512 * 1024
MOST = 512
MAGIC = b"commerc1"
SCRAP, FIRST = 2, 34
"""Offsets in numbers of 8 bytes: of the scrap area for series without room, and of the first series."""
HEAD = struct.Struct("<HHHH")
USED = struct.Struct("<Q")
log = structlog.get_logger(__name__)


class MetricShape(Protocol):
    """The parts of a metric that decide where its numbers are."""

    kind: ClassVar[str]

    @property
    def name(self) -> str: ...

    @property
    def width(self) -> int: ...


class BucketedMetric(MetricShape, Protocol):
    """A metric whose numbers are buckets."""

    def place(self, seconds: float) -> int: ...


@dataclass(frozen=True)
class Series:
    """One entry of a page: `at` counts in numbers of 8 bytes."""

    name: str
    labels: tuple[str, ...]
    at: int
    width: int
    gauge: bool


class Page:
    """A page to write to. Hold its lock around `find` and the write."""

    def __init__(self, memory: mmap.mmap, file: int | None) -> None:
        self.lock = Lock()
        self._memory, self._file = memory, file
        self.values = memoryview(memory).cast("d")
        self._places: dict[tuple[str, tuple[str, ...]], int] = {}
        self._begin()

    def find(self, metric: MetricShape, labels: tuple[str, ...]) -> int:
        """Return the offset of the numbers of this series."""
        place = self._places.get((metric.name, labels))
        return self._add(metric, labels) if place is None else place

    def close(self) -> None:
        with suppress(BufferError):
            self.values.release()
            self._memory.close()
        if self._file is not None:
            os.close(self._file)

    def _begin(self) -> None:
        """Load the series of the last owner; its gauges are zero now."""
        if self._memory[:8] != MAGIC:
            self._memory[:16] = MAGIC + USED.pack(FIRST * 8)
        for item in read_series(self._memory):
            self._places[item.name, item.labels] = item.at
            if item.gauge:
                self.values[item.at] = 0.0

    def _add(self, metric: MetricShape, labels: tuple[str, ...]) -> int:
        name = "\0".join((metric.name, *labels)).encode()
        name += b"\0" * (-len(name) % 8)
        (used,) = USED.unpack_from(self._memory, 8)
        end = used + HEAD.size + len(name) + metric.width * 8
        if end > SIZE:
            log.warning("metrics.page_full", metric=metric.name)
            place = SCRAP
        else:
            self._memory[used : used + HEAD.size] = HEAD.pack(len(name), metric.width, metric.kind == "gauge", 0)
            self._memory[used + HEAD.size : used + HEAD.size + len(name)] = name
            self._memory[8:16] = USED.pack(end)
            place = (used + HEAD.size + len(name)) // 8
        self._places[metric.name, labels] = place
        return place


def acquire_page(folder: Path) -> Page:
    """Return the first free page of the folder; without a writable folder, a page of this process alone."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for number in range(MOST):
            file = os.open(folder / f"{number:03}.page", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
            if try_lock(file):
                return _map_file(file)
            os.close(file)
    except OSError as error:
        log.warning("metrics.no_page", error=type(error).__name__, folder=str(folder))
    return Page(mmap.mmap(-1, SIZE), None)


def try_lock(file: int) -> bool:
    """Lock the file; return whether it was free."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def read_series(memory: bytes | mmap.mmap) -> Iterator[Series]:
    """Yield the series of a page; while it is being written, those that are complete."""
    if memory[:8] != MAGIC:
        return
    at, (used,) = FIRST * 8, USED.unpack_from(memory, 8)
    while at + HEAD.size <= min(used, len(memory)):
        length, width, gauge, _ = HEAD.unpack_from(memory, at)
        start = at + HEAD.size
        if not length or start + length + width * 8 > len(memory):
            return
        name, *labels = memory[start : start + length].rstrip(b"\0").decode(errors="replace").split("\0")
        yield Series(name, tuple(labels), (start + length) // 8, width, bool(gauge))
        at = start + length + width * 8


def _map_file(file: int) -> Page:
    """Map the file, with every block written before: a full disk must raise here and not kill the process later."""
    try:
        if os.fstat(file).st_size != SIZE:
            os.ftruncate(file, 0)
            if os.pwrite(file, bytes(SIZE), 0) < SIZE:
                raise OSError("no room")
        return Page(mmap.mmap(file, SIZE), file)
    except BaseException:
        os.close(file)
        raise
