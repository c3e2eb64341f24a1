"""The values that merchants' acts choose from."""

from hypothesis import strategies as st

REFUSED = {403, 404, 409, 422}
CENTS = st.sampled_from([0, 1, 500, 999, 1750, 5000])
LIMITS = st.sampled_from([None, 1, 2, 4])
DISCOUNTS = st.sampled_from(
    [
        {"type": "discount_code", "code": "NEW", "value_mode": "percentage", "value_amount": 3333},
        {
            "type": "discount_code",
            "code": "FIX",
            "value_mode": "fixed_amount",
            "value_amount": 700,
            "currency": "EUR",
        },
        {"type": "discount_code", "code": "ALL", "value_mode": "free"},
        {"type": "automatic_discount", "value_mode": "set_price", "value_amount": 1500, "currency": "EUR"},
        {
            "type": "buy_x_get_y",
            "code": "BOGO",
            "bogo_config": {
                "buy": {"quantity": 1},
                "get": {"quantity": 1},
                "value_mode": "percentage",
                "value_amount": 5000,
            },
        },
    ]
)
DISCOUNT_CHANGES = st.one_of(
    st.builds(lambda limit: {"usage_limit_total": limit}, LIMITS),
    st.builds(lambda limit: {"usage_limit_per_customer": limit}, LIMITS),
    st.builds(lambda amount: {"value_amount": amount}, st.sampled_from([0, 100, 10000])),
    st.builds(lambda code: {"code": code}, st.sampled_from([None, "C0", "OTHER"])),
    st.builds(lambda status: {"status": status}, st.sampled_from(["active", "disabled"])),
    st.builds(lambda on: {"stackable": on}, st.booleans()),
    st.just({"ends_at": "2020-01-02T00:00:00Z", "starts_at": "2020-01-01T00:00:00Z"}),
    st.just({"ends_at": None, "starts_at": None}),
    st.just({"first_order_only": True}),
    st.just({"customer_eligibility": "tagged", "customer_tags": ["vip"]}),
)
MARKET_CHANGES = st.one_of(
    st.builds(lambda on: {"prices_include_tax": on}, st.booleans()),
    st.builds(lambda country: {"country_code": country}, st.sampled_from(["DE", "AT"])),
    st.builds(lambda locale: {"locale": locale}, st.sampled_from(["de-DE", "en-GB"])),
    st.builds(lambda status: {"status": status}, st.sampled_from(["active", "inactive"])),
    st.builds(lambda currency: {"currency": currency}, st.sampled_from(["EUR", "CZK"])),
)
NEW_MARKETS = st.sampled_from(
    [
        {"currency": "EUR", "locale": "de-AT", "country_code": "AT"},
        {"currency": "EUR", "locale": "de-DE", "country_code": "DE", "prices_include_tax": False},
        {"currency": "CZK", "locale": "cs-CZ", "country_code": "DE"},
    ]
)
FILTERS = st.sampled_from(
    [
        {"all": [{"field": "tag", "op": "eq", "value": "vip"}]},
        {"all": [{"field": "orders_count", "op": "gte", "value": 1}]},
        {"all": [{"field": "email_domain", "op": "eq", "value": "example.com"}]},
    ]
)
METHOD_CHANGES = st.sampled_from(
    [
        {"cod_fee_cents": 777},
        {"is_cod_compatible": False},
        {"is_cod_compatible": True},
        {"rate_mode": "free"},
        {"rate_mode": "tiered"},
        {"requires_pickup_point": True},
        {"requires_pickup_point": False},
    ]
)
ACCOUNT_CHANGES = st.sampled_from(
    [
        {"default_currency": "CZK"},
        {"default_locale": "de-DE"},
        {"country_code": "AT", "vat_number": "ATU57194903"},
        {"country_code": "DE", "vat_number": None},
    ]
)
SETTINGS = st.one_of(
    st.builds(
        lambda when: {"commerce.checkout.reserve_at": when},
        st.sampled_from(["checkout_enter", "payment_start"]),
    ),
    st.builds(lambda on: {"commerce.payments.test_card": on}, st.booleans()),
    st.builds(
        lambda minutes: {"commerce.checkout.session_ttl_minutes": minutes}, st.sampled_from([5, 60, None])
    ),
)
ZONE_CHANGES = st.sampled_from(
    [
        {"country_codes": ["AT"]},
        {"country_codes": ["DE", "AT"]},
        {"zip_patterns": ["99*"]},
        {"zip_patterns": []},
        {"market_id": None},
    ]
)
# Keys that the product uses for its own dispatches.
EMAIL_KEYS = st.sampled_from(
    ["refund_payment/{}", "cancel_payment/{}", "order.confirmation/{}", "webhook/1/{}", "k{}"]
)
TEMPLATE = {"subject": "S {{ order.number }}", "body_source": "<mjml><mj-body></mj-body></mjml>"}
VARIANT_CHANGES = st.one_of(
    st.builds(lambda on: {"track_inventory": on}, st.booleans()),
    st.builds(lambda on: {"allow_backorder": on}, st.booleans()),
    st.builds(lambda grams: {"weight_grams": grams}, st.sampled_from([0, 40_000])),
    st.builds(lambda tax_class: {"tax_class": tax_class}, st.sampled_from(["standard", "reduced"])),
)
