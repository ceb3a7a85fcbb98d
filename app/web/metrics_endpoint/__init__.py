"""The endpoint `/metrics`, and the metrics that are computed when it is read, at most every five seconds.

database_metrics.py         jobs, heartbeats and payouts: two short statements
infrastructure_metrics.py   Redis, the circuit breaker of the payment rail, the disk
response.py                 the access check, and the text of all metrics
"""
