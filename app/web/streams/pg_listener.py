"""The one connection of a process that hears PostgreSQL's notifications, while anybody listens."""

import psycopg

from app.core.connections import connect_arguments


class ListenConnectionLost(Exception):
    """The connection is lost; what was said meanwhile was not heard."""


class NotificationListener:
    """Raises psycopg.Error when there is no database."""

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
            # Kept, because a connection that is lost no longer tells.
            self.fd = self.connection.fileno()
        except BaseException:
            self.close()
            raise

    def read_payloads(self) -> set[str]:
        """What was said since, without waiting. Raises Deaf."""
        try:
            return {notify.payload for notify in self.connection.notifies(timeout=0)}
        except psycopg.Error as error:
            raise ListenConnectionLost from error

    def close(self) -> None:
        self.connection.close()
