"""The mock as a stand-alone rail: the wire protocol of docs/payrail.md over HTTP, by the rules of `mock_rules.py`, with
faults on demand. It moves no money and needs neither database nor Redis."""

from app.clients.payrail.mock_server.faults import Fault
from app.clients.payrail.mock_server.server import MockServer, Options

__all__ = ["Fault", "MockServer", "Options"]
