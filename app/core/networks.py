"""Client networks for rate limits.

An IPv6 subscriber has a /64 at least, so the /64 counts as one client. Many have a /48, which holds 65,536 of them; the
/48 is counted as well, with a larger limit.
"""

from ipaddress import IPv6Address, ip_address, ip_network

SUBSCRIBER_BITS, WIDER_BITS = 64, 48
WIDER_SHARE = 16


class Network(str):
    """A client's network. `wider` is the network around it, which is limited too; its limit is `share` times higher."""

    share: int = 1
    wider: "Network | None" = None

    @property
    def counted(self) -> tuple["Network", ...]:
        """Return every network that a request of this client counts for."""
        return (self,) if self.wider is None else (self, self.wider)


def network_of(address: str | None) -> Network:
    """Return the network of a client's IP address: the IPv4 address itself, or the /64 of an IPv6 address."""
    try:
        parsed = ip_address(address or "")
    except ValueError:
        return Network("unknown")
    if not isinstance(parsed, IPv6Address):
        return Network(parsed)
    if parsed.ipv4_mapped:
        return Network(parsed.ipv4_mapped)
    network = _prefix(parsed, SUBSCRIBER_BITS)
    network.wider = _prefix(parsed, WIDER_BITS)
    network.wider.share = WIDER_SHARE
    return network


def _prefix(address: IPv6Address, bits: int) -> Network:
    return Network(ip_network((int(address), bits), strict=False))
