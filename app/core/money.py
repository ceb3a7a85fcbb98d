"""Formats amounts of money, which are whole cents of NAD inside the program."""

NARROW = "\u202f"


def format_money(amount_minor: int) -> str:
    """Return `N$ 1 234.50`, for pages, mails and documents; lines do not break at its spaces."""
    sign = "−" if amount_minor < 0 else ""
    whole, cents = divmod(abs(amount_minor), 100)
    return f"{sign}N$\u00a0{f'{whole:,}'.replace(',', NARROW)}.{cents:02d}"
