"""Load by `wrk`, one process for each measurement."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.outcome import Failed, Run
from benchmarks.registry import Load

SCRIPT = Path(__file__).with_name("load.lua")
INSTALL = "The benchmarks need wrk: apt-get install wrk (Debian, Ubuntu) or brew install wrk (macOS)."


def installed() -> bool:
    return shutil.which("wrk") is not None


@dataclass
class Blow:
    """A load under way."""

    load: Load
    process: subprocess.Popen[str]
    bodies: Path

    def finish(self) -> tuple[Run, int]:
        """What came of it, and how many requests it was. Raises Failed for any answer of 400 or more."""
        output, complaint = self.process.communicate()
        self.bodies.unlink(missing_ok=True)
        line = next((line for line in output.splitlines() if line.startswith("RESULT ")), None)
        if line is None:
            raise Failed(f"wrk: {complaint or output}")
        found = json.loads(line.removeprefix("RESULT "))
        _check(self.load, found)
        rate = found["requests"] / found["seconds"]
        return Run(rate, found["p50"], found["p95"], found["p99"]), found["requests"]


def blow(load: Load, address: str, *, seconds: float, clients: int) -> Blow:
    """Starts `clients` connections that each send a request as soon as the last is answered."""
    with tempfile.NamedTemporaryFile("w", prefix="bodies-", suffix=".jsonl", delete=False) as bodies:
        said = [json.dumps(body, separators=(",", ":")) for body in load.bodies]
        lines = [f"{path}\t{said[0]}" for path in load.paths] if load.paths and said else load.paths or said
        if load.tokens:
            lines = [f"{token}\t{line}" for token, line in zip(load.tokens, lines, strict=True)]
        bodies.writelines(f"{line}\n" for line in lines)
    headers = [f"{name}: {value}" for name, value in load.headers.items()]
    command = [
        "wrk",
        "--threads",
        str(clients if load.carry else 1),
        "--connections",
        str(clients),
        "--duration",
        f"{round(seconds)}s",
        "--timeout",
        "30s",
        "--script",
        str(SCRIPT),
        f"{address}{load.path}",
        "--",
        bodies.name,
        _mode(load),
        load.method,
        load.path,
        *headers,
    ]
    environment = {**os.environ, "PAUSE_MS": str(load.pause)} if load.pause else None
    process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    return Blow(load, process, Path(bodies.name))


def _mode(load: Load) -> str:
    if load.paths:
        return "+paths"
    return "+tokens" if load.tokens else load.carry or "-"


def _check(load: Load, found: dict[str, Any]) -> None:
    if found["wrong"] or found["broken"] or not found["requests"]:
        raise Failed(
            f"{load.method} {load.path}: {found['wrong']} of {found['requests']} answers were errors, "
            f"{found['broken']} connections broke."
        )
