"""Slots: the numbers in the names of prometheus-client's files, instead of process ids.

With process ids there would be new files for each process, and RQ forks one for each wakeup. A slot is a number whose
lock file a process holds. The lock ends with the process, in every case; the next process takes the slot and continues
its counters. So there are as many files as there were processes at one time, and no count is lost.
"""

import fcntl
import json
import os
import struct
from contextlib import suppress
from pathlib import Path

import structlog
from prometheus_client import multiprocess, values
from prometheus_client.mmap_dict import MmapedDict

FOLDER_VARIABLE = "PROMETHEUS_MULTIPROC_DIR"
MAX_SLOTS = 512
FILE_KINDS = ("counter", "histogram", "gauge_livesum")
FILE_BYTES = 512 * 1024
log = structlog.get_logger(__name__)


class ProcessSlots:
    """The slots of a folder, and the one of this process."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._number: int | None = None
        self._lock_file: int | None = None
        self._parents_number: int | None = None

    def number(self) -> int:
        """Return the slot of this process; the first call in a process takes one. Raises OSError."""
        if self._number is None:
            self._number, self._lock_file = self._take_free()
        return self._number

    def forget(self) -> None:
        """Give the slot up in a forked child: it belongs to the parent, which holds the lock as well."""
        if self._lock_file is not None:
            os.close(self._lock_file)
        self._parents_number, self._number, self._lock_file = self._number, None, None

    def clear_ended(self) -> None:
        """Delete the gauges of processes that have ended, and files that cannot be read."""
        for path in self.folder.glob("*.lock"):
            lock_file = _try_lock(path)
            if lock_file is not None:
                self._clear(int(path.stem))
                os.close(lock_file)

    def _clear(self, number: int) -> None:
        multiprocess.mark_process_dead(number, str(self.folder))  # type: ignore[no-untyped-call]
        for kind in FILE_KINDS:
            path = self.folder / f"{kind}_{number}.db"
            if path.exists() and _is_damaged(path):
                log.warning("metrics.damaged_file", file=path.name)
                path.unlink()

    def _take_free(self) -> tuple[int, int]:
        for number in range(MAX_SLOTS):
            # The library notices a fork by a new number, so a child never takes the number of its parent.
            if number == self._parents_number:
                continue
            lock_file = _try_lock(self.folder / f"{number}.lock")
            if lock_file is not None:
                self._clear(number)
                self._allocate(number)
                return number, lock_file
        raise OSError("no free slot")

    def _allocate(self, number: int) -> None:
        """Write every block of new files: a full disk must raise here, because later it kills the process."""
        for kind in FILE_KINDS:
            path = self.folder / f"{kind}_{number}.db"
            file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
            try:
                if os.fstat(file).st_size < FILE_BYTES and os.pwrite(file, bytes(FILE_BYTES), 0) < FILE_BYTES:
                    raise OSError("no room")
            except OSError:
                path.unlink()
                raise
            finally:
                os.close(file)


_slots: ProcessSlots | None = None


def init(folder: Path) -> None:
    """Count in that folder from now on: the first one of a process, because the library has one.

    Without a writable folder the numbers stay in private memory, and /metrics shows those of one process.
    """
    global _slots
    if _slots is not None:
        return
    slots = ProcessSlots(folder)
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.environ[FOLDER_VARIABLE] = str(folder)
        values.ValueClass = values.MultiProcessValue(slots.number)  # type: ignore[no-untyped-call]
    except OSError as error:
        log.warning("metrics.no_folder", error=type(error).__name__, folder=str(folder))
        return
    _slots = slots
    os.register_at_fork(after_in_child=slots.forget)


def get_slots() -> ProcessSlots | None:
    """Return the slots of this process, or None if it counts in private memory."""
    return _slots


def _is_damaged(path: Path) -> bool:
    try:
        for key, *_ in MmapedDict.read_all_values_from_file(str(path)):  # type: ignore[no-untyped-call]
            json.loads(key)
    except (RuntimeError, ValueError, struct.error):
        return True
    return False


def _try_lock(path: Path) -> int | None:
    """Return the locked file, or None if another process holds the lock. Raises OSError."""
    lock_file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    with suppress(BlockingIOError):
        fcntl.flock(lock_file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return lock_file
    os.close(lock_file)
    return None
