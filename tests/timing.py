"""Figures that need a processor that is free. Missed, the test may try again; a law may not."""


class TooSlow(AssertionError):
    """setup.cfg names it: nothing else is tried again."""


def timely(met: bool, *seen: object) -> None:
    if not met:
        raise TooSlow(*seen or ("the machine, or the program",))
