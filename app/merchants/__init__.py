"""Merchants: the business behind a stall, how it is paid, and whether it is open for business."""
