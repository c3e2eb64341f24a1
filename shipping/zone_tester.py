"""The back office page where staff see what a customer at an address is offered, and why nothing else."""

from typing import Any, cast

from django import forms
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from unfold.admin import ModelAdmin
from unfold.decorators import action
from unfold.widgets import UnfoldAdminIntegerFieldWidget, UnfoldAdminSelectWidget, UnfoldAdminTextInputWidget

from accounts.models import Market
from accounts.queries import markets
from commerce.backoffice.display import format_money
from commerce.reference import country_names, currencies
from commerce.rules import MAX_SAFE_INTEGER

from .explanations import Offer, RefusedRate, explain
from .matching import Method, Parcel
from .models import ShippingZone

# Rows per table: an account may have thousands of rates.
SHOWN = 100


def _number(label: str, *, initial: int, min_value: int = 0, help_text: str = "") -> forms.IntegerField:
    return forms.IntegerField(
        label=label,
        initial=initial,
        min_value=min_value,
        max_value=MAX_SAFE_INTEGER,
        help_text=help_text,
        widget=UnfoldAdminIntegerFieldWidget,
    )


class ParcelForm(forms.Form):
    """The goods and the address. Offers the markets of the account in scope."""

    market = forms.ChoiceField(widget=UnfoldAdminSelectWidget)
    country_code = forms.ChoiceField(label="Country", widget=UnfoldAdminSelectWidget)
    zip = forms.CharField(label="Postcode", required=False, max_length=32, widget=UnfoldAdminTextInputWidget)
    weight_grams = _number("Weight in grams", initial=1000)
    subtotal_cents = _number("Subtotal", initial=0, help_text="In minor units: 1990 is 19.90.")
    quantity = _number("Quantity", initial=1, min_value=1)
    currency = forms.ChoiceField(required=False, widget=UnfoldAdminSelectWidget)

    def __init__(self, data: Any = None) -> None:
        self._markets = {str(market.pk): market for market in markets().order_by("pk")}
        first = next(iter(self._markets.values()), None)
        super().__init__(data, initial={"country_code": first.country_code if first else None})
        self._offer("market", [(key, str(market)) for key, market in self._markets.items()])
        self._offer("country_code", [(code, f"{name} ({code})") for code, name in country_names().items()])
        self._offer("currency", [("", "The market's"), *((code, code) for code in sorted(currencies()))])

    def _offer(self, name: str, choices: list[tuple[str, str]]) -> None:
        cast("forms.ChoiceField", self.fields[name]).choices = choices

    @property
    def parcel(self) -> Parcel:
        """The parcel described by the form, which must be valid."""
        fields = self.cleaned_data.copy()
        market: Market = self._markets[fields.pop("market")]
        fields["currency"] = fields["currency"] or market.currency
        return Parcel(market_id=market.pk, **fields)


class ZoneTester(ModelAdmin):
    """Adds the page, and a button above the list that opens it, to the admins of shipping models."""

    actions_list = ("test_address",)

    @action(description="Test an address", permissions=["view"], icon="travel_explore", url_path="test")
    def test_address(self, request: HttpRequest) -> HttpResponse:
        form = ParcelForm(request.GET or None)
        context = {
            **self.admin_site.each_context(request),
            "title": "Test an address",
            "opts": self.opts,
            "form": form,
            "button_text": "Show offers",
            "tables": _tables(form.parcel) if form.is_valid() else None,
        }
        return TemplateResponse(request, "backoffice/form_and_tables.html", context)


def _tables(parcel: Parcel) -> list[dict[str, object]]:
    found = explain(parcel)
    return [
        _table(
            "Offered, in this order",
            ["Price", "Method", "Rate", "Zone", "Days", "Cash on delivery", "Pickup point"],
            [_offer_cells(offer) for offer in found.offers[:SHOWN]],
            hidden=len(found.offers) - SHOWN,
        ),
        _table(
            "Not offered, though the zone covers the address",
            ["Zone", "Method", "Rate", "Why not"],
            [_rate_cells(refused) for refused in found.refused_rates[:SHOWN]],
            hidden=len(found.refused_rates) - SHOWN,
        ),
        _table(
            "Zones that offer nothing",
            ["Zone", "Methods", "Why not"],
            [
                [_zone_link(refused.zone), refused.method_count, refused.reason]
                for refused in found.refused_zones[:SHOWN]
            ],
            hidden=len(found.refused_zones) - SHOWN,
        ),
    ]


def _table(title: str, headers: list[str], rows: list[list[object]], *, hidden: int) -> dict[str, object]:
    return {"title": title, "table": {"headers": headers, "rows": rows}, "hidden": max(hidden, 0)}


def _offer_cells(offer: Offer) -> list[object]:
    method, rate = offer.option.method, offer.option.rate
    best = render_to_string("unfold/helpers/label.html", {"text": "Best", "type": "success"})
    return [
        format_html(
            "{} {}", format_money(rate.price_cents, rate.currency), best if offer.option.is_best else ""
        ),
        _method_link(method),
        rate.display_name or "-",
        _zone_link(offer.zone),
        _days(method),
        _cash_on_delivery(method, rate.currency),
        "Required" if method.requires_pickup_point else "-",
    ]


def _rate_cells(refused: RefusedRate) -> list[object]:
    rate = refused.rate
    price = format_money(rate.price_cents, rate.currency) if rate else "-"
    name = f"{price} {rate.display_name}" if rate and rate.display_name else price
    return [_zone_link(refused.zone), _method_link(refused.method), name, refused.reason]


def _days(method: Method) -> str:
    soonest, latest = method.estimated_days_min, method.estimated_days_max
    if soonest is None or latest is None or soonest == latest:
        return str(next((days for days in (soonest, latest) if days is not None), "-"))
    return f"{soonest} to {latest}"


def _cash_on_delivery(method: Method, currency: str) -> str:
    if not method.is_cod_compatible:
        return "No"
    return f"+ {format_money(method.cod_fee_cents, currency)}" if method.cod_fee_cents else "Yes"


def _method_link(method: Method) -> SafeString:
    return _link("admin:shipping_shippingmethod_change", method.id, method.name)


def _zone_link(zone: ShippingZone) -> SafeString:
    return _link("admin:shipping_shippingzone_change", zone.pk, zone.name)


def _link(view_name: str, pk: int, text: str) -> SafeString:
    return format_html(
        '<a href="{}" class="font-semibold text-important">{}</a>', reverse(view_name, args=[pk]), text
    )
