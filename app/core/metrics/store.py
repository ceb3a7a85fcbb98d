"""The numbers of one process. An addition is a lookup and a write to memory: about a microsecond."""

import os
from pathlib import Path
from threading import Lock
from weakref import WeakSet

from flask import Flask, current_app

from app.core.metrics.shared_memory import BucketedMetric, MetricShape, Page, acquire_page

EXTENSION = "metrics"
Labels = tuple[str, ...]


class Store:
    """The numbers of this process, in a page of the folder from the first number on; thread-safe."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._opening = Lock()
        self._page: Page | None = None
        _stores.add(self)

    def add(self, metric: MetricShape, labels: Labels, by: float = 1.0) -> None:
        page = self.page()
        with page.lock:
            page.values[page.find(metric, labels)] += by

    def set(self, metric: MetricShape, labels: Labels, value: float) -> None:
        page = self.page()
        with page.lock:
            page.values[page.find(metric, labels)] = value

    def observe(self, metric: BucketedMetric, labels: Labels, seconds: float) -> None:
        page = self.page()
        with page.lock:
            first = page.find(metric, labels)
            page.values[first + metric.place(seconds)] += 1
            page.values[first + metric.width - 1] += seconds

    def page(self) -> Page:
        """Return the page of this process; numbers of every request are written to it directly, under its lock."""
        return self._page or self._opened()

    def close(self) -> None:
        """Release the page; the next number takes one again."""
        page, self._page = self._page, None
        if page is not None:
            page.close()

    def _opened(self) -> Page:
        with self._opening:
            if self._page is None:
                self._page = acquire_page(self.folder)
            return self._page

    def begin_anew(self) -> None:
        """Release the page in a forked child: it belongs to the parent, and the lock may be held."""
        self._opening = Lock()
        self.close()


_stores: WeakSet[Store] = WeakSet()


def _forked() -> None:
    for item in list(_stores):
        item.begin_anew()


os.register_at_fork(after_in_child=_forked)


def init_app(app: Flask, folder: Path) -> None:
    app.extensions[EXTENSION] = Store(folder)


def store() -> Store:
    """Return the store of this application."""
    result: Store = current_app.extensions[EXTENSION]
    return result
