"""Where the web workers spend their time, as py-spy sees it."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.outcome import Failed
from benchmarks.serving import Server


@contextmanager
def sample_stacks(server: Server, seconds: float, to: Path, *, frequency: int = 50) -> Iterator[None]:
    """Sample the workers during the block: a flame graph as .svg, or the stacks as .txt. Raises Failed."""
    program = shutil.which("py-spy", path=f"{Path(sys.executable).parent}:/usr/local/bin:/usr/bin")
    if program is None:
        raise Failed("This needs py-spy: pip install py-spy")
    # --idle is left out: a thread that waits for PostgreSQL costs nothing here.
    argv = [
        program,
        "record",
        "--subprocesses",
        "--pid",
        str(server.process),
        "--duration",
        f"{seconds:.0f}",
        "--rate",
        str(frequency),
        "--gil",
        "--full-filenames",
        "--output",
        str(to),
    ]
    quiet = subprocess.DEVNULL
    with subprocess.Popen(
        [*argv, "--format", "raw" if to.suffix == ".txt" else "flamegraph"], stdout=quiet, stderr=quiet
    ) as process:
        yield
        process.wait(60)
