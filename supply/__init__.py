"""What the service is made of: its locked dependencies, their licences, a bill of materials, and known holes."""
