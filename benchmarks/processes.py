"""CPU time and memory of process trees, as Linux tells them in /proc."""

from __future__ import annotations

import os
import resource
import time
from collections import defaultdict
from pathlib import Path

_TICKS = os.sysconf("SC_CLK_TCK")


def cpu_seconds(root: int) -> float:
    """What a process and all its descendants have used, those that have ended among them."""
    return sum(_cpu(process) for process in (root, *descendants(root)))


def own_seconds() -> float:
    """What this process has used, and the children it has waited for: the load generators."""
    return sum(
        used.ru_utime + used.ru_stime
        for used in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    )


def machine_seconds() -> float:
    """What all processes of the machine have used together, and what its host took from it."""
    user, nice, system, _idle, _waiting, *rest = map(int, Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:])
    return (user + nice + system + sum(rest[:3])) / _TICKS


def busy_share(*, for_seconds: float) -> float:
    """How much of the machine is in use now."""
    clock, before = time.monotonic(), machine_seconds()
    time.sleep(for_seconds)
    return (machine_seconds() - before) / (time.monotonic() - clock) / (os.cpu_count() or 1)


def memory_mb(process: int, kind: str = "Pss") -> float:
    """Memory of a process: "Rss" all of it, "Pss" with what it shares divided by those who share it. 0 for
    one that is gone."""
    try:
        lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0.0
    for line in lines:
        if line.startswith(f"{kind}:"):
            return int(line.split()[1]) / 1024
    return 0.0


def own() -> int:
    """This process."""
    return os.getpid()


def command(process: int) -> str:
    """What a process was started as; nothing for one that is gone."""
    try:
        return Path(f"/proc/{process}/cmdline").read_text().replace("\0", " ")
    except OSError:
        return ""


def descendants(root: int) -> list[int]:
    children = defaultdict(list)
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and (fields := _stat(int(entry.name))):
            children[int(fields[1])].append(int(entry.name))
    found, waiting = [], [root]
    while waiting:
        below = children[waiting.pop()]
        found += below
        waiting += below
    return found


def parent(process: int) -> int:
    return int(_stat(process)[1])


def _cpu(process: int) -> float:
    """User and system time, its own and that of children it has waited for."""
    fields = _stat(process)
    return sum(map(int, fields[11:15])) / _TICKS if fields else 0.0


def _stat(process: int) -> list[str]:
    """The fields of /proc/<pid>/stat after the name: [0] is the state, [1] the parent."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []
