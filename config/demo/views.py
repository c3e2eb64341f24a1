"""The demo page: a shop front for trying the storefront API in a browser, as any other client would use it.

It is there only where the setting `DEMO_SEED` names the file that `seed_demo` has written. A storefront key is public
by its nature, as every shop front shows it to its visitors, so the page hands out those that the file already holds:
no second kind of key has to be issued, kept or rotated for it. The other secrets of the file never leave it.
"""

from pathlib import Path

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from commerce.orders.models import Order
from commerce.reference import country_names
from commerce.tenancy.scope import account_scope
from commerce.versions import current_version
from emails.models import EmailDelivery

from .storefronts import Storefront, read_storefronts

_PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
# An email is foreign content: it runs nothing and fetches nothing, and its links open elsewhere.
_EMAIL_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'; sandbox allow-popups"
)


@require_safe
def page(request: HttpRequest) -> HttpResponse:
    shops = [{"handle": shop.handle, "name": shop.name, "key": shop.key} for shop in _storefronts()]
    context = {
        "setup": {"shops": shops, "api": f"/storefront/{current_version().name}"},
        "countries": country_names(),
    }
    return _sealed(render(request, "demo/page.html", context), _PAGE_POLICY)


@require_safe
def confirmation_email(request: HttpRequest, handle: str, token: str) -> HttpResponse:
    """The confirmation of the order with this token as it was sent, or a page that waits for it."""
    shop = next((shop for shop in _storefronts() if shop.handle == handle), None)
    if shop is None:
        raise Http404
    html = _confirmation(shop, token)
    if html is None:
        return _sealed(render(request, "demo/email_pending.html", status=202), _PAGE_POLICY)
    return _sealed(HttpResponse(html), _EMAIL_POLICY)


def _storefronts() -> list[Storefront]:
    if not settings.DEMO_SEED:
        raise Http404
    try:
        return read_storefronts(Path(settings.DEMO_SEED))
    except FileNotFoundError:
        raise Http404 from None


def _confirmation(shop: Storefront, token: str) -> str | None:
    """The HTML of the email, or None until it has been sent; raises `Http404` without such an order."""
    with account_scope(shop.account_id):
        order_id = Order.objects.filter(token=token).values_list("pk", flat=True).first()
        if order_id is None:
            raise Http404
        return (
            EmailDelivery.objects.filter(
                reference_type="order", reference_id=order_id, template_key="order.confirmation"
            )
            .values_list("html", flat=True)
            .first()
        )


def _sealed(answer: HttpResponse, policy: str) -> HttpResponse:
    answer["Content-Security-Policy"] = policy
    answer["Cache-Control"] = "no-store"
    answer["Referrer-Policy"] = "no-referrer"
    return answer
