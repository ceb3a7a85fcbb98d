"""Our account at a rail."""

from dataclasses import dataclass, field


@dataclass(frozen=True, kw_only=True)
class Account:
    """Where the rail is, who we are there, and how long we wait (seconds): to connect, and for everything."""

    url: str
    key: str = field(repr=False)
    secret: str = field(repr=False)
    connect: float = 3.0
    total: float = 15.0
