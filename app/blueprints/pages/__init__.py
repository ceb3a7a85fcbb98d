"""HTML pages: start page, sign-in, account, stall, password reset, applications, tickets, operations, API documentation.

Development adds the mailbox.
"""

from flask import Flask

from app.blueprints.pages import (
    account,
    account_address,
    account_data,
    account_profile,
    account_second_factor,
    address_undo_page,
    apply,
    apply_pictures,
    check_in,
    claim,
    contact_page,
    crawlers,
    csrf,
    data_export_page,
    desk,
    dev_mail,
    docs,
    documents,
    event_list,
    event_page,
    gate,
    gate_scripts,
    holder_list_page,
    holder_page,
    home,
    invitation_list,
    invitation_page,
    merchant_activation,
    moved_pages,
    ops,
    pay,
    phone_page,
    place_offer,
    provider_sign_in,
    reset,
    second_step,
    sign_in,
    sign_up,
    stall,
    stall_crew,
    stall_payouts,
    stop_payout_page,
    team,
    ticket,
    tracked_links,
    unsubscribe,
)
from app.blueprints.pages.desk.status_colours import find_colour
from app.blueprints.pages.rendering import mark_breaks_of_path, mark_code_spans, render_unknown_path
from app.config import Settings
from app.core.formatting import (
    format_calendar_day,
    format_clock,
    format_day,
    format_money,
    format_number,
    format_period,
    format_time,
    format_when,
    pluralize,
)
from app.web.error_handlers import ERROR_PAGE_KEY

PAGES = (
    sign_in,
    second_step,
    provider_sign_in,
    sign_up,
    account,
    account_data,
    account_profile,
    account_address,
    account_second_factor,
    address_undo_page,
    contact_page,
    team,
    stall,
    stall_crew,
    stall_payouts,
    check_in,
    reset,
    apply,
    apply_pictures,
    documents,
    gate,
    gate_scripts,
    pay,
    place_offer,
    merchant_activation,
    invitation_page,
    invitation_list,
    claim,
    ticket,
    holder_list_page,
    holder_page,
    tracked_links,
    unsubscribe,
    stop_payout_page,
    data_export_page,
    ops,
    phone_page,
    moved_pages,
    *desk.DESK_PAGES,
    event_list,
    event_page,
    crawlers,
)


def register(app: Flask, settings: Settings) -> None:
    """Register the pages of this environment."""
    csrf.init_app(app, settings)
    app.extensions[ERROR_PAGE_KEY] = render_unknown_path
    app.add_template_filter(mark_code_spans, "code_spans")
    app.add_template_filter(mark_breaks_of_path, "breaks_of_path")
    app.add_template_filter(format_time, "day_and_time")
    app.add_template_filter(format_day, "day")
    app.add_template_filter(format_clock, "clock")
    app.add_template_filter(format_period, "period")
    app.add_template_filter(format_when, "when")
    app.add_template_filter(format_calendar_day, "calendar_day")
    app.add_template_filter(format_money, "money")
    app.add_template_filter(format_number, "number")
    app.add_template_filter(pluralize, "plural")
    app.add_template_filter(find_colour, "status_colour")
    app.register_blueprint(home.blueprint)
    for page in PAGES:
        app.register_blueprint(page.blueprint)
    for blueprint in (check_in.scanned, team.business, team.join):
        app.register_blueprint(blueprint)
    app.register_blueprint(docs.blueprint)
    if not settings.production:
        app.register_blueprint(dev_mail.blueprint)
        app.register_blueprint(desk.gallery.blueprint)
