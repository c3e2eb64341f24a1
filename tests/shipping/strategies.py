"""Parcels, zones, methods and rates from small sets of values, so that they often match."""

from hypothesis import strategies as st

from shipping.matching import Candidate, Method, Parcel, Rate, Zone

COUNTRIES = ["DE", "AT", "CZ"]
CURRENCIES = ["EUR", "CZK"]
AMOUNTS = st.integers(0, 6)
POSTCODES = st.sampled_from(["", "1", "10", "101", "10 1", "10-2", "aB1", "ss1", "2"])
PATTERNS = st.sampled_from(["1*", "10*", "10-1*", "101", "1 0", "1\t0", "AB*", "ab1", "ß*", "*", "2"])


def parcels(markets=(None, 1, 2)):
    return st.builds(
        Parcel,
        country_code=st.sampled_from(COUNTRIES),
        zip=POSTCODES,
        weight_grams=AMOUNTS,
        quantity=st.integers(1, 6),
        subtotal_cents=AMOUNTS,
        currency=st.sampled_from(CURRENCIES),
        market_id=st.sampled_from(markets),
    )


def zones(markets=(None, 1, 2)):
    return st.builds(
        Zone,
        country_codes=st.lists(st.sampled_from(COUNTRIES), min_size=1, max_size=3, unique=True),
        zip_patterns=st.lists(PATTERNS, max_size=3),
        market_id=st.sampled_from(markets),
    )


@st.composite
def rates(draw, *, may_be_automatic=True, is_free=False):
    bounds = {}
    for measure in ("weight_grams", "subtotal_cents", "quantity"):
        low, high = draw(st.none() | AMOUNTS), draw(st.none() | AMOUNTS)
        if low is not None and high is not None:
            low, high = sorted((low, high))
        bounds |= {f"min_{measure}": low, f"max_{measure}": high}
    automatic = may_be_automatic and draw(st.booleans())
    return Rate(
        id=draw(st.integers(1, 10**6)),
        price_cents=0 if automatic or is_free else draw(AMOUNTS),
        currency=draw(st.sampled_from(CURRENCIES)),
        is_automatic=automatic,
        **bounds,
    )


@st.composite
def candidates(draw):
    method_id = draw(st.integers(1, 10**6))
    mode = draw(st.sampled_from(["tiered", "free"]))
    method = Method(method_id, f"m-{method_id}", "Parcel", "dhl", "parcel", mode)
    return Candidate(zone=draw(zones()), method=method, rates=draw(st.lists(rates(), max_size=4)))
