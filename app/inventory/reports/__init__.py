"""Reports on value, movements, expiry and reorders; as JSON, CSV and PDF."""
