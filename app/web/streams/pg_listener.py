"""The one connection of a process that receives PostgreSQL's notifications while it has streams."""

import psycopg

from app.core.connections import connect_arguments


class NotificationListener:
    """Raises psycopg.Error when the database does not answer or the connection is lost."""

    def __init__(self, url: str, channel: str) -> None:
        self.connection = psycopg.connect(
            **connect_arguments(
                url,
                connect_timeout=3,
                application_name="streams",
                keepalives_idle=30,
                keepalives_interval=10,
                keepalives_count=3,
            ),
            autocommit=True,
        )
        try:
            self.connection.execute(f"LISTEN {channel}")
        except BaseException:
            self.close()
            raise

    def wait_for_payloads(self, seconds: float) -> set[str]:
        """Return the payloads of the notifications since the last call, as soon as there is one."""
        return {notify.payload for notify in self.connection.notifies(timeout=seconds, stop_after=1)}

    def close(self) -> None:
        self.connection.close()
