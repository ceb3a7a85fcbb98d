"""An SMTP server that notes each Message-ID on disk before it answers 250: what it noted has gone out.

`python -m tests.faults.sink PORT LOG HOLD`; HOLD is how many seconds it keeps the 250 back. Some addresses have odd
servers: to `later.…` it says 451 the first time, to `never.…` always 550, for `slow.…` it answers after 30 seconds,
and for `drop.…` it hangs up after the final dot, each of them the first time that it meets the mail.
"""

import asyncio
import os
import sys
from email import message_from_bytes
from typing import Any

from aiosmtpd.smtp import SMTP

SLOW = 30.0


class Noting:
    def __init__(self, path: str, hold: float) -> None:
        self.file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        self.hold = hold
        self.met: set[str] = set()

    async def handle_RCPT(  # noqa: N802
        self, _server: Any, _session: Any, envelope: Any, address: str, _options: list[str]
    ) -> str:
        manner = address.partition(".")[0]
        if manner == "never":
            return "550 5.7.1 not from you"
        if manner == "later" and self._first(address):
            return "451 4.3.0 later"
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server: Any, _session: Any, envelope: Any) -> str:  # noqa: N802
        name = message_from_bytes(envelope.content)["Message-ID"]
        os.write(self.file, f"{name}\n".encode())
        manner = envelope.rcpt_tos[0].partition(".")[0]
        if manner == "slow" and self._first(name):
            await asyncio.sleep(SLOW)
        if manner == "drop" and self._first(name):
            server.transport.abort()
        await asyncio.sleep(self.hold)
        return "250 noted"

    def _first(self, name: str) -> bool:
        first = name not in self.met
        self.met.add(name)
        return first


async def serve(port: int, path: str, hold: float) -> None:
    noting = Noting(path, hold)
    server = await asyncio.get_running_loop().create_server(
        lambda: SMTP(noting, hostname="sink.localhost"), "127.0.0.1", port, reuse_address=True
    )
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(serve(int(sys.argv[1]), sys.argv[2], float(sys.argv[3])))
