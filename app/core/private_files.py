"""Files and folders that only this account may read, whatever the umask is."""

import os
from pathlib import Path

FILE, FOLDER = 0o600, 0o700


def make_private_folder(folder: Path, *, within: Path) -> None:
    """Makes a folder below `within`, and closes each folder on the way to other accounts."""
    for part in [*reversed(folder.relative_to(within).parents), folder.relative_to(within)]:
        if part.parts:
            path = within / part
            path.mkdir(mode=FOLDER, parents=True, exist_ok=True)
            _close(path, FOLDER)


def write_private(path: Path, text: str) -> None:
    """Writes a new file that only this account may read."""
    with os.fdopen(
        os.open(path, os.O_CREAT | os.O_WRONLY | os.O_EXCL | os.O_CLOEXEC, FILE), "w", encoding="utf-8"
    ) as file:
        file.write(text)


def close_file(path: Path) -> bool:
    """Closes a file to other accounts; whether it was open."""
    return _close(path, FILE)


def close_to_others(folder: Path) -> int:
    """Closes a folder and all that is in it to other accounts; how many were open. Links are left alone."""
    if folder.is_symlink() or not folder.is_dir():
        return 0
    closed = int(_close(folder, FOLDER))
    for path, folders, files in os.walk(folder):
        closed += sum(_close(Path(path, name), FOLDER) for name in folders)
        closed += sum(_close(Path(path, name), FILE) for name in files)
    return closed


def _close(path: Path, mode: int) -> bool:
    try:
        if path.is_symlink() or path.stat().st_mode & 0o777 == mode:
            return False
        path.chmod(mode)
    except FileNotFoundError:
        return False
    return True
