"""Work of allocations that leaves the request."""

import app.allocations.deliveries
import app.allocations.models
import app.allocations.tickets.models  # noqa: F401
