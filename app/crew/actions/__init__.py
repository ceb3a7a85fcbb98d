"""What happens at a stall: one verb, one transaction."""

from app.crew.actions.replace import replace_crew
from app.crew.actions.shifts import check_out, verify

__all__ = ["check_out", "replace_crew", "verify"]
