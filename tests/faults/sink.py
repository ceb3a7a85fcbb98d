"""An SMTP server that notes each Message-ID on disk before it answers 250: what it noted has gone out.

`python -m tests.faults.sink PORT LOG HOLD`; HOLD is how many seconds it keeps the 250 back.
"""

import asyncio
import os
import sys
from email import message_from_bytes
from typing import Any

from aiosmtpd.smtp import SMTP


class Noting:
    def __init__(self, path: str, hold: float) -> None:
        self.file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        self.hold = hold

    async def handle_DATA(self, _server: Any, _session: Any, envelope: Any) -> str:  # noqa: N802
        os.write(self.file, f"{message_from_bytes(envelope.content)['Message-ID']}\n".encode())
        await asyncio.sleep(self.hold)
        return "250 noted"


async def serve(port: int, path: str, hold: float) -> None:
    noting = Noting(path, hold)
    server = await asyncio.get_running_loop().create_server(
        lambda: SMTP(noting, hostname="sink.localhost"), "127.0.0.1", port, reuse_address=True
    )
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(serve(int(sys.argv[1]), sys.argv[2], float(sys.argv[3])))
