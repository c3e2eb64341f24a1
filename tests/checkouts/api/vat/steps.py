"""Steps of a checkout with a VAT number."""

from accounts.models import Account

AUSTRIAN = {"vat_country_code": "AT", "vat_number": "U57194903"}
GERMAN = {"vat_country_code": "DE", "vat_number": "136695976"}
CLEARED = {"vat_country_code": "", "vat_number": ""}
VIENNA = {"address1": "Hauptstraße 2", "city": "Wien", "zip": "1010", "country_code": "AT"}


def put(shop, checkout, body=AUSTRIAN):
    return shop.storefront.put(f"checkouts/{checkout['token']}/vat.json", body)


def put_address(shop, checkout, address):
    body = {"shipping_address": address, "same_as_shipping": True}
    return shop.storefront.put(f"checkouts/{checkout['token']}/address.json", body).json()["checkout"]


def get(shop, checkout):
    return shop.storefront.get(f"checkouts/{checkout['token']}.json").json()["checkout"]


def without_time(checkout):
    return {name: value for name, value in checkout.items() if name != "updated_at"}


def sell_from(shop, vat_number):
    with shop.scope():
        Account.objects.filter(pk=shop.id).update(vat_number=vat_number)
