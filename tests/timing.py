"""Assertions on times, which need a free processor. Such a test may be retried; other assertions may not."""


class TooSlow(AssertionError):
    """A time was missed. setup.cfg retries only tests with this error."""


def assert_in_time(met: bool, *details: object) -> None:
    if not met:
        raise TooSlow(*details or ("the machine or the program is too slow",))
