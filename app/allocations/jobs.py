"""Work of allocations that leaves the request."""

import app.allocations.models  # noqa: F401
