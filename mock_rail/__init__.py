"""The mock payment rail: a server of the protocol of docs/payrail.md that moves no money, with faults on demand.

`make run`, the tests and the fault suite use it over HTTP; `python -m mock_rail` starts it alone. It needs neither the
database nor Redis, and the service does not import it.

    server.py             the server and its control operations
    http_handler.py       requests and responses, and faults in their way
    operations.py         what each request does
    rules.py              what the number of a wallet or account decides
    store.py              charges and transfers, and the journal that keeps them
    callbacks.py          signed callbacks
    signature_check.py    signatures of requests
    faults.py             faults that can be switched on
"""

from mock_rail.faults import Fault
from mock_rail.rules import CODE, Pace
from mock_rail.server import MockServer, Options, serve

__all__ = ["CODE", "Fault", "MockServer", "Options", "Pace", "serve"]
