"""The mock rail as a server: its parts, its port, and its control operations."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from mock_rail.callbacks import CallbackSender
from mock_rail.faults import Fault, Faults, parse_faults
from mock_rail.http_handler import Listener
from mock_rail.operations import Message, Operations
from mock_rail.rules import Pace
from mock_rail.signature_check import SignatureCheck
from mock_rail.store import Clock, Store


@dataclass(frozen=True, kw_only=True)
class Options:
    """How a server is started. `hang` is how many seconds it keeps silent where an outcome is unknown."""

    key: str
    secret: str = field(repr=False)
    host: str = "127.0.0.1"
    port: int = 0
    callback_url: str | None = None
    journal: Path | None = None
    faults: tuple[Fault, ...] = ()
    pace: Pace = Pace()
    hang: float = 20.0


class MockServer:
    """One rail on one port."""

    def __init__(self, options: Options) -> None:
        self.options = options
        self.clock, self.faults = Clock(), Faults(options.faults)
        self.store = Store(self.clock, options.journal)
        self.signature_check = SignatureCheck(options.key, options.secret)
        self.callbacks = CallbackSender(options.callback_url, options.secret, self.store, self.clock, self.faults)
        self.operations = Operations(self.store, self.clock, self.faults, self.callbacks, options.pace)
        self.refusing = False
        self._listener = Listener((options.host, options.port), self)
        self.port: int = self._listener.server_port

    @property
    def url(self) -> str:
        return f"http://{self.options.host}:{self.port}"

    @property
    def hang(self) -> float:
        return self.options.hang

    @contextmanager
    def running(self) -> Iterator["MockServer"]:
        """Serve in a thread until the block ends."""
        self._start_listener()
        try:
            yield self
        finally:
            self._stop_listener()
            self.callbacks.close()
            self.store.close()

    def refuse(self, seconds: float | None = None) -> None:
        """Refuse connections and cut open ones, for so many seconds or until `accept`."""
        self.refusing = True
        self._stop_listener()
        if seconds is not None:
            threading.Timer(seconds, self.accept).start()

    def accept(self) -> None:
        """Accept connections again."""
        if self.refusing:
            self._listener = Listener((self.options.host, self.port), self)
            self.refusing = False
            self._start_listener()

    def reset(self) -> None:
        """Forget charges, transfers, queued callbacks and faults, and set the clock right."""
        self.faults.set([])
        self.callbacks.clear()
        self.store.clear()
        self.clock.ahead = 0.0

    def control(self, operation: str, message: Message) -> Message:
        """Carry out `/_control/<operation>`. Raises InvalidFault, KeyError, TypeError or ValueError if it is invalid."""
        if operation == "faults":
            self.faults.set(parse_faults(json.dumps(message["faults"])))
        elif operation == "clock":
            self.clock.ahead += float(message["advance"])
            self.callbacks.wake()
        elif operation == "flush":
            self.callbacks.flush(message.get("seed"))
        elif operation == "refuse":
            threading.Timer(0.05, self.refuse, (float(message["seconds"]),)).start()
        else:
            raise KeyError(operation)
        return {"now": self.clock.format(), "callbacksWaiting": self.callbacks.waiting}

    def _start_listener(self) -> None:
        threading.Thread(target=self._listener.serve_forever, args=(0.05,), name="mock-rail", daemon=True).start()

    def _stop_listener(self) -> None:
        self._listener.shutdown()
        self._listener.server_close()


def serve(options: Options) -> None:
    """Serve until the process ends."""
    with MockServer(options).running():
        threading.Event().wait()
