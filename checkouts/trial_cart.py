"""The cart on which discounts are tried: one of the shop's, chosen or named by its token, or typed products."""

import re
from dataclasses import dataclass

from django import forms
from django.db.models import Exists, OuterRef
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from unfold.widgets import (
    UnfoldAdminEmailInputWidget,
    UnfoldAdminSelectWidget,
    UnfoldAdminTextareaWidget,
    UnfoldAdminTextInputWidget,
)

from accounts.models import Market
from carts.models import Cart, CartLineItem
from carts.queries import LoadedCart, get_cart
from commerce.backoffice.display import format_time
from commerce.backoffice.measure_fields import MeasureField
from commerce.backoffice.measures import Money
from commerce.catalog.models import VariantPricing
from commerce.errors import NotFound
from commerce.rules import MAX_SAFE_INTEGER
from discounts.evaluation import Line
from discounts.rules import normalise_code

_OFFERED_CARTS = 20
_MOST_PRODUCTS = 100
# `MUG-1`, `MUG-1 2`, `MUG-1 x 2` or `2 x MUG-1`.
_TYPED = re.compile(r"(?:(?P<first>\d{1,4})\s*[x×*]\s*)?(?P<sku>\S+)(?:\s*[x×*]?\s+(?P<last>\d{1,4}))?")  # noqa: RUF001
_MOST_UNITS = 9999


@dataclass(frozen=True, slots=True)
class TriedCart:
    """The lines, with the prices of all their units in cents as the market shows them: gross or net."""

    lines: tuple[Line, ...]
    currency: str
    market_id: int
    customer_id: int | None


class CartForm(forms.Form):
    """A cart of the account in scope, or products, and the codes and values to try on it."""

    recent = forms.ChoiceField(
        label=gettext_lazy("Latest carts"), required=False, widget=UnfoldAdminSelectWidget
    )
    cart = forms.CharField(
        label=gettext_lazy("Or a cart's token"),
        required=False,
        max_length=64,
        widget=UnfoldAdminTextInputWidget,
    )
    products = forms.CharField(
        label=gettext_lazy("Or products"),
        required=False,
        max_length=10_000,
        help_text=gettext_lazy("A SKU and a quantity on each line, such as MUG-1 2."),
        widget=UnfoldAdminTextareaWidget(attrs={"rows": 3}),
    )
    market: "forms.ModelChoiceField[Market]" = forms.ModelChoiceField(
        label=gettext_lazy("Market of the products"),
        queryset=None,
        required=False,
        widget=UnfoldAdminSelectWidget,
    )
    email = forms.EmailField(
        label=gettext_lazy("Email"), required=False, max_length=254, widget=UnfoldAdminEmailInputWidget
    )
    codes = forms.CharField(
        label=gettext_lazy("Codes"),
        required=False,
        max_length=1000,
        help_text=gettext_lazy("Separated by commas"),
        widget=UnfoldAdminTextInputWidget,
    )
    # Read when the cart's currency is known.
    shipping_cents = forms.CharField(
        label=gettext_lazy("Shipping"),
        required=False,
        help_text=gettext_lazy("In the currency of the cart or market"),
        widget=UnfoldAdminTextInputWidget,
    )
    discount = forms.IntegerField(
        required=False, min_value=1, max_value=MAX_SAFE_INTEGER, widget=forms.HiddenInput
    )

    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]
        self.fields["market"].queryset = Market.objects.order_by("name")  # type: ignore[attr-defined]
        self.fields["recent"].choices = [("", "---------"), *_list_latest_carts()]  # type: ignore[attr-defined]

    def clean_codes(self) -> list[str]:
        entered = self.cleaned_data["codes"].split(",")
        return [normalise_code(code) for code in entered if code.strip()]

    def clean(self) -> dict[str, object]:
        """Set `tried`, a `TriedCart`, from the products, the token or the picked cart, whichever comes first."""
        cleaned = super().clean() or {}
        if cleaned.get("products", "").strip():
            self._read_products(cleaned)
        elif token := (cleaned.get("cart", "").strip() or cleaned.get("recent", "")):
            self._load_cart(cleaned, token)
        elif not self.errors:
            self.add_error("cart", _("Pick a cart, or type products and quantities."))
        self._read_shipping(cleaned)
        return cleaned

    def _read_shipping(self, cleaned: dict[str, object]) -> None:
        tried = cleaned.get("tried")
        money = Money(tried.currency if isinstance(tried, TriedCart) else "")
        field = MeasureField(measure=money, required=False, min_value=0, max_value=MAX_SAFE_INTEGER)
        try:
            cleaned["shipping_cents"] = field.clean(cleaned.get("shipping_cents", ""))
        except forms.ValidationError as error:
            self.add_error("shipping_cents", error)

    def _load_cart(self, cleaned: dict[str, object], token: str) -> None:
        try:
            loaded = get_cart(token)
        except NotFound:
            self.add_error("cart", _("This shop has no cart with this token."))
            return
        if not loaded.lines:
            self.add_error("cart", _("The cart is empty."))
            return
        cleaned["tried"] = _read_cart(loaded)

    def _read_products(self, cleaned: dict[str, object]) -> None:
        market = cleaned.get("market")
        if not isinstance(market, Market):
            self.add_error("market", _("Choose the market whose prices apply."))
            return
        try:
            wanted = _parse_products(str(cleaned["products"]))
            lines = _price_products(wanted, market)
        except forms.ValidationError as error:
            self.add_error("products", error)
            return
        cleaned["tried"] = TriedCart(lines, market.currency, market.pk, None)


def _list_latest_carts() -> list[tuple[str, str]]:
    """Return token and name of the latest open carts with lines, with one statement."""
    lines = CartLineItem.objects.filter(cart=OuterRef("pk"))
    carts = Cart.objects.filter(Exists(lines), status=Cart.Status.ACTIVE, expires_at__gt=timezone.now())
    rows = carts.select_related("customer", "market").order_by("-pk")[:_OFFERED_CARTS]
    return [
        (cart.token, f"{cart.customer or _('Guest')}, {cart.market}, {format_time(cart.created_at)}")
        for cart in rows
    ]


def _read_cart(loaded: LoadedCart) -> TriedCart:
    cart = loaded.cart
    lines = (
        Line(
            line.variant_id,
            line.product_id,
            line.quantity,
            price.with_tax_cents if cart.prices_include_tax else price.without_tax_cents,
        )
        for line, price in loaded.lines
    )
    return TriedCart(tuple(lines), cart.currency, cart.market_id, cart.customer_id)


def _parse_products(text: str) -> dict[str, int]:
    """Return the quantity by SKU. Raises `ValidationError`."""
    wanted: dict[str, int] = {}
    for line in filter(None, map(str.strip, text.splitlines())):
        found = _TYPED.fullmatch(line)
        if found is None:
            raise forms.ValidationError(
                _("“%(line)s” isn't a SKU and a quantity."), params={"line": line[:100]}
            )
        quantity = int(found["first"] or found["last"] or 1)
        wanted[found["sku"]] = wanted.get(found["sku"], 0) + quantity
        if not 0 < wanted[found["sku"]] <= _MOST_UNITS:
            raise forms.ValidationError(
                _("A quantity must be from 1 to %(most)d."), params={"most": _MOST_UNITS}
            )
    if len(wanted) > _MOST_PRODUCTS:
        message = ngettext("At most %(most)d product.", "At most %(most)d products.", _MOST_PRODUCTS)
        raise forms.ValidationError(message, params={"most": _MOST_PRODUCTS})
    return wanted


def _price_products(wanted: dict[str, int], market: Market) -> tuple[Line, ...]:
    """Price the products with one statement. Raises `ValidationError`, naming what has no price."""
    prices = VariantPricing.objects.select_related("variant").filter(
        market_id=market.pk, variant__sku__in=wanted, variant__archived_at__isnull=True
    )
    by_sku = {price.variant.sku: price for price in prices}
    missing = [sku for sku in wanted if sku not in by_sku]
    if missing:
        raise forms.ValidationError(
            _("Not on sale in this market: %(skus)s."), params={"skus": ", ".join(missing)[:500]}
        )
    return tuple(
        Line(price.variant_id, price.variant.product_id, quantity, quantity * price.price_cents)
        for price, quantity in ((by_sku[sku], quantity) for sku, quantity in wanted.items())
    )
