"""The back office page where staff try discounts on a cart: what each takes off, or why it takes nothing off."""

from collections.abc import Sequence

from django import forms
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils import timezone
from unfold.admin import ModelAdmin
from unfold.decorators import action
from unfold.widgets import (
    UnfoldAdminEmailInputWidget,
    UnfoldAdminIntegerFieldWidget,
    UnfoldAdminTextInputWidget,
)

from carts.queries import LoadedCart, get_cart
from commerce.backoffice.display import format_money
from commerce.backoffice.tables import build_table, link_page
from commerce.errors import NotFound
from commerce.rules import MAX_SAFE_INTEGER
from discounts.evaluation import Basket, Line, Rule, Verdict, evaluate
from discounts.in_force import load_rules_on_trial
from discounts.rules import is_same_code, normalise_code
from discounts.shoppers import load_shopper


class CartForm(forms.Form):
    """A cart of the account in scope, and the codes and values to try on it."""

    cart = forms.CharField(label="Cart token", max_length=64, widget=UnfoldAdminTextInputWidget)
    email = forms.EmailField(required=False, max_length=254, widget=UnfoldAdminEmailInputWidget)
    codes = forms.CharField(
        required=False, max_length=1000, help_text="Separated by commas", widget=UnfoldAdminTextInputWidget
    )
    shipping_cents = forms.IntegerField(
        label="Shipping",
        required=False,
        min_value=0,
        max_value=MAX_SAFE_INTEGER,
        help_text="In minor units: 490 is 4.90.",
        widget=UnfoldAdminIntegerFieldWidget,
    )
    discount = forms.IntegerField(
        required=False, min_value=1, max_value=MAX_SAFE_INTEGER, widget=forms.HiddenInput
    )

    def clean_cart(self) -> LoadedCart:
        try:
            cart = get_cart(self.cleaned_data["cart"].strip())
        except NotFound:
            raise forms.ValidationError("This shop has no cart with this token.") from None
        if not cart.lines:
            raise forms.ValidationError("The cart is empty.")
        return cart

    def clean_codes(self) -> list[str]:
        entered = self.cleaned_data["codes"].split(",")
        return [normalise_code(code) for code in entered if code.strip()]


class DiscountTrial(ModelAdmin):
    """Adds the page, and a button above the list that opens it, to the admin of checkouts."""

    actions_list = ("try_discounts",)

    @action(description="Try discounts", permissions=["view"], icon="percent", url_path="try-discounts")
    def try_discounts(self, request: HttpRequest) -> HttpResponse:
        # A discount's own page links here with its id alone, when there is nothing to try yet.
        is_sent = "cart" in request.GET
        form = CartForm(request.GET if is_sent else None, initial=request.GET.dict())
        context = {
            **self.admin_site.each_context(request),
            "title": "Try discounts on a cart",
            "opts": self.opts,
            "form": form,
            "button_text": "Try",
            "tables": _make_tables(**form.cleaned_data) if form.is_valid() else None,
        }
        return TemplateResponse(request, "backoffice/form_and_tables.html", context)


def _make_tables(
    *, cart: LoadedCart, email: str, codes: list[str], shipping_cents: int | None, discount: int | None
) -> list[dict[str, object]]:
    rules = load_rules_on_trial(codes=codes, discount_id=discount)
    rules_by_id = {rule.id: rule for rule in rules}
    basket = _make_basket(cart, shipping_cents=shipping_cents)
    evaluated = evaluate(
        basket,
        automatic=[rule for rule in rules if rule.code is None],
        entered=_sort_entered(rules, codes),
        shopper=load_shopper(rules, customer_id=cart.cart.customer_id, email=email, checkout_id=None),
        now=timezone.now(),
    )
    amounts = (basket.subtotal_cents, sum(evaluated.line_discounts), evaluated.shipping_discount_cents)
    tables = [
        build_table(
            "Together",
            ["Subtotal", "Off the lines", "Off shipping"],
            [[format_money(cents, basket.currency) for cents in amounts]],
        ),
        build_table(
            "Discounts, in the order of application",
            ["Discount", "Type", "Code", "Takes off", "Why"],
            [
                _make_row(rules_by_id[verdict.discount_id], verdict, basket.currency)
                for verdict in evaluated.trace
            ],
        ),
    ]
    unknown = [code for code in codes if not any(is_same_code(rule.code or "", code) for rule in rules)]
    if unknown:
        why = "No discount has this code, apart from archived ones."
        tables.append(build_table("Unknown codes", ["Code", "Why"], [[code, why] for code in unknown]))
    return tables


def _sort_entered(rules: Sequence[Rule], codes: Sequence[str]) -> list[Rule]:
    """Return the rules with codes in the order in which the codes were typed, then the one whose page led here."""

    def find_position(rule: Rule) -> int:
        matches = (position for position, code in enumerate(codes) if is_same_code(rule.code or "", code))
        return next(matches, len(codes))

    return sorted((rule for rule in rules if rule.code is not None), key=find_position)


def _make_basket(cart: LoadedCart, *, shipping_cents: int | None) -> Basket:
    """Build the basket as at the beginning of a checkout, when no VAT number has been entered yet."""
    includes_tax = cart.cart.prices_include_tax
    return Basket(
        lines=tuple(
            Line(
                line.variant_id,
                line.product_id,
                line.quantity,
                price.with_tax_cents if includes_tax else price.without_tax_cents,
            )
            for line, price in cart.lines
        ),
        currency=cart.cart.currency,
        market_id=cart.cart.market_id,
        shipping_cents=shipping_cents,
    )


def _make_row(rule: Rule, verdict: Verdict, currency: str) -> list[object]:
    link = link_page("admin:discounts_discount_change", rule.id, rule.title)
    off = format_money(verdict.amount_cents, currency) if verdict.is_applied else "-"
    why = "" if verdict.is_applied else verdict.detail
    return [link, rule.mechanic.label, rule.code or "-", off, why]
