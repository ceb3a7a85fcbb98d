"""The desk: the pages with which an organiser runs festivals, under `/desk`. docs/desk.md says how to add one."""

from app.blueprints.pages.desk import (
    audit,
    devices,
    event,
    event_cover,
    event_lists,
    events,
    failed_mails,
    files,
    gallery,
    gate,
    gate_log,
    gate_phones,
    gate_scans,
    guest_block,
    guest_block_form,
    guest_buyers,
    guest_credits,
    guest_handout,
    guest_links,
    guest_moves,
    guest_packs,
    guest_papers,
    guest_payments,
    guest_release,
    guest_take_backs,
    guest_will_call,
    guests,
    home,
    keys,
    message_deliveries,
    message_drafts,
    messages,
    money,
    organisation_money,
    organisation_statement,
    sales,
    sales_imports,
    sales_uploads,
    search,
    settings,
    stall_contact,
    stall_decisions,
    stall_documents,
    stall_fees,
    stall_invitations,
    stall_joint_decision,
    stall_offers,
    stall_plan,
    stall_statement,
    stall_types,
    stalls,
    stock,
    stock_import,
    stock_items,
    stock_orders,
    stock_reminder,
    stock_reorder,
    stock_reports,
    team,
    ticket_types,
)

DESK_PAGES = (
    home,
    events,
    event,
    event_cover,
    event_lists,
    ticket_types,
    sales,
    stalls,
    gate,
    search,
    team,
    keys,
    devices,
    audit,
    settings,
    guests,
    stock,
    messages,
    money,
    organisation_money,
    files,
)
"""The modules of the desk, each with one blueprint. `gallery` is registered in development only."""
SALES_PAGES = (sales_imports, sales_uploads)
"""The modules that add their pages to the blueprint of `sales`."""
STALL_PAGES = (
    stall_contact,
    stall_decisions,
    stall_documents,
    stall_fees,
    stall_invitations,
    stall_joint_decision,
    stall_offers,
    stall_plan,
    stall_statement,
    stall_types,
)
"""The modules that add their pages to the blueprint of `stalls`."""
MONEY_PAGES = (organisation_statement,)
"""The module that adds its pages to the blueprint of `organisation_money`."""
GATE_PAGES = (gate_log, gate_phones, gate_scans)
"""The modules that add their pages to the blueprint of `gate`."""
GUEST_PAGES = (
    guest_block,
    guest_block_form,
    guest_buyers,
    guest_credits,
    guest_handout,
    guest_links,
    guest_moves,
    guest_packs,
    guest_papers,
    guest_payments,
    guest_release,
    guest_take_backs,
    guest_will_call,
)
"""The modules that add their pages to the blueprint of `guests`."""
STOCK_PAGES = (stock_import, stock_items, stock_orders, stock_reminder, stock_reorder, stock_reports)
"""The modules that add their pages to the blueprint of `stock`."""
MESSAGE_PAGES = (failed_mails, message_deliveries, message_drafts)
"""The modules that add their pages to the blueprint of `messages`."""
__all__ = ["DESK_PAGES", "gallery"]
