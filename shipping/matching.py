"""Which rates apply to what is to be sent. Plain data in and out, no framework."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

FREE = "free"


class Objection(StrEnum):
    """What keeps a method or a rate from being offered: the first that holds, in this order."""

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
class Shape:
    """What is to be sent, and where. The subtotal is the merchandise before discounts, in the market's tax mode.

    Without a market the zones of every market count.
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
    """A destination filter. Without a market it is account-wide, without patterns it is the whole country."""

    country_codes: Sequence[str]
    zip_patterns: Sequence[str] = ()
    market_id: int | None = None
    id: int | None = None

    def objection(self, shape: Shape) -> Objection | None:
        """Why the shape is not sent to a place of this zone; None if it is."""
        if shape.country_code not in self.country_codes:
            return Objection.COUNTRY
        if shape.market_id is not None and self.market_id not in {None, shape.market_id}:
            return Objection.MARKET
        if self.zip_patterns and not zip_matches(shape.zip, self.zip_patterns):
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
    """A price for what lies within all of its bounds, ends included. None is open."""

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
        """How many bounds are set: the more, the more specific."""
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
    def made(cls, rate_id: int, currency: str) -> "Rate":
        """The rate that a quote makes for a free method without one."""
        return cls(id=rate_id, price_cents=0, currency=currency, is_automatic=True)

    def objection(self, shape: Shape) -> Objection | None:
        """The first of its conditions that the shape doesn't meet; None if it meets all."""
        if self.currency != shape.currency:
            return Objection.CURRENCY
        if not _within(self.min_weight_grams, shape.weight_grams, self.max_weight_grams):
            return Objection.WEIGHT
        if not _within(self.min_subtotal_cents, shape.subtotal_cents, self.max_subtotal_cents):
            return Objection.SUBTOTAL
        if not _within(self.min_quantity, shape.quantity, self.max_quantity):
            return Objection.QUANTITY
        return None


@dataclass(frozen=True, slots=True)
class Candidate:
    """A method that may carry the shape, with its zone and its rates."""

    zone: Zone
    method: Method
    rates: Sequence[Rate] = ()

    @property
    def lives_on_made_rates(self) -> bool:
        """Whether rates count that quotes have made: they do for a free method that has none of its own."""
        return self.method.rate_mode == FREE and all(rate.is_automatic for rate in self.rates)

    def lacks_rate(self, shape: Shape) -> bool:
        """Whether the method is free, carries the shape, and still needs a rate in the asked currency."""
        return (
            self.lives_on_made_rates
            and all(rate.currency != shape.currency for rate in self.rates)
            and self.zone.objection(shape) is None
        )

    def completed(self, rate: Rate) -> "Candidate":
        """The same with a rate that was made for it."""
        return replace(self, rates=[*self.rates, rate])

    def verdicts(self, shape: Shape) -> Iterator["Verdict"]:
        """One for each rate, or a single one where the rates don't come to matter."""
        objection = self.zone.objection(shape) or (None if self.rates else Objection.NO_RATE)
        if objection:
            yield Verdict(self, None, objection)
            return
        counts_made = self.lives_on_made_rates
        for rate in self.rates:
            is_superseded = rate.is_automatic and not counts_made
            yield Verdict(self, rate, Objection.SUPERSEDED if is_superseded else rate.objection(shape))


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a rate is offered, which it is without an objection, or why it is not."""

    candidate: Candidate
    rate: Rate | None
    objection: Objection | None


@dataclass(frozen=True, slots=True)
class Option:
    """One way to send the shape at one price; the first of its method in a quote's order is its best."""

    method: Method
    rate: Rate
    is_best: bool

    @property
    def display_name(self) -> str:
        return self.rate.display_name or self.method.name


def options(shape: Shape, candidates: Iterable[Candidate]) -> list[Option]:
    """Every rate that applies, by price, then method, then the most specific first."""
    ordered = sorted(_offered(shape, candidates), key=_order)
    seen: set[int] = set()
    found = []
    for method, rate in ordered:
        found.append(Option(method=method, rate=rate, is_best=method.id not in seen))
        seen.add(method.id)
    return found


def normalise_zip(text: str) -> str:
    """Upper case without spaces and hyphens: how postcodes are compared."""
    return "".join(text.upper().split()).replace("-", "")


def matching_patterns(code: str) -> list[str]:
    """Every pattern, as it is compared, that a postcode fits: itself, and each of its beginnings with `*`."""
    wanted = normalise_zip(code)
    return [wanted, *(f"{wanted[:length]}*" for length in range(len(wanted) + 1))] if wanted else []


def zip_matches(code: str, patterns: Iterable[str]) -> bool:
    """Whether a postcode is one of the patterns, or begins with one that ends in `*`."""
    return not set(matching_patterns(code)).isdisjoint(map(normalise_zip, patterns))


def _within(low: int | None, value: int, high: int | None) -> bool:
    return (low is None or low <= value) and (high is None or value <= high)


def _offered(shape: Shape, candidates: Iterable[Candidate]) -> Iterator[tuple[Method, Rate]]:
    for candidate in candidates:
        for verdict in candidate.verdicts(shape):
            if verdict.rate is not None and verdict.objection is None:
                yield candidate.method, verdict.rate


def _order(applying: tuple[Method, Rate]) -> tuple[int, int, int, int]:
    method, rate = applying
    return rate.price_cents, method.id, -rate.specificity, rate.id
