"""The OS user of the servers: PostgreSQL refuses root, and no user is ever created or changed for it."""

from __future__ import annotations

import os
import pwd
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from app.embedded.errors import EmbeddedError

# The servers get neither our secrets nor the caller's PG* variables, which would change their behaviour.
ENVIRONMENT = {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C"}


@dataclass(frozen=True)
class Account:
    """The OS user of the servers; both numbers are None when it is the caller."""

    uid: int | None = None
    gid: int | None = None

    @classmethod
    def for_state(cls, state: Path) -> Account:
        """Return the caller; for root the owner of the files in `state`, or else the user `nobody`."""
        if os.geteuid() != 0:
            return cls()
        for folder in (state / "postgres", state):
            if folder.exists() and (info := folder.stat()).st_uid != 0:
                return cls(info.st_uid, info.st_gid)
        try:
            nobody = pwd.getpwnam("nobody")
        except KeyError:
            raise EmbeddedError(
                "PostgreSQL does not run as root and this system has no account `nobody`: "
                "start as an ordinary user, or set DATABASE_URL and REDIS_URL."
            ) from None
        return cls(nobody.pw_uid, nobody.pw_gid)

    @property
    def other(self) -> bool:
        """Whether the servers run as somebody else than the caller."""
        return self.uid is not None

    @property
    def groups(self) -> list[int] | None:
        """No supplementary groups for another account; the caller's own stay as they are."""
        return [] if self.other else None

    def runs(self, argv: Sequence[str | Path]) -> str | None:
        """What the command prints when run as this account, or None if it cannot be run or fails."""
        try:
            done = subprocess.run(
                [str(part) for part in argv],
                user=self.uid,
                group=self.gid,
                extra_groups=self.groups,
                cwd="/",
                env=ENVIRONMENT,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=30,
            )
        except (OSError, subprocess.SubprocessError):
            return None
        return done.stdout if done.returncode == 0 else None

    def enters(self, folder: Path) -> bool:
        """Whether this account can pass through `folder`, asked by trying, so that ACLs count too."""
        return not self.other or self.runs(["/bin/sh", "-c", 'cd "$1"', "sh", folder]) is not None

    def takes(self, descriptor: int) -> None:
        """Makes the account the owner of an open file or folder of ours."""
        if self.uid is not None and self.gid is not None:
            os.fchown(descriptor, self.uid, self.gid)
