"""Checks of the disk and the folders."""

import os
import shutil
import stat
import tempfile
from pathlib import Path

from app.config import Settings
from app.doctor.results import Finding, Findings, fail, ok, warn

GIB = 1024**3
LOW_SHARE, CRITICAL_SHARE = 0.10, 0.02


def run_checks(settings: Settings) -> Findings:
    yield _check_data_dir(settings)
    yield _check_disk(settings.DATA_DIR)
    yield _check_metrics_dir(settings.METRICS_DIR)


def _check_data_dir(settings: Settings) -> Finding:
    folder = settings.DATA_DIR
    if not folder.is_dir():
        return fail(
            "data",
            f"DATA_DIR {folder} does not exist.",
            f"`install -d -m 700 {folder}`, owned by the service's user.",
        )
    if not os.access(folder, os.W_OK | os.X_OK):
        return fail("data", f"DATA_DIR {folder} is not writable for this user.", f"`chown` {folder} to it.")
    mode = folder.stat().st_mode
    if mode & stat.S_IWOTH:
        return fail("data", f"Anybody on this machine may write to DATA_DIR {folder}.", f"`chmod 700 {folder}`.")
    if mode & stat.S_IROTH and settings.production:
        return warn("data", f"Anybody on this machine may read DATA_DIR {folder}.", f"`chmod 700 {folder}`.")
    return ok("data", f"DATA_DIR {folder} belongs to this user.")


def _check_disk(folder: Path) -> Finding:
    while not folder.exists():
        folder = folder.parent
    usage = shutil.disk_usage(folder)
    if not usage.total:
        return fail(
            "disk", f"{folder} is on a filesystem without room for files.", "Set DATA_DIR to a folder on a disk."
        )
    free_share = usage.free / usage.total
    free_text = f"{usage.free / GIB:.1f} GiB ({usage.free * 100 // usage.total} %)"
    advice = "Make room: `du -xsh /var/* | sort -h` shows what takes it."
    if free_share < CRITICAL_SHARE:
        return fail(
            "disk", f"{free_text} are free: uploads fail, and PostgreSQL stops when there is nothing left.", advice
        )
    if free_share < LOW_SHARE:
        return warn("disk", f"{free_text} are free.", advice)
    return ok("disk", f"{free_text} are free.")


def _check_metrics_dir(folder: Path) -> Finding:
    existing_folder = folder
    while not existing_folder.exists():
        existing_folder = existing_folder.parent
    try:
        with tempfile.TemporaryFile(dir=existing_folder):
            return ok("metrics", f"METRICS_DIR {folder} is writable.")
    except OSError:
        pass
    return warn(
        "metrics",
        f"METRICS_DIR {folder} is not writable: each process counts alone, and /metrics shows only one of them.",
        "Set METRICS_DIR to a folder of this user, best in memory.",
    )
