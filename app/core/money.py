"""Money in words: whole cents of NAD inside, figure and currency outside."""

NARROW = "\u202f"


def format_money(amount_minor: int) -> str:
    """`N$ 1 234.50`: as it stands on pages, in mails and on documents; its spaces do not break."""
    sign = "−" if amount_minor < 0 else ""
    whole, cents = divmod(abs(amount_minor), 100)
    return f"{sign}N$\u00a0{f'{whole:,}'.replace(',', NARROW)}.{cents:02d}"
