"""Files and folders that only the service's user may read, independent of the umask."""

import os
from pathlib import Path

FILE_MODE, FOLDER_MODE = 0o600, 0o700


def make_private_folder(folder: Path, *, within: Path) -> None:
    """Create a folder below `within`; only this user may read it and the folders between."""
    for part in [*reversed(folder.relative_to(within).parents), folder.relative_to(within)]:
        if part.parts:
            path = within / part
            path.mkdir(mode=FOLDER_MODE, parents=True, exist_ok=True)
            _set_mode(path, FOLDER_MODE)


def write_private(path: Path, text: str) -> None:
    """Write a new file that only this user may read."""
    descriptor = os.open(path, os.O_CREAT | os.O_WRONLY | os.O_EXCL | os.O_CLOEXEC, FILE_MODE)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)


def close_file(path: Path) -> bool:
    """Make a file readable only by this user; return whether that was necessary."""
    return _set_mode(path, FILE_MODE)


def close_to_others(folder: Path) -> int:
    """Make a folder and its contents readable only by this user; return how many were changed. Links are skipped."""
    if folder.is_symlink() or not folder.is_dir():
        return 0
    changed = int(_set_mode(folder, FOLDER_MODE))
    for path, folders, files in os.walk(folder):
        changed += sum(_set_mode(Path(path, name), FOLDER_MODE) for name in folders)
        changed += sum(_set_mode(Path(path, name), FILE_MODE) for name in files)
    return changed


def _set_mode(path: Path, mode: int) -> bool:
    try:
        if path.is_symlink() or path.stat().st_mode & 0o777 == mode:
            return False
        path.chmod(mode)
    except FileNotFoundError:
        return False
    return True
