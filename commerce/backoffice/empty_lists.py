"""What an empty list would show, and how its first row comes about."""

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

# By the model of the list.
_TEXTS: dict[str, str | Promise] = {
    "accounts.apikey": _("Keys let a storefront or another program use this shop. Issue one above."),
    "accounts.market": _("A market has a currency, a language and a country. Prices belong to markets."),
    "accounts.staffinvitation": _("People who are invited to this shop's staff and haven't answered yet."),
    "accounts.staffmembership": _("The people who work in this shop's back office."),
    "backoffice.staffaction": _("What staff add, change or delete in the back office is listed here."),
    "carts.cart": _("A cart appears here as soon as a visitor puts something into it in the storefront."),
    "catalog.product": _("Add the first product, then its variants with prices and stock."),
    "catalog.variant": _("Variants are what customers buy, such as a size or a colour. Add a product first."),
    "checkouts.checkout": _("A checkout appears here when a customer starts to check out a cart."),
    "customers.customer": _("Customers appear here with their first order, or are added by hand."),
    "customers.segment": _("A segment is a group of customers by a rule, such as those with three orders."),
    "discounts.discount": _("Discounts lower prices by a code, automatically, by quantity, or on shipping."),
    "discounts.discountredemption": _("Each use of a discount by an order is listed here."),
    "discounts.voucher": _("Gift cards pay like money. Issue one above, or sell them."),
    "discounts.voucherredemption": _("Each change of a gift card's balance is listed here."),
    "emails.emaildelivery": _(
        "Emails to customers are listed here once they are sent: the first with the first order."
    ),
    "events.event": _("What happens in the shop is listed here, for programs that follow it."),
    "inventory.inventoryadjustment": _("Each change of stock by hand is listed here, with its reason."),
    "inventory.inventorylevel": _(
        "Units of each variant at each location. Add the first with “Add stock” above."
    ),
    "inventory.location": _("A location is a place that holds stock, such as a warehouse or a shop."),
    "orders.order": _("An order appears here as soon as a customer completes a checkout."),
    "outbox.outboxdispatch": _("Work that follows a change, such as sending an email, is listed here."),
    "shipping.pickuppoint": _("Pickup points come from carriers' lists. Import one to offer them."),
    "shipping.shippingmethod": _("A method, such as a parcel service, belongs to a zone and has rates."),
    "shipping.shippingzone": _("A zone is where you ship to: countries, and postcodes if you like."),
    "taxes.taxrate": _("Tax rates by country and class. Without one, no tax is charged."),
    "webhooks.webhookdelivery": _("Each message that is sent to a webhook is listed here."),
    "webhooks.webhookendpoint": _(
        "A webhook sends this shop's events to your own server. Create one with the API."
    ),
}


def describe_empty_list(label: str) -> str | Promise:
    """Return what the list of a model would show, and how to get its first row."""
    return _TEXTS.get(label, _("There is nothing here yet."))
