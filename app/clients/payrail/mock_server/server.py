"""The mock rail as a server: its parts, its port, and its control operations."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from app.clients.payrail.mock import MockRail
from app.clients.payrail.mock_rules import Pace
from app.clients.payrail.mock_server.authentication import Guard
from app.clients.payrail.mock_server.callbacks import Caller
from app.clients.payrail.mock_server.faults import Fault, Faults, read
from app.clients.payrail.mock_server.http_handler import Listener
from app.clients.payrail.mock_server.operations import Operations, Said
from app.clients.payrail.mock_server.state import Clock, Memory

SILENCE = 20.0


@dataclass(frozen=True, kw_only=True)
class Options:
    """How a server is started; `hang` is for how many seconds it keeps silent where an outcome is unknown."""

    key: str
    secret: str = field(repr=False)
    host: str = "127.0.0.1"
    port: int = 0
    callback_url: str | None = None
    journal: Path | None = None
    faults: tuple[Fault, ...] = ()
    pace: Pace = Pace()
    hang: float = SILENCE


class MockServer:
    """One rail on one port."""

    def __init__(self, options: Options) -> None:
        self.options: Options = options
        self.clock, self.faults = Clock(), Faults(options.faults)
        self.book = Memory(self.clock, self.faults, options.journal)
        self.guard = Guard(options.key, options.secret)
        self.operations = Operations(MockRail(options.pace, self.book), self.book)
        self.caller = Caller(options.callback_url, options.secret, self.book, self.faults)
        self.book.sent, self.book.ended = self.caller.transfer, self.caller.charge
        self.refusing = False
        self._http = Listener((options.host, options.port), self)
        self.port: int = self._http.server_port

    @property
    def url(self) -> str:
        return f"http://{self.options.host}:{self.port}"

    @contextmanager
    def running(self) -> Iterator["MockServer"]:
        """Serves in a thread for as long as the block lasts."""
        self._serve()
        try:
            yield self
        finally:
            self._close()
            self.caller.close()
            self.book.close()

    def refuse(self, seconds: float | None = None) -> None:
        """Refuses connections and cuts those that are open, for so long or until `accept`."""
        self.refusing = True
        self._close()
        if seconds is not None:
            threading.Timer(seconds, self.accept).start()

    def accept(self) -> None:
        """Takes connections again."""
        if self.refusing:
            self._http = Listener((self.options.host, self.port), self)
            self.refusing = False
            self._serve()

    def control(self, path: str, said: Said) -> Said:
        """What `/_control/…` does. Raises BadFault, KeyError, TypeError, ValueError for what it does not understand."""
        if path == "faults":
            self.faults.set(read(json.dumps(said["faults"])))
        elif path == "clock":
            self.clock.ahead += float(said["advance"])
            self.caller.wake()
        elif path == "flush":
            self.caller.flush(said.get("seed"))
        elif path == "refuse":
            threading.Timer(0.05, self.refuse, (float(said["seconds"]),)).start()
        else:
            raise KeyError(path)
        return {"now": self.clock.text(), "callbacksWaiting": self.caller.waiting}

    def _serve(self) -> None:
        threading.Thread(target=self._http.serve_forever, args=(0.05,), name="payrail-mock", daemon=True).start()

    def _close(self) -> None:
        self._http.shutdown()
        self._http.server_close()
