"""Numbers that many processes count: none is lost, no matter who ends and however."""

import errno
import os
import signal
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from prometheus_client import values

from app.core.metrics import Counter, Gauge, Histogram, Metric, init, process_slots
from app.core.metrics.exposition import format_metrics
from app.core.metrics.metric_types import REGISTRY
from tests.exposition import read_value


class Metrics(NamedTuple):
    """One metric of each type, and the folder that they are counted in."""

    counter: Counter
    gauge: Gauge
    histogram: Histogram
    folder: Path


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of this test alone, for this process and its children."""
    monkeypatch.setattr(Metric, "catalogue", {})
    monkeypatch.setattr(process_slots, "_slots", None)
    monkeypatch.setattr(values, "ValueClass", values.MutexValue)
    monkeypatch.setenv(process_slots.FOLDER_VARIABLE, "")
    return tmp_path / "metrics"


@pytest.fixture
def metrics(folder: Path) -> Iterator[Metrics]:
    init(folder)
    yield from create_metrics(folder)


def create_metrics(folder: Path) -> Iterator[Metrics]:
    created = Metrics(
        Counter("t_seen_total", "Things seen.", ("what",)),
        Gauge("t_open", "Things open."),
        Histogram("t_seconds", "How long.", ("what",), buckets=(0.1, 1.0)),
        folder,
    )
    yield created
    for metric in created[:3]:
        if () in metric._children:
            REGISTRY.unregister(metric._children[()])


def in_child(act: Callable[[], None], *, end: Callable[[], None] = lambda: os._exit(0)) -> int:
    """Runs it in a fork; returns how that ended."""
    pid = os.fork()
    if pid == 0:
        act()
        end()
    return os.waitpid(pid, 0)[1]


def read(series: str) -> float:
    return read_value(format_metrics({}).decode(), series)


def test_numbers_of_several_processes_are_summed(metrics: Metrics) -> None:
    metrics.counter.add("a")

    def count() -> None:
        metrics.counter.add("a")
        metrics.histogram.observe(0.5, "a")

    for _ in range(3):
        in_child(count)
    assert read('t_seen_total{what="a"}') == 4
    buckets = [read(f't_seconds_bucket{{what="a",le="{limit}"}}') for limit in ("0.1", "1.0", "+Inf")]
    assert (*buckets, read('t_seconds_sum{what="a"}')) == (0, 3, 3, 1.5)


def test_counters_of_a_killed_process_stay_and_its_gauges_end(metrics: Metrics) -> None:
    metrics.gauge.set(2)

    def count() -> None:
        metrics.counter.add("killed", by=7)
        metrics.gauge.set(40)

    assert in_child(count, end=lambda: os.kill(os.getpid(), signal.SIGKILL)) == signal.SIGKILL
    assert (read('t_seen_total{what="killed"}'), read("t_open")) == (7, 2)


def test_gauges_of_running_processes_are_summed(metrics: Metrics) -> None:
    metrics.gauge.set(2)
    counted, ended = os.pipe(), os.pipe()

    def count() -> None:
        metrics.gauge.set(40)
        os.write(counted[1], b".")
        os.read(ended[0], 1)

    child = threading.Thread(target=in_child, args=(count,))
    child.start()
    os.read(counted[0], 1)
    assert read("t_open") == 42
    os.write(ended[1], b".")
    child.join()
    assert read("t_open") == 2


def test_the_slot_of_an_ended_process_is_reused(metrics: Metrics) -> None:
    metrics.counter.add("parent")
    for _ in range(30):
        in_child(lambda: metrics.counter.add("child"))
    assert len(list(metrics.folder.glob("counter_*.db"))) == 2
    assert (read('t_seen_total{what="child"}'), read('t_seen_total{what="parent"}')) == (30, 1)


def test_a_child_does_not_continue_the_numbers_of_its_ended_parent(metrics: Metrics) -> None:
    """The library notices a fork by a new number; with the same one the child would write what it knows, which is 1."""

    def fork_and_count() -> None:
        metrics.counter.add("a")
        if os.fork() == 0:
            os.setsid()
            process_slots.get_slots().forget()
            metrics.counter.add("a")
            os._exit(0)
        metrics.counter.add("a", by=5)
        os.wait()

    in_child(fork_and_count)
    assert read('t_seen_total{what="a"}') == 7


@pytest.mark.control
def test_without_the_lock_two_processes_would_write_one_file(metrics: Metrics, monkeypatch: pytest.MonkeyPatch) -> None:
    """The negative control: a slot that nobody locks is taken by two, and one of them overwrites the other."""
    monkeypatch.setattr(process_slots.fcntl, "flock", lambda *arguments: None)

    def count_in_two() -> None:
        process_slots.get_slots().forget()
        process_slots.get_slots()._parents_number = None
        metrics.counter.add("a")

    for _ in range(2):
        in_child(count_in_two)
    assert len(list(metrics.folder.glob("counter_*.db"))) == 1


def test_concurrent_threads_lose_no_count(metrics: Metrics) -> None:
    def count() -> None:
        for number in range(2000):
            metrics.counter.add(f"{number % 20}")
            metrics.histogram.observe(0.01, "t")

    threads = [threading.Thread(target=count) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(read(f't_seen_total{{what="{number}"}}') for number in range(20)) == 16_000
    assert read('t_seconds_count{what="t"}') == 16_000


def test_counting_works_without_a_writable_folder(tmp_path: Path, folder: Path) -> None:
    (tmp_path / "file").write_text("")
    init(tmp_path / "file" / "metrics")
    for metrics in create_metrics(folder):
        metrics.counter.add("a")
        assert read('t_seen_total{what="a"}') == 1
    assert process_slots.get_slots() is None


def test_on_a_full_disk_a_number_is_lost_and_nothing_else(metrics: Metrics, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(process_slots.os, "pwrite", refuse)

    def count() -> None:
        metrics.counter.add("lost")
        metrics.histogram.observe(0.1, "lost")

    assert in_child(count) == 0
    monkeypatch.undo()
    assert not list(metrics.folder.glob("*_1.db"))


@pytest.mark.parametrize("content", [b"", b"short", b"\xff" * 5000, b"\x40\x00\x00\x00" + b"\xff" * 5000])
def test_a_damaged_file_is_deleted(metrics: Metrics, content: bytes) -> None:
    in_child(lambda: None)
    metrics.counter.add("a")
    in_child(lambda: metrics.counter.add("b"))
    (metrics.folder / "counter_1.db").write_bytes(content)
    assert (read('t_seen_total{what="a"}'), read('t_seen_total{what="b"}')) == (1, 0)
    (metrics.folder / "counter_1.db").write_bytes(content)
    in_child(lambda: metrics.counter.add("b"))
    assert (read('t_seen_total{what="a"}'), read('t_seen_total{what="b"}')) == (1, 1)


def test_a_name_is_declared_once(metrics: Metrics) -> None:
    with pytest.raises(TypeError, match="declared twice"):
        Gauge("t_open", "Again.")
