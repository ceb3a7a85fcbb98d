"""Makes the clients: `make clients` writes them, a test holds them against the document."""
