"""The back office page where staff try discounts on a cart: what each takes off, or why it takes nothing off."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils import timezone
from django.utils.translation import gettext, gettext_lazy
from django.utils.translation import gettext as _
from unfold.admin import ModelAdmin
from unfold.decorators import action

from commerce.backoffice.display import format_money
from commerce.backoffice.membership import may
from commerce.backoffice.tables import build_table, link_page
from commerce.backoffice.wordings import translate
from commerce.wording import Cents
from discounts.evaluation import Basket, Rule, Verdict, evaluate
from discounts.in_force import load_rules_on_trial
from discounts.rules import is_same_code
from discounts.shoppers import load_shopper

from .trial_cart import CartForm, TriedCart


class DiscountTrial(ModelAdmin):
    """Adds the page, and a button above the list that opens it, to the admin of checkouts."""

    actions_list = ("try_discounts",)

    @action(
        description=gettext_lazy("Try discounts"),
        permissions=["view"],
        icon="percent",
        url_path="try-discounts",
    )
    def try_discounts(self, request: HttpRequest) -> HttpResponse:
        # The page is below the checkouts, and shows discounts as well.
        if not may(request, "read_discounts"):
            raise PermissionDenied
        # A discount's own page links here with its id alone, when there is nothing to try yet.
        is_sent = not request.GET.keys().isdisjoint(("cart", "recent", "products"))
        form = CartForm(request.GET if is_sent else None, initial=request.GET.dict())
        context = {
            **self.admin_site.each_context(request),
            "title": _("Try discounts on a cart"),
            "opts": self.opts,
            "form": form,
            "button_text": _("Try"),
            "tables": _make_tables(form.cleaned_data) if form.is_valid() else None,
        }
        return TemplateResponse(request, "backoffice/form_and_tables.html", context)


def _make_tables(sent: Mapping[str, Any]) -> list[dict[str, object]]:
    tried: TriedCart = sent["tried"]
    codes: list[str] = sent["codes"]
    rules = load_rules_on_trial(codes=codes, discount_id=sent["discount"])
    rules_by_id = {rule.id: rule for rule in rules}
    basket = _make_basket(tried, shipping_cents=sent["shipping_cents"])
    evaluated = evaluate(
        basket,
        automatic=[rule for rule in rules if rule.code is None],
        entered=_sort_entered(rules, codes),
        shopper=load_shopper(rules, customer_id=tried.customer_id, email=sent["email"], checkout_id=None),
        now=timezone.now(),
    )
    amounts = (basket.subtotal_cents, sum(evaluated.line_discounts), evaluated.shipping_discount_cents)
    tables = [
        build_table(
            _("Together"),
            [_("Subtotal"), _("Off the lines"), _("Off shipping")],
            [[format_money(cents, basket.currency) for cents in amounts]],
        ),
        build_table(
            _("Discounts, in the order of application"),
            [_("Discount"), _("Type"), _("Code"), _("Takes off"), _("Why")],
            [
                _make_row(rules_by_id[verdict.discount_id], verdict, basket.currency)
                for verdict in evaluated.trace
            ],
        ),
    ]
    unknown = [code for code in codes if not any(is_same_code(rule.code or "", code) for rule in rules)]
    if unknown:
        why = _("No discount has this code, apart from archived ones.")
        tables.append(
            build_table(_("Unknown codes"), [_("Code"), _("Why")], [[code, why] for code in unknown])
        )
    return tables


def _sort_entered(rules: Sequence[Rule], codes: Sequence[str]) -> list[Rule]:
    """Return the rules with codes in the order in which the codes were typed, then the one whose page led here."""

    def find_position(rule: Rule) -> int:
        matches = (position for position, code in enumerate(codes) if is_same_code(rule.code or "", code))
        return next(matches, len(codes))

    return sorted((rule for rule in rules if rule.code is not None), key=find_position)


def _make_basket(tried: TriedCart, *, shipping_cents: int | None) -> Basket:
    """Build the basket as at the beginning of a checkout, when no VAT number has been entered yet."""
    return Basket(
        lines=tried.lines, currency=tried.currency, market_id=tried.market_id, shipping_cents=shipping_cents
    )


def _word_amounts(detail: str, currency: str) -> str:
    """Return the API's reason in the reader's language, with amounts in place of cents."""
    return translate(
        detail, lambda value: format_money(value, currency) if isinstance(value, Cents) else value
    )


def _make_row(rule: Rule, verdict: Verdict, currency: str) -> list[object]:
    link = link_page("admin:discounts_discount_change", rule.id, rule.title)
    off = format_money(verdict.amount_cents, currency) if verdict.is_applied else "-"
    why = "" if verdict.is_applied else _word_amounts(verdict.detail, currency)
    return [link, gettext(rule.mechanic.label), rule.code or "-", off, why]
