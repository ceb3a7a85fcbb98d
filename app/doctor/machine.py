"""The disk and the folders."""

import os
import shutil
import stat
from pathlib import Path

from app.config import Settings
from app.doctor.findings import Finding, Findings, fail, ok, warn

GIB = 1024**3
LITTLE, TOO_LITTLE = 0.10, 0.02


def findings(settings: Settings) -> Findings:
    yield _folder(settings)
    yield _disk(settings.DATA_DIR)
    yield _metrics(settings.METRICS_DIR)


def _folder(settings: Settings) -> Finding:
    folder = settings.DATA_DIR
    if not folder.is_dir():
        return fail(
            "data",
            f"DATA_DIR {folder} does not exist.",
            f"`install -d -m 700 {folder}`, owned by who runs the service.",
        )
    if not os.access(folder, os.W_OK | os.X_OK):
        return fail("data", f"DATA_DIR {folder} cannot be written by this account.", f"`chown` {folder} to it.")
    mode = folder.stat().st_mode
    if mode & stat.S_IWOTH:
        return fail("data", f"Anybody on this machine may write to DATA_DIR {folder}.", f"`chmod 700 {folder}`.")
    if mode & stat.S_IROTH and settings.production:
        return warn("data", f"Anybody on this machine may read DATA_DIR {folder}.", f"`chmod 700 {folder}`.")
    return ok("data", f"DATA_DIR {folder} is ours.")


def _disk(folder: Path) -> Finding:
    while not folder.exists():
        folder = folder.parent
    found = shutil.disk_usage(folder)
    share, left = found.free / found.total, f"{found.free / GIB:.1f} GiB ({found.free * 100 // found.total} %)"
    do = "Make room: `du -xsh /var/* | sort -h` shows where it went."
    if share < TOO_LITTLE:
        return fail("disk", f"{left} are free: uploads fail, and PostgreSQL stops when there is nothing left.", do)
    if share < LITTLE:
        return warn("disk", f"{left} are free.", do)
    return ok("disk", f"{left} are free.")


def _metrics(folder: Path) -> Finding:
    nearest = folder
    while not nearest.exists():
        nearest = nearest.parent
    if nearest.is_dir() and os.access(nearest, os.W_OK | os.X_OK):
        return ok("metrics", f"Counted in {folder}.")
    return warn(
        "metrics",
        f"METRICS_DIR {folder} cannot be written: each process counts for itself, and /metrics tells of one.",
        "Set METRICS_DIR to a folder of this account, best in memory.",
    )
