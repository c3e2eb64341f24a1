"""The demo page: a shop front for trying the storefront API in a browser. It uses the API like any other client.

The page exists only if the setting `DEMO_SEED` names the file that `seed_demo` wrote. Storefront keys are public, since
every shop front shows them to its visitors, so the page may contain those of the file. The file's other secrets are
never sent.
"""

from pathlib import Path

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from commerce.orders.models import Order
from commerce.payments.connectors import list_offered_methods
from commerce.reference import country_names
from commerce.tenancy.scope import account_scope
from commerce.versions import current_version
from emails.models import EmailDelivery

from .storefronts import Storefront, read_storefronts

_PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
# An email is untrusted content: no scripts, no requests, and links open in a new window.
_EMAIL_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'; sandbox allow-popups"
)


@require_safe
def page(request: HttpRequest) -> HttpResponse:
    shops = [_describe(shop) for shop in _load_storefronts()]
    context = {
        "setup": {"shops": shops, "api": f"/storefront/{current_version().name}"},
        "countries": country_names(),
    }
    return _secure(render(request, "demo/page.html", context), _PAGE_POLICY)


@require_safe
def confirmation_email(request: HttpRequest, handle: str, token: str) -> HttpResponse:
    """Show the order's confirmation email as it was sent, or a page that waits for it."""
    shop = next((shop for shop in _load_storefronts() if shop.handle == handle), None)
    if shop is None:
        raise Http404
    html = _load_confirmation(shop, token)
    if html is None:
        return _secure(render(request, "demo/email_pending.html", status=202), _PAGE_POLICY)
    return _secure(HttpResponse(html), _EMAIL_POLICY)


def _load_storefronts() -> list[Storefront]:
    if not settings.DEMO_SEED:
        raise Http404
    try:
        return read_storefronts(Path(settings.DEMO_SEED))
    except FileNotFoundError:
        raise Http404 from None


def _describe(shop: Storefront) -> dict[str, object]:
    with account_scope(shop.account_id):
        methods = list_offered_methods()
    return {"handle": shop.handle, "name": shop.name, "key": shop.key, "payment_methods": methods}


def _load_confirmation(shop: Storefront, token: str) -> str | None:
    """Load the email's HTML; None until it has been sent. Raises `Http404` if there is no such order."""
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


def _secure(answer: HttpResponse, policy: str) -> HttpResponse:
    answer["Content-Security-Policy"] = policy
    answer["Cache-Control"] = "no-store"
    answer["Referrer-Policy"] = "no-referrer"
    return answer
