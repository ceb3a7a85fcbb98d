"""Reports: what stock is worth, what moved, what expires, what to order; as JSON, CSV and paper."""
