"""Matches a parcel with zones, methods and rates. Pure: no framework, no database."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

FREE = "free"
# The ids of automatic rates begin here: far above those from the sequence, and still below 2^53, which JavaScript needs.
_FIRST_AUTOMATIC_ID = 1 << 52
# ISO 4217: three letters.
_CURRENCIES = 26**3


class Objection(StrEnum):
    """Why a method or rate isn't offered. The first that applies is reported, in this order."""

    COUNTRY = "country"
    MARKET = "market"
    POSTCODE = "postcode"
    NO_RATE = "no_rate"
    SUPERSEDED = "superseded"
    CURRENCY = "currency"
    WEIGHT = "weight"
    SUBTOTAL = "subtotal"
    QUANTITY = "quantity"


@dataclass(frozen=True, slots=True, kw_only=True)
class Parcel:
    """The goods to quote for. The subtotal is before discounts, in the market's tax mode.

    Without a market, the zones of every market apply.
    """

    country_code: str
    zip: str = ""
    weight_grams: int
    quantity: int = 1
    subtotal_cents: int
    currency: str
    market_id: int | None = None


@dataclass(frozen=True, slots=True)
class Zone:
    """A destination filter. Without a market it applies to all of them; without patterns, to whole countries."""

    country_codes: Sequence[str]
    zip_patterns: Sequence[str] = ()
    market_id: int | None = None
    id: int | None = None

    def find_objection(self, parcel: Parcel) -> Objection | None:
        """Return why the zone doesn't cover the parcel's destination; None if it does."""
        if parcel.country_code not in self.country_codes:
            return Objection.COUNTRY
        # An API client may quote for no market in particular; a cart always has one.
        if parcel.market_id is not None and self.market_id not in {None, parcel.market_id}:
            return Objection.MARKET
        if self.zip_patterns and not is_zip_covered(parcel.zip, self.zip_patterns):
            return Objection.POSTCODE
        return None


@dataclass(frozen=True, slots=True)
class Method:
    """A carrier's service; `cod_fee_cents` is in the currency of the rate chosen with it."""

    id: int
    handle: str
    name: str
    carrier: str
    service_code: str
    rate_mode: str
    requires_pickup_point: bool = False
    is_cod_compatible: bool = False
    estimated_days_min: int | None = None
    estimated_days_max: int | None = None
    cod_fee_cents: int = 0


@dataclass(frozen=True, slots=True)
class Rate:
    """A price for parcels within all of its bounds, ends included. A bound of None is open."""

    id: int
    price_cents: int
    currency: str
    display_name: str | None = None
    min_weight_grams: int | None = None
    max_weight_grams: int | None = None
    min_subtotal_cents: int | None = None
    max_subtotal_cents: int | None = None
    min_quantity: int | None = None
    max_quantity: int | None = None
    is_automatic: bool = False

    @property
    def is_free(self) -> bool:
        return self.price_cents == 0

    @property
    def specificity(self) -> int:
        """The number of bounds that are set."""
        bounds = (
            self.min_weight_grams,
            self.max_weight_grams,
            self.min_subtotal_cents,
            self.max_subtotal_cents,
            self.min_quantity,
            self.max_quantity,
        )
        return sum(bound is not None for bound in bounds)

    def find_objection(self, parcel: Parcel) -> Objection | None:
        """Return the first condition that the parcel doesn't meet; None if it meets all."""
        if self.currency != parcel.currency:
            return Objection.CURRENCY
        if not _is_within(self.min_weight_grams, parcel.weight_grams, self.max_weight_grams):
            return Objection.WEIGHT
        if not _is_within(self.min_subtotal_cents, parcel.subtotal_cents, self.max_subtotal_cents):
            return Objection.SUBTOTAL
        if not _is_within(self.min_quantity, parcel.quantity, self.max_quantity):
            return Objection.QUANTITY
        return None


@dataclass(frozen=True, slots=True)
class Candidate:
    """A method that may carry the parcel, with its zone and rates."""

    zone: Zone
    method: Method
    rates: Sequence[Rate] = ()

    @property
    def uses_automatic_rates(self) -> bool:
        """Whether automatic rates apply: only for a free method without rates of its own."""
        # Its own rates count in any currency: with them, the merchant decides in which currencies the method is offered.
        return self.method.rate_mode == FREE and all(rate.is_automatic for rate in self.rates)

    def needs_automatic_rate(self, parcel: Parcel) -> bool:
        """Whether a quote needs an automatic rate: a free method covers the parcel and has no rate in its currency."""
        return (
            self.uses_automatic_rates
            and all(rate.currency != parcel.currency for rate in self.rates)
            and self.zone.find_objection(parcel) is None
        )

    def with_automatic_rate(self, parcel: Parcel) -> "Candidate":
        """Return a copy with an automatic rate if the method needs one, else the candidate itself."""
        if not self.needs_automatic_rate(parcel):
            return self
        # Quotes are also read by GET requests, which write nothing. The rate is stored when a shopper chooses it.
        automatic = Rate(
            id=compute_automatic_rate_id(self.method.id, parcel.currency),
            price_cents=0,
            currency=parcel.currency,
            is_automatic=True,
        )
        return replace(self, rates=[*self.rates, automatic])

    def judge_rates(self, parcel: Parcel) -> Iterator["Verdict"]:
        """Yield one verdict per rate, or a single one if the zone rules the method out or it has no rates."""
        objection = self.zone.find_objection(parcel) or (None if self.rates else Objection.NO_RATE)
        if objection:
            yield Verdict(self, None, objection)
            return
        # Computed once, as it looks at every rate.
        counts_automatic = self.uses_automatic_rates
        for rate in self.rates:
            # A shopper's choice may store an automatic rate just after the merchant added the first own one.
            is_superseded = rate.is_automatic and not counts_automatic
            yield Verdict(self, rate, Objection.SUPERSEDED if is_superseded else rate.find_objection(parcel))


@dataclass(frozen=True, slots=True)
class Verdict:
    """A rate is offered if there is no objection."""

    candidate: Candidate
    rate: Rate | None
    objection: Objection | None


@dataclass(frozen=True, slots=True)
class Option:
    """One way to send the parcel at one price. In a quote's order, the first option of a method is its best."""

    method: Method
    rate: Rate
    is_best: bool

    @property
    def display_name(self) -> str:
        return self.rate.display_name or self.method.name


def list_options(parcel: Parcel, candidates: Iterable[Candidate]) -> list[Option]:
    """Return every rate that applies, ordered by price, then method, then the most specific first."""
    offers = [
        (candidate.method, verdict.rate)
        for candidate in candidates
        for verdict in candidate.judge_rates(parcel)
        if verdict.rate is not None and verdict.objection is None
    ]
    # The ids decide between equals, so that the order and the best option are the same in every quote.
    offers.sort(key=lambda offer: (offer[1].price_cents, offer[0].id, -offer[1].specificity, offer[1].id))
    seen: set[int] = set()
    found = []
    for method, rate in offers:
        found.append(Option(method=method, rate=rate, is_best=method.id not in seen))
        seen.add(method.id)
    return found


def compute_automatic_rate_id(method_id: int, currency: str) -> int:
    """The id of a free method's automatic rate in a currency. It is computed, so that a quote needn't store the rate."""
    letters = 0
    for letter in currency:
        letters = letters * 26 + ord(letter) - ord("A")
    return _FIRST_AUTOMATIC_ID + method_id * _CURRENCIES + letters


def read_automatic_rate_id(rate_id: int) -> tuple[int, str] | None:
    """The method and currency of an automatic rate's id; None for an id from the sequence."""
    if rate_id < _FIRST_AUTOMATIC_ID:
        return None
    method_id, letters = divmod(rate_id - _FIRST_AUTOMATIC_ID, _CURRENCIES)
    return method_id, "".join(chr(ord("A") + letters // 26**place % 26) for place in (2, 1, 0))


def normalise_zip(text: str) -> str:
    """Return a postcode in the form used for comparing: upper case, without spaces and hyphens."""
    return "".join(text.upper().split()).replace("-", "")


def list_matching_patterns(code: str) -> list[str]:
    """Return every normalised pattern that matches a postcode: itself, and each of its prefixes with `*`."""
    wanted = normalise_zip(code)
    # As a list, so that SQL can compare a zone's patterns by equality (quotes.py).
    return [wanted, *(f"{wanted[:length]}*" for length in range(len(wanted) + 1))] if wanted else []


def is_zip_covered(code: str, patterns: Iterable[str]) -> bool:
    """Whether a postcode equals a pattern, or starts with one that ends in `*`."""
    return not set(list_matching_patterns(code)).isdisjoint(map(normalise_zip, patterns))


def _is_within(low: int | None, value: int, high: int | None) -> bool:
    return (low is None or low <= value) and (high is None or value <= high)
