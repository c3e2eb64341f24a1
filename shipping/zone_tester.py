"""The back office page where staff see what a customer at an address is offered, and why nothing else."""

from collections.abc import Mapping
from typing import cast

from django import forms
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.template.response import TemplateResponse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from unfold.admin import ModelAdmin
from unfold.decorators import action
from unfold.widgets import UnfoldAdminIntegerFieldWidget, UnfoldAdminSelectWidget, UnfoldAdminTextInputWidget

from accounts.models import Market
from accounts.queries import markets
from commerce.backoffice.countries import list_countries
from commerce.backoffice.display import format_money
from commerce.backoffice.measure_fields import MeasureField, clean_currency
from commerce.backoffice.measures import Money, Weight
from commerce.backoffice.tables import build_table, link_page
from commerce.reference import currencies
from commerce.rules import MAX_SAFE_INTEGER

from .explanations import Offer, RefusedRate, explain
from .matching import Method, Parcel
from .models import ShippingZone

# Rows per table: an account may have thousands of rates.
SHOWN = 100


class ParcelForm(forms.Form):
    """The goods and the address. Offers the markets of the account in scope."""

    market = forms.ChoiceField(label=gettext_lazy("Market"), widget=UnfoldAdminSelectWidget)
    country_code = forms.ChoiceField(label=gettext_lazy("Country"), widget=UnfoldAdminSelectWidget)
    zip = forms.CharField(
        label=gettext_lazy("Postcode"), required=False, max_length=32, widget=UnfoldAdminTextInputWidget
    )
    weight_grams = MeasureField(
        label=gettext_lazy("Weight"),
        help_text=gettext_lazy("Such as 500 g or 1.2 kg"),
        initial=1000,
        measure=Weight(),
        min_value=0,
        # As in the API. PostgreSQL compares them as bigint.
        max_value=MAX_SAFE_INTEGER,
    )
    subtotal_cents = MeasureField(
        label=gettext_lazy("Subtotal"), initial=0, measure=Money(""), min_value=0, max_value=MAX_SAFE_INTEGER
    )
    quantity = forms.IntegerField(
        label=gettext_lazy("Quantity"),
        initial=1,
        min_value=1,
        max_value=MAX_SAFE_INTEGER,
        widget=UnfoldAdminIntegerFieldWidget,
    )
    currency = forms.ChoiceField(
        label=gettext_lazy("Currency"), required=False, widget=UnfoldAdminSelectWidget
    )

    def __init__(self, data: Mapping[str, object] | None = None) -> None:
        self._markets = {str(market.pk): market for market in markets().order_by("pk")}
        first = next(iter(self._markets.values()), None)
        super().__init__(data, initial={"country_code": first.country_code if first else None})
        self._set_choices("market", [(key, str(market)) for key, market in self._markets.items()])
        self._set_choices("country_code", list_countries())
        self._set_choices(
            "currency", [("", _("The market's")), *((code, code) for code in sorted(currencies()))]
        )
        self._find_measure(first)

    def _set_choices(self, name: str, choices: list[tuple[str, str]]) -> None:
        cast("forms.ChoiceField", self.fields[name]).choices = choices

    def _find_measure(self, first: Market | None) -> None:
        """Read the subtotal in the chosen currency, or else in the chosen market's."""
        market = self._markets.get(self.data.get("market", "")) or first
        currency = self.data.get("currency") or (market.currency if market else "")
        cast("MeasureField", self.fields["subtotal_cents"]).measure = Money(clean_currency(currency))

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

    @action(
        description=gettext_lazy("Test an address"),
        permissions=["view"],
        icon="travel_explore",
        url_path="test",
    )
    def test_address(self, request: HttpRequest) -> HttpResponse:
        # A GET, since it changes nothing and its address can be passed on.
        form = ParcelForm(request.GET or None)
        context = {
            **self.admin_site.each_context(request),
            "title": _("Test an address"),
            "opts": self.opts,
            "form": form,
            "button_text": _("Show offers"),
            "tables": _build_tables(form.parcel) if form.is_valid() else None,
        }
        return TemplateResponse(request, "backoffice/form_and_tables.html", context)


def _build_tables(parcel: Parcel) -> list[dict[str, object]]:
    found = explain(parcel)
    return [
        build_table(
            _("Offered, in this order"),
            [
                _("Price"),
                _("Method"),
                _("Shipping rate"),
                _("Zone"),
                _("Days"),
                _("Cash on delivery"),
                _("Pickup point"),
            ],
            [_build_offer_cells(offer) for offer in found.offers[:SHOWN]],
            hidden=len(found.offers) - SHOWN,
        ),
        build_table(
            _("Not offered, though the zone covers the address"),
            [_("Zone"), _("Method"), _("Shipping rate"), _("Reason")],
            [_build_rate_cells(refused) for refused in found.refused_rates[:SHOWN]],
            hidden=len(found.refused_rates) - SHOWN,
        ),
        build_table(
            _("Zones that offer nothing"),
            [_("Zone"), _("Methods"), _("Reason")],
            [
                [_link_zone(refused.zone), refused.method_count, refused.reason]
                for refused in found.refused_zones[:SHOWN]
            ],
            hidden=len(found.refused_zones) - SHOWN,
        ),
    ]


def _build_offer_cells(offer: Offer) -> list[object]:
    method, rate = offer.option.method, offer.option.rate
    soonest, latest = method.estimated_days_min, method.estimated_days_max
    days: object = _("%(soonest)s to %(latest)s") % {"soonest": soonest, "latest": latest}
    if soonest is None or latest is None or soonest == latest:
        days = next((given for given in (soonest, latest) if given is not None), "-")
    fee = f"+ {format_money(method.cod_fee_cents, rate.currency)}" if method.cod_fee_cents else _("Yes")
    best = render_to_string("unfold/helpers/label.html", {"text": _("Best"), "type": "success"})
    return [
        format_html(
            "{} {}", format_money(rate.price_cents, rate.currency), best if offer.option.is_best else ""
        ),
        _link_method(method),
        rate.display_name or "-",
        _link_zone(offer.zone),
        str(days),
        fee if method.is_cod_compatible else _("No"),
        _("Required") if method.requires_pickup_point else "-",
    ]


def _build_rate_cells(refused: RefusedRate) -> list[object]:
    rate = refused.rate
    price = format_money(rate.price_cents, rate.currency) if rate else "-"
    name = f"{price} {rate.display_name}" if rate and rate.display_name else price
    return [_link_zone(refused.zone), _link_method(refused.method), name, refused.reason]


def _link_method(method: Method) -> SafeString:
    return link_page("admin:shipping_shippingmethod_change", method.id, method.name)


def _link_zone(zone: ShippingZone) -> SafeString:
    return link_page("admin:shipping_shippingzone_change", zone.pk, zone.name)
