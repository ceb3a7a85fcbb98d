"""Numbers that many processes count: none is lost, no matter who ends and however."""

import os
import signal
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from app.core.metrics import Counter, Gauge, Histogram, Metric, Store, shared_memory
from app.core.metrics.aggregation import Numbers, sum_pages
from app.core.metrics.prometheus_format import format_metrics


@pytest.fixture(scope="module")
def kinds() -> Iterator[tuple[Counter, Gauge, Histogram]]:
    made = (
        Counter("t_seen_total", "Things seen.", ("what",)),
        Gauge("t_open", "Things open."),
        Histogram("t_seconds", "How long.", ("what",), buckets=(0.1, 1.0)),
    )
    yield made
    for item in made:
        del Metric.catalogue[item.name]


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "metrics")


def in_child(act: Callable[[], None], *, end: Callable[[], None] = lambda: os._exit(0)) -> int:
    """Runs it in a fork; how that ended."""
    pid = os.fork()
    if pid == 0:
        act()
        end()
    return os.waitpid(pid, 0)[1]


def seen(found: Numbers, what: str) -> float:
    return found["t_seen_total"][(what,)][0]


def test_numbers_of_several_processes_are_summed(store: Store, kinds: tuple[Counter, Gauge, Histogram]) -> None:
    counter, _, histogram = kinds
    store.add(counter, ("a",))

    def count() -> None:
        store.add(counter, ("a",))
        store.observe(histogram, ("a",), 0.5)

    for _ in range(3):
        in_child(count)
    found = sum_pages(store.folder)
    assert seen(found, "a") == 4
    assert found["t_seconds"][("a",)] == [0, 3, 0, 1.5]


def test_counters_of_a_killed_process_stay_and_its_gauges_end(
    store: Store, kinds: tuple[Counter, Gauge, Histogram]
) -> None:
    counter, gauge, _ = kinds
    store.set(gauge, (), 2)

    def count() -> None:
        store.add(counter, ("killed",), 7)
        store.set(gauge, (), 40)

    assert in_child(count, end=lambda: os.kill(os.getpid(), signal.SIGKILL)) == signal.SIGKILL
    found = sum_pages(store.folder)
    assert seen(found, "killed") == 7
    assert found["t_open"][()] == [2]


def test_the_page_of_an_ended_process_is_reused(store: Store, kinds: tuple[Counter, Gauge, Histogram]) -> None:
    counter, _, _ = kinds
    store.add(counter, ("parent",))
    for _ in range(30):
        in_child(lambda: store.add(counter, ("child",)))
    assert len(list(store.folder.glob("*.page"))) == 2
    assert seen(sum_pages(store.folder), "child") == 30


@pytest.mark.control
def test_without_the_lock_two_processes_would_write_one_page(
    store: Store, kinds: tuple[Counter, Gauge, Histogram], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The negative control: a page that nobody guards is taken by two, and one of them overwrites the other."""
    counter, _, _ = kinds
    store.add(counter, ("parent",))
    monkeypatch.setattr(shared_memory, "try_lock", lambda file: True)
    in_child(lambda: store.add(counter, ("child",)))
    assert len(list(store.folder.glob("*.page"))) == 1


def test_concurrent_threads_lose_no_count(store: Store, kinds: tuple[Counter, Gauge, Histogram]) -> None:
    counter, _, histogram = kinds

    def count() -> None:
        for number in range(2000):
            store.add(counter, (f"{number % 20}",))
            store.observe(histogram, ("t",), 0.01)

    threads = [threading.Thread(target=count) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = sum_pages(store.folder)
    assert sum(values[0] for values in found["t_seen_total"].values()) == 16_000
    assert sum(found["t_seconds"][("t",)][:3]) == 16_000


def test_a_full_page_ignores_new_series(store: Store, kinds: tuple[Counter, Gauge, Histogram]) -> None:
    counter, _, _ = kinds
    for number in range(20_000):
        store.add(counter, (f"a label of a client {number:08}",))
    store.add(counter, ("a label of a client 00000000",))
    assert seen(sum_pages(store.folder), "a label of a client 00000000") == 2


def test_counting_works_without_a_writable_folder(tmp_path: Path, kinds: tuple[Counter, Gauge, Histogram]) -> None:
    (tmp_path / "file").write_text("")
    store = Store(tmp_path / "file" / "metrics")
    store.add(kinds[0], ("a",))
    assert sum_pages(store.folder) == {}


@pytest.mark.parametrize("content", [b"", b"short", b"\xff" * 5000, b"commerc1" + b"\xff" * 5000])
def test_a_damaged_page_is_read_up_to_the_damage(
    store: Store, kinds: tuple[Counter, Gauge, Histogram], content: bytes
) -> None:
    store.add(kinds[0], ("a",))
    (store.folder / "007.page").write_bytes(content)
    assert seen(sum_pages(store.folder), "a") == 1


def test_the_text_is_in_prometheus_format(store: Store, kinds: tuple[Counter, Gauge, Histogram]) -> None:
    counter, gauge, histogram = kinds
    store.add(counter, ('say "hi"\\\n',), 2)
    store.set(gauge, (), 1.5)
    for seconds in (0.05, 0.1, 0.5, 7):
        store.observe(histogram, ("x",), seconds)
    assert format_metrics(sum_pages(store.folder)) == (
        "# HELP t_open Things open.\n# TYPE t_open gauge\nt_open 1.5\n"
        "# HELP t_seconds How long.\n# TYPE t_seconds histogram\n"
        't_seconds_bucket{what="x",le="0.1"} 2\nt_seconds_bucket{what="x",le="1"} 3\n'
        't_seconds_bucket{what="x",le="+Inf"} 4\nt_seconds_sum{what="x"} 7.65\nt_seconds_count{what="x"} 4\n'
        "# HELP t_seen_total Things seen.\n# TYPE t_seen_total counter\n"
        't_seen_total{what="say \\"hi\\"\\\\\\n"} 2\n'
    )


def test_a_name_is_declared_once(kinds: tuple[Counter, Gauge, Histogram]) -> None:
    with pytest.raises(TypeError, match="declared twice"):
        Gauge("t_open", "Again.")
