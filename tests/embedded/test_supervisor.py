"""The supervisor, run as a program of its own over tiny children."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.embedded.running import BARE, ROOT
from tests.waiting import wait_for_exit, wait_until

# A child writes one line, with one write, to the file named by OUT whenever something happens to it.
NOTE = """
import os, signal, sys, time
out = os.open(os.environ["OUT"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
note = lambda text: os.write(out, f"{text} {os.getpid()} {time.monotonic()}\\n".encode())
"""
PATIENT = NOTE + "note('a up')\nwhile True: time.sleep(1)"
POLITE = f"""{NOTE}
def leave(*_):
    note(sys.argv[1] + ' down')
    sys.exit(0)
signal.signal(signal.SIGTERM, leave)
note(sys.argv[1] + ' up')
while True: time.sleep(1)
"""
STUBBORN = NOTE + "signal.signal(signal.SIGTERM, signal.SIG_IGN)\nnote('a up')\nwhile True: time.sleep(1)"
FLEETING = NOTE + "note('a up')"
FAILING = NOTE + "note('a up'); sys.exit(3)"
PARENT = f"""{NOTE}
import subprocess
nested = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])
os.write(out, f'nested up {{nested.pid}} 0\\n'.encode())
note('a up')
"""

PLAY = """
import sys
from functools import partial
from app.child_processes import Process
from app.supervisor import Supervisor

def play(code, name):
    sys.argv = ["-c", name]
    exec(code, {})
    return 0

"""

Run = Callable[..., subprocess.Popen[str]]


class Notes:
    """What the children wrote."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def lines(self, text: str = "") -> list[list[str]]:
        """Notes beginning with `text`, each as [name, event, pid, time]."""
        written = self.path.read_text() if self.path.exists() else ""
        return [line.split() for line in written.splitlines() if line.startswith(text)]

    def wait(self, text: str, count: int = 1) -> list[list[str]]:
        """The notes beginning with `text`, once there are `count`."""
        wait_until(lambda: len(self.lines(text)) >= count)
        return self.lines(text)


@pytest.fixture
def notes(tmp_path: Path) -> Notes:
    return Notes(tmp_path / "notes")


@pytest.fixture
def supervise(notes: Notes) -> Iterator[Run]:
    """Starts a supervisor over (program, argument, restart) triples."""
    started: list[subprocess.Popen[str]] = []

    def run(*children: tuple[str, str, bool], grace: float = 10) -> subprocess.Popen[str]:
        env = {"OUT": str(notes.path)}
        processes = [
            f"Process({name!r}, partial(play, {code!r}, {name!r}), {env!r}, restart={again})"
            for code, name, again in children
        ]
        program = f"{BARE}\n{PLAY}sys.exit(Supervisor([{', '.join(processes)}], grace={grace}).run())"
        command = [sys.executable, "-c", program]
        started.append(subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True))
        return started[-1]

    yield run
    for process in started:
        process.kill()
        process.communicate()


def runs(pid: str) -> bool:
    """Whether a process lives; one that nobody has waited for yet does not."""
    state = subprocess.run(["ps", "-o", "stat=", "-p", pid], capture_output=True, text=True).stdout.strip()
    return bool(state) and not state.startswith("Z")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_stops_all_in_reverse_order(supervise: Run, notes: Notes, number: signal.Signals) -> None:
    supervisor = supervise((POLITE, "a", True), (POLITE, "b", True))
    pids = [notes.wait(f"{name} up")[0][2] for name in "ab"]
    supervisor.send_signal(number)
    assert wait_for_exit(supervisor) == 0
    assert {line[0] for line in notes.lines() if line[1] == "down"} == {"a", "b"}
    assert not any(runs(pid) for pid in pids)


def test_a_child_that_ends_is_started_again_after_growing_pauses(supervise: Run, notes: Notes) -> None:
    supervisor = supervise((FLEETING, "a", True))
    times = [float(line[3]) for line in notes.wait("a up", 3)]
    assert times[1] - times[0] >= 0.5
    assert times[2] - times[1] >= 1.0
    supervisor.terminate()
    assert wait_for_exit(supervisor) == 0
    assert supervisor.stderr is not None
    assert "a ended with code 0; next start in 0.5 s" in supervisor.stderr.read()


def test_a_killed_child_is_started_again(supervise: Run, notes: Notes) -> None:
    supervise((PATIENT, "a", True))
    first = notes.wait("a up")[0][2]
    os.kill(int(first), signal.SIGKILL)
    assert notes.wait("a up", 2)[1][2] != first


def test_the_exit_code_is_that_of_the_failed_child(supervise: Run, notes: Notes) -> None:
    supervisor = supervise((FAILING, "a", False), (FLEETING, "b", False))
    assert wait_for_exit(supervisor) == 3
    assert len(notes.lines("a up")) == 2  # Once each: both programs write the same line.


def test_children_of_an_ended_child_are_killed(supervise: Run, notes: Notes) -> None:
    wait_for_exit(supervise((PARENT, "a", False)))
    wait_until(lambda: not runs(notes.lines("nested up")[0][2]))


def test_a_child_that_ignores_sigterm_is_killed(supervise: Run, notes: Notes) -> None:
    supervisor = supervise((STUBBORN, "a", True), grace=0.5)
    pid = notes.wait("a up")[0][2]
    supervisor.terminate()
    assert wait_for_exit(supervisor) == 0
    assert not runs(pid)


def test_a_second_ctrl_c_kills_immediately(supervise: Run, notes: Notes) -> None:
    supervisor = supervise((STUBBORN, "a", True), grace=60)
    pid = notes.wait("a up")[0][2]
    supervisor.send_signal(signal.SIGINT)
    time.sleep(0.2)
    supervisor.send_signal(signal.SIGINT)  # An echo of the first: a program around it passed it on.
    time.sleep(0.6)
    assert runs(pid)
    supervisor.send_signal(signal.SIGINT)
    assert wait_for_exit(supervisor) == 0
    assert not runs(pid)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells children of their parent's death")
def test_the_children_die_with_a_killed_supervisor(supervise: Run, notes: Notes) -> None:
    supervisor = supervise((PATIENT, "a", True), (PATIENT, "b", True))
    pids = [line[2] for line in notes.wait("a up", 2)]
    supervisor.kill()
    wait_until(lambda: not any(runs(pid) for pid in pids))


def test_a_child_that_cannot_be_started_stops_the_start() -> None:
    program = f"""{BARE}\n{PLAY}
import os
def full():
    raise BlockingIOError("no more processes")
os.fork = full
sys.exit(Supervisor([Process("web", print)]).run())
"""
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 127
    assert "no more processes" in done.stderr


def test_a_child_has_its_own_session_and_environment_and_no_context_of_its_parents() -> None:
    program = f"""{BARE}\n{PLAY}
import os, signal
from contextvars import ContextVar
inside = ContextVar("inside", default="no")
inside.set("yes")

def look():
    print(os.getsid(0) == os.getpid(), os.environ["GIVEN"], inside.get(), signal.getsignal(signal.SIGTERM), flush=True)
    return 7
sys.exit(Supervisor([Process("web", look, {{"GIVEN": "here"}}, restart=False)]).run())
"""
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 7
    assert done.stdout.split() == ["True", "here", "no", str(signal.SIG_DFL)]
