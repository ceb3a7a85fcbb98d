"""What search engines read: which paths they may visit, and the pages of published events."""

from xml.sax.saxutils import escape

from flask import Response, current_app

from app.blueprints.pages.event_metadata import get_page_url
from app.blueprints.pages.rendering import Pages
from app.core.clock import rfc3339
from app.events.event_pages import list_pages
from app.web.rate_limits import Limit, count_request
from app.web.response_cache import CachePolicy, keep_page

READ_LIMIT = Limit(20)
SITEMAP = CachePolicy(60.0, ("events",))
# Paths of mailed links are secrets, so the file names what is public, and nothing else.
PUBLIC_PATHS = ("/$", "/e/", "/events$", "/apply/", "/docs", "/media/", "/static/", "/sitemap.xml")
blueprint = Pages("crawlers", __name__)


@blueprint.get("/robots.txt")
def get_rules() -> Response:
    """Return the rules for crawlers."""
    base_url = current_app.extensions["settings"].PUBLIC_BASE_URL
    rules = ["User-agent: *", *(f"Allow: {path}" for path in PUBLIC_PATHS), "Disallow: /", ""]
    return Response(
        "\n".join([*rules, f"Sitemap: {base_url}/sitemap.xml", ""]), content_type="text/plain; charset=utf-8"
    )


@blueprint.get("/sitemap.xml")
@keep_page(SITEMAP)
def get_sitemap() -> Response:
    """Return the addresses of the pages of published events."""
    count_request(READ_LIMIT, "/sitemap.xml")
    urls = "".join(
        f"<url><loc>{escape(get_page_url(page.slug))}</loc><lastmod>{rfc3339(page.changed_at)}</lastmod></url>\n"
        for page in list_pages()
    )
    text = f"""<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
{urls}</urlset>
"""
    return Response(text, content_type="application/xml; charset=utf-8")
