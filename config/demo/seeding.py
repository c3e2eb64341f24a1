"""Fills an installation with the demo shops, through the operations behind the APIs."""

import secrets
from datetime import datetime, timedelta

from django.utils import timezone

from accounts.models import Account, ApiKey, Market, StaffMembership, User, Workspace
from accounts.operations import OPERATOR, create_account, create_market, issue_key
from accounts.roles import OWNER
from commerce.catalog.models import Variant
from commerce.catalog.operations import create_product
from commerce.customers.operations import create_customer, create_segment
from commerce.inventory.models import Location
from commerce.inventory.operations import adjust_level
from commerce.payments.connectors import CASH_ON_DELIVERY, get_connector
from commerce.taxes.operations import create_tax_rate
from commerce.tenancy.scope import account_scope, workspace_scope
from discounts.operations import create_discount
from discounts.vouchers.operations import issue_voucher
from shipping.matching import normalise_zip
from shipping.models import PickupPoint
from shipping.operations import create_method, create_rate, create_zone

from .shops import PICKUP_POINTS, PRICE_PERCENT, TAX_RATES, WORKSPACES, DemoAccount, DemoWorkspace

STAFF_USERNAME = "demo"


def has_demo_shops() -> bool:
    """Whether any demo shop exists."""
    with workspace_scope(WORKSPACES[0].id):
        return Workspace.objects.exists()


def seed(*, now: datetime) -> dict[str, object]:
    """Create the demo shops that are missing, and describe all of them.

    Safe to repeat, also after an interruption: a shop is filled in one transaction. Returns the shops' ids, new keys,
    and a new password for the staff login, since the old secrets can't be read back.
    """
    staff = _make_staff()
    # Pickup points belong to no account.
    points = [PickupPoint(**point, normalised_zip=normalise_zip(point["zip"])) for point in PICKUP_POINTS]
    PickupPoint.objects.bulk_create(points, ignore_conflicts=True)
    workspaces = [_make_workspace(workspace, now=now) for workspace in WORKSPACES]
    return {"staff": staff, "workspaces": workspaces}


def _make_staff() -> dict[str, str]:
    """Create the demo's superuser, or set a new password."""
    password = secrets.token_urlsafe(12)
    user, _ = User.objects.get_or_create(
        username=STAFF_USERNAME,
        defaults={"is_staff": True, "is_superuser": True, "email": "demo@example.com"},
    )
    user.set_password(password)
    user.save(update_fields=["password"])
    return {"username": STAFF_USERNAME, "password": password}


def _make_workspace(workspace: DemoWorkspace, *, now: datetime) -> dict[str, object]:
    demos = {demo.handle: demo for demo in workspace.accounts}
    with workspace_scope(workspace.id):
        if not Workspace.objects.exists():
            Workspace.objects.create(id=workspace.id, name=workspace.name)
            for demo in workspace.accounts:
                _make_account(workspace, demo)
        accounts = list(Account.objects.filter(handle__in=demos).order_by("pk"))
    for account in accounts:
        with account_scope(account.pk):
            if not Market.objects.exists():
                _fill_shop(account, demos[account.handle], now=now)
    return _describe_workspace(workspace, accounts)


def _make_account(workspace: DemoWorkspace, demo: DemoAccount) -> None:
    fields = {
        "handle": demo.handle,
        "name": demo.name,
        "default_currency": demo.currency,
        "default_locale": demo.locale,
        "country_code": demo.country_code,
        "email_from": f"orders@{demo.handle}.example",
    }
    create_account(workspace_id=workspace.id, fields=fields)


def _fill_shop(account: Account, demo: DemoAccount, *, now: datetime) -> None:
    StaffMembership.objects.create(
        account=account, user=User.objects.get(username=STAFF_USERNAME), role=OWNER.key
    )
    markets = [create_market(fields=market) for market in demo.markets]
    for market in markets:
        for tax_class, rate_bp in TAX_RATES[market.country_code].items():
            create_tax_rate(
                fields={"country_code": market.country_code, "tax_class": tax_class, "rate_bp": rate_bp}
            )
        _make_shipping(market, now=now)
    _make_products(demo, markets)
    location = Location.objects.get(handle="main")
    for variant_id in Variant.objects.values_list("pk", flat=True).order_by("pk"):
        adjust_level(variant_id=variant_id, location_id=location.pk, delta=500, reason="received", now=now)
    _make_customers(now=now)
    _make_discounts(markets[0], now=now)


def _make_shipping(market: Market, *, now: datetime) -> None:
    """Create a parcel with tiers by weight and subtotal, and a flat-rate pickup point. Both take cash if possible."""
    takes_cash = get_connector(CASH_ON_DELIVERY.code) is not None
    zone = create_zone(
        fields={
            "market_id": market.pk,
            "handle": market.handle,
            "name": market.name,
            "country_codes": [market.country_code],
            "zip_patterns": [],
        }
    )
    common = {"zone_id": zone.pk, "estimated_days_min": 1, "estimated_days_max": 3}
    parcel = create_method(
        fields=common
        | {
            "handle": f"parcel-{market.handle}",
            "name": "Parcel",
            "carrier": "dhl",
            "service_code": "parcel",
            "rate_mode": "tiered",
            "is_cod_compatible": takes_cash,
            "cod_fee_cents": _convert_price(market, 200) if takes_cash else 0,
        }
    )
    point = create_method(
        fields=common
        | {
            "handle": f"pickup-{market.handle}",
            "name": "Pickup point",
            "carrier": "packeta",
            "service_code": "pickup",
            "rate_mode": "flat",
            "requires_pickup_point": True,
            "is_cod_compatible": takes_cash,
            "cod_fee_cents": _convert_price(market, 100) if takes_cash else 0,
        }
    )
    light, heavy, free = (
        _convert_price(market, 490),
        _convert_price(market, 890),
        _convert_price(market, 7500),
    )
    tiers = [
        {
            "price_cents": light,
            "max_weight_grams": 2_000,
            "max_subtotal_cents": free - 1,
            "display_name": "Up to 2 kg",
        },
        {
            "price_cents": heavy,
            "min_weight_grams": 2_001,
            "max_subtotal_cents": free - 1,
            "display_name": "Over 2 kg",
        },
        {"price_cents": 0, "min_subtotal_cents": free, "display_name": "Free"},
    ]
    for tier in tiers:
        create_rate(method_id=parcel.pk, fields={"currency": market.currency} | tier, now=now)
    create_rate(
        method_id=point.pk,
        fields={"currency": market.currency, "price_cents": _convert_price(market, 290)},
        now=now,
    )


def _make_products(demo: DemoAccount, markets: list[Market]) -> None:
    for index, title in enumerate(demo.products):
        handle = "".join(c if c.isalnum() else "-" for c in title.lower()).strip("-").replace("--", "-")
        # Varied, but the same in every installation.
        euro_cents = 290 + 437 * index % 4_900
        variant = {
            "sku": f"{demo.handle[:2].upper()}-{index + 1:03}",
            "title": "",
            "weight_grams": 80 + 130 * index % 2_400,
            "tax_class": "reduced" if index % 5 == 4 else "standard",
            "pricing": [
                {"market_id": market.pk, "price_cents": _convert_price(market, euro_cents)}
                for market in markets
            ],
        }
        create_product(fields={"handle": handle, "title": title}, variants=[variant])


def _make_customers(*, now: datetime) -> None:
    for first_name, last_name, tags in (
        ("Ada", "Lovelace", ["vip"]),
        ("Karel", "Capek", []),
        ("Emmy", "Noether", []),
    ):
        email = f"{first_name}.{last_name}@example.com".lower()
        create_customer(
            fields={"email": email, "first_name": first_name, "last_name": last_name, "tags": tags}
        )
    create_segment(
        fields={
            "handle": "vip",
            "name": "VIP",
            "filter": {"all": [{"field": "tag", "op": "eq", "value": "vip"}]},
        }
    )


def _make_discounts(market: Market, *, now: datetime) -> None:
    create_discount(
        fields={
            "type": "discount_code",
            "code": "WELCOME10",
            "title": "10 % off the first order",
            "value_mode": "percentage",
            "value_amount": 1000,
            "first_order_only": True,
        },
        actor="demo",
        now=now,
    )
    create_discount(
        fields={
            "type": "automatic_discount",
            "title": "5 off from 100",
            "value_mode": "fixed_amount",
            "value_amount": _convert_price(market, 500),
            "currency": market.currency,
            "minimum_order_subtotal_cents": _convert_price(market, 10_000),
        },
        actor="demo",
        now=now,
    )
    issue_voucher(
        initial_balance_cents=_convert_price(market, 5_000),
        currency=market.currency,
        recipient_email="ada.lovelace@example.com",
        expires_at=now + timedelta(days=365),
        actor="demo",
        now=now,
    )


def _convert_price(market: Market, euro_cents: int) -> int:
    """Convert a price in euro cents to the market's currency, at the demo's fixed rates."""
    return euro_cents * PRICE_PERCENT[market.currency] // 100


def _describe_workspace(workspace: DemoWorkspace, accounts: list[Account]) -> dict[str, object]:
    with workspace_scope(workspace.id):
        workspace_key = _issue_key(workspace, None, ApiKey.Kind.WORKSPACE)
        keys = {
            account.pk: {
                "admin_key": _issue_key(workspace, account, ApiKey.Kind.ADMIN),
                "storefront_key": _issue_key(workspace, account, ApiKey.Kind.STOREFRONT),
            }
            for account in accounts
        }
    described = [_describe_account(account, keys[account.pk]) for account in accounts]
    return {"id": str(workspace.id), "workspace_key": workspace_key, "accounts": described}


def _issue_key(workspace: DemoWorkspace, account: Account | None, kind: str) -> str:
    account_id = account.pk if account else None
    issued = issue_key(
        issuer=OPERATOR,
        workspace_id=workspace.id,
        account_id=account_id,
        kind=kind,
        name="Demo",
        now=timezone.now(),
    )
    return issued.secret


def _describe_account(account: Account, keys: dict[str, str]) -> dict[str, object]:
    with account_scope(account.pk):
        markets = [
            {
                "id": str(market.pk),
                "handle": market.handle,
                "currency": market.currency,
                "country_code": market.country_code,
                "prices_include_tax": market.prices_include_tax,
            }
            for market in Market.objects.order_by("pk")
        ]
        variants = [
            {"id": str(pk), "sku": sku} for pk, sku in Variant.objects.order_by("pk").values_list("pk", "sku")
        ]
    return {"id": str(account.pk), "handle": account.handle, **keys, "markets": markets, "variants": variants}
