"""Matches a parcel with zones, methods and rates. Pure: no framework, no database."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

FREE = "free"
# The ids of made rates begin here: far above those from the sequence, and still below 2^53, which JavaScript needs.
_MADE = 1 << 52
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

    def objection(self, parcel: Parcel) -> Objection | None:
        """Why the zone doesn't cover the parcel's destination; None if it does."""
        if parcel.country_code not in self.country_codes:
            return Objection.COUNTRY
        if parcel.market_id is not None and self.market_id not in {None, parcel.market_id}:
            return Objection.MARKET
        if self.zip_patterns and not zip_matches(parcel.zip, self.zip_patterns):
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

    @classmethod
    def build_automatic(cls, method_id: int, currency: str) -> "Rate":
        """Build the rate of a free method without rates of its own. It is stored only when a shopper chooses it."""
        return cls(id=made_rate_id(method_id, currency), price_cents=0, currency=currency, is_automatic=True)

    def objection(self, parcel: Parcel) -> Objection | None:
        """The first condition that the parcel doesn't meet; None if it meets all."""
        if self.currency != parcel.currency:
            return Objection.CURRENCY
        if not _within(self.min_weight_grams, parcel.weight_grams, self.max_weight_grams):
            return Objection.WEIGHT
        if not _within(self.min_subtotal_cents, parcel.subtotal_cents, self.max_subtotal_cents):
            return Objection.SUBTOTAL
        if not _within(self.min_quantity, parcel.quantity, self.max_quantity):
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
        return self.method.rate_mode == FREE and all(rate.is_automatic for rate in self.rates)

    def lacks_rate(self, parcel: Parcel) -> bool:
        """Whether a quote has to create a rate: the method is free, covers the parcel and has no rate in its currency."""
        return (
            self.uses_automatic_rates
            and all(rate.currency != parcel.currency for rate in self.rates)
            and self.zone.objection(parcel) is None
        )

    def completed(self, parcel: Parcel) -> "Candidate":
        """Return a copy with an automatic rate if the method lacks a rate, else the candidate itself."""
        if not self.lacks_rate(parcel):
            return self
        return replace(self, rates=[*self.rates, Rate.build_automatic(self.method.id, parcel.currency)])

    def verdicts(self, parcel: Parcel) -> Iterator["Verdict"]:
        """Yield one verdict per rate, or a single one if the zone rules the method out or it has no rates."""
        objection = self.zone.objection(parcel) or (None if self.rates else Objection.NO_RATE)
        if objection:
            yield Verdict(self, None, objection)
            return
        counts_automatic = self.uses_automatic_rates
        for rate in self.rates:
            is_superseded = rate.is_automatic and not counts_automatic
            yield Verdict(self, rate, Objection.SUPERSEDED if is_superseded else rate.objection(parcel))


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


def options(parcel: Parcel, candidates: Iterable[Candidate]) -> list[Option]:
    """Return every rate that applies, ordered by price, then method, then the most specific first."""
    ordered = sorted(_offered(parcel, candidates), key=_order)
    seen: set[int] = set()
    found = []
    for method, rate in ordered:
        found.append(Option(method=method, rate=rate, is_best=method.id not in seen))
        seen.add(method.id)
    return found


def made_rate_id(method_id: int, currency: str) -> int:
    """The id of a free method's rate in a currency. It is computed, so that a quote needn't store the rate."""
    letters = 0
    for letter in currency:
        letters = letters * 26 + ord(letter) - ord("A")
    return _MADE + method_id * _CURRENCIES + letters


def read_made_rate_id(rate_id: int) -> tuple[int, str] | None:
    """The method and currency of a made rate's id; None for an id from the sequence."""
    if rate_id < _MADE:
        return None
    method_id, letters = divmod(rate_id - _MADE, _CURRENCIES)
    return method_id, "".join(chr(ord("A") + letters // 26**place % 26) for place in (2, 1, 0))


def normalise_zip(text: str) -> str:
    """Return a postcode in the form used for comparing: upper case, without spaces and hyphens."""
    return "".join(text.upper().split()).replace("-", "")


def matching_patterns(code: str) -> list[str]:
    """Return every normalised pattern that matches a postcode: itself, and each of its prefixes with `*`."""
    wanted = normalise_zip(code)
    return [wanted, *(f"{wanted[:length]}*" for length in range(len(wanted) + 1))] if wanted else []


def zip_matches(code: str, patterns: Iterable[str]) -> bool:
    """Whether a postcode equals a pattern, or starts with one that ends in `*`."""
    return not set(matching_patterns(code)).isdisjoint(map(normalise_zip, patterns))


def _within(low: int | None, value: int, high: int | None) -> bool:
    return (low is None or low <= value) and (high is None or value <= high)


def _offered(parcel: Parcel, candidates: Iterable[Candidate]) -> Iterator[tuple[Method, Rate]]:
    for candidate in candidates:
        for verdict in candidate.verdicts(parcel):
            if verdict.rate is not None and verdict.objection is None:
                yield candidate.method, verdict.rate


def _order(applying: tuple[Method, Rate]) -> tuple[int, int, int, int]:
    method, rate = applying
    return rate.price_cents, method.id, -rate.specificity, rate.id
