"""Errors of crew and shifts."""

from app.core.errors import Conflict, Throttled, Unprocessable


class ShiftOpen(Conflict):
    number, code = 40980, "SHIFT_OPEN"
    message = "Some people who would leave the crew have an open shift; data.members names them. Check them out first."


class StallHasShifts(Conflict):
    number, code = 40984, "STALL_HAS_SHIFTS"
    message = "The crew of this stall has recorded shifts, and their hours stay; so the stall cannot be ended."


class NoOpenShift(Conflict):
    number, code = 40981, "NO_OPEN_SHIFT"
    message = "This person has no shift to change; start one with the shift code."


class ShiftTimesCross(Conflict):
    number, code = 40982, "SHIFT_TIMES_CROSS"
    message = "Something later than that time has been recorded already; send a later time."


class ShiftCodeWrong(Unprocessable):
    number, code = 42280, "SHIFT_CODE_WRONG"
    message = "This is not the shift code; five wrong ones lock for 15 minutes."


class StallCodeWrong(Unprocessable):
    number, code = 42281, "STALL_CODE_WRONG"
    message = "This stall has a rotating code; send the one that it shows now as stallCode."


class ShiftCodeLocked(Throttled):
    number, code = 42980, "SHIFT_CODE_LOCKED"
    message = "Too many wrong shift codes; wait for the seconds in Retry-After."
