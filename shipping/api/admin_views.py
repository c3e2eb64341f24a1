from django.utils import timezone
from rest_framework.request import Request
from rest_framework.response import Response

from commerce.paging import newest_first
from commerce.rest.errors import ReadOnlyField
from commerce.rest.schema import PAGE_PARAMETERS, answers, envelope, many, one
from commerce.rest.views import AdminViewSet
from shipping import errors, operations, queries
from shipping.matching import Parcel

from . import serializers as shapes
from .pickup_points import describe_list, shape_pickup_point


class ZonesViewSet(AdminViewSet):
    """Where a shop delivers and at what price. A zone is a set of countries and postcodes, a method a way to get there,
    and a rate a price of a method for some weights, subtotals and quantities.
    """

    area = "shipping"

    @answers(many("zones", shapes.ZoneOutput), parameters=PAGE_PARAMETERS)
    def list(self, request: Request) -> Response:
        """List zones.

        Newest first.
        """
        return Response(newest_first(queries.zones(), self.cursor).answer("zones", shapes.ZoneOutput.of))

    @answers(
        one("zone", shapes.ZoneOutput), request=shapes.ZoneInput, status=201, refuses=(errors.HandleTaken,)
    )
    def create(self, request: Request) -> Response:
        """Add a zone.

        For all markets, or for one.
        """
        zone = operations.create_zone(fields=self.valid(shapes.ZoneInput))
        return Response({"zone": shapes.ZoneOutput.of(zone)}, status=201)

    @answers(one("zone", shapes.ZoneOutput))
    def retrieve(self, request: Request, zone_id: int) -> Response:
        """Show a zone.

        With its countries and postcodes.
        """
        return Response({"zone": shapes.ZoneOutput.of(queries.get_zone(zone_id))})

    @answers(
        one("zone", shapes.ZoneOutput), request=shapes.ZoneInput, partial=True, refuses=(errors.HandleTaken,)
    )
    def update(self, request: Request, zone_id: int) -> Response:
        """Change a zone.

        Only the fields that are sent change; lists are replaced as a whole.
        """
        changes = self.valid(shapes.ZoneInput, partial=True)
        return Response(
            {"zone": shapes.ZoneOutput.of(operations.update_zone(zone_id=zone_id, changes=changes))}
        )

    @answers(None, status=204, refuses=(errors.ZoneInUse,))
    def destroy(self, request: Request, zone_id: int) -> Response:
        """Delete a zone.

        Only once it has no methods.
        """
        operations.delete_zone(zone_id=zone_id, now=timezone.now())
        return Response(status=204)


class MethodsViewSet(AdminViewSet):
    area = "shipping"

    @answers(many("methods", shapes.MethodOutput), parameters=PAGE_PARAMETERS)
    def list(self, request: Request) -> Response:
        """List shipping methods.

        With their rates. Newest first.
        """
        page = newest_first(queries.methods(), self.cursor, related_bytes=queries.bytes_of_rates())
        return Response(page.answer("methods", shapes.MethodOutput.of))

    @answers(
        one("method", shapes.MethodOutput),
        request=shapes.MethodInput,
        status=201,
        refuses=(errors.HandleTaken, errors.RateModeNotAvailable),
    )
    def create(self, request: Request) -> Response:
        """Add a shipping method to a zone.

        It is offered once it has a rate; a `free` one is offered without.
        """
        method = operations.create_method(fields=self.valid(shapes.MethodInput))
        return Response({"method": shapes.MethodOutput.of(method)}, status=201)

    @answers(one("method", shapes.MethodOutput))
    def retrieve(self, request: Request, method_id: int) -> Response:
        """Show a shipping method.

        With its rates.
        """
        return Response({"method": shapes.MethodOutput.of(queries.get_method(method_id))})

    @answers(
        one("method", shapes.MethodOutput),
        request=shapes.MethodInput,
        partial=True,
        refuses=(errors.HandleTaken, errors.RateModeNotAvailable, errors.RateModeConflict),
    )
    def update(self, request: Request, method_id: int) -> Response:
        """Change a shipping method.

        Only the fields that are sent change. Another `rate_mode` is refused if the method has rates that it doesn't
        allow.
        """
        changes = self.valid(shapes.MethodInput, partial=True)
        method = operations.update_method(method_id=method_id, changes=changes, now=timezone.now())
        return Response({"method": shapes.MethodOutput.of(method)})

    @answers(None, status=204)
    def destroy(self, request: Request, method_id: int) -> Response:
        """Delete a shipping method.

        With its rates. Checkouts and orders that chose it keep it.
        """
        operations.delete_method(method_id=method_id, now=timezone.now())
        return Response(status=204)


class RatesViewSet(AdminViewSet):
    area = "shipping"

    @answers(many("rates", shapes.RateOutput), parameters=PAGE_PARAMETERS)
    def list(self, request: Request, method_id: int) -> Response:
        """List the rates of a shipping method.

        Newest first.
        """
        return Response(
            newest_first(queries.rates_of(method_id), self.cursor).answer("rates", shapes.RateOutput.of)
        )

    @answers(
        one("rate", shapes.RateOutput),
        request=shapes.RateInput,
        status=201,
        refuses=(errors.TooManyRates, errors.RateMustBeFree, errors.FlatRateExists, ReadOnlyField),
    )
    def create(self, request: Request, method_id: int) -> Response:
        """Add a rate to a shipping method.

        Bounds are inclusive, and null is open. A `flat` method has one rate for each currency, without bounds; the
        rates of a `free` one cost 0.
        """
        fields = self.valid(shapes.RateInput)
        rate = operations.create_rate(method_id=method_id, fields=fields, now=timezone.now())
        return Response({"rate": shapes.RateOutput.of(rate)}, status=201)

    @answers(one("rate", shapes.RateOutput))
    def retrieve(self, request: Request, rate_id: int) -> Response:
        """Show a rate.

        Also one that was made automatically for a free method.
        """
        return Response({"rate": shapes.RateOutput.of(queries.get_rate(rate_id))})

    @answers(
        one("rate", shapes.RateOutput),
        request=shapes.RateInput,
        partial=True,
        refuses=(errors.RateMustBeFree, errors.FlatRateExists, ReadOnlyField),
    )
    def update(self, request: Request, rate_id: int) -> Response:
        """Change a rate.

        Only the fields that are sent change.
        """
        changes = self.valid(shapes.RateInput, partial=True)
        rate = operations.update_rate(rate_id=rate_id, changes=changes, now=timezone.now())
        return Response({"rate": shapes.RateOutput.of(rate)})

    @answers(None, status=204)
    def destroy(self, request: Request, rate_id: int) -> Response:
        """Delete a rate.

        Checkouts and orders that chose it keep it.
        """
        operations.delete_rate(rate_id=rate_id, now=timezone.now())
        return Response(status=204)


class QuoteViewSet(AdminViewSet):
    """Quotes shipping for a parcel, without a cart."""

    area = "shipping"
    reading_actions = ("create",)

    @answers(
        envelope("Quotes", quotes=shapes.QuoteOutput(many=True, help_text="The options, cheapest first.")),
        request=shapes.QuoteInput,
    )
    def create(self, request: Request) -> Response:
        """Quote shipping for a parcel.

        Every rate of every method that fits, cheapest first, without a cart. Changes nothing.
        """
        fields = self.valid(shapes.QuoteInput)
        queries.require_market(fields.get("market_id"))
        fields["zip"] = fields.get("zip") or ""
        return Response(
            {"quotes": [shapes.shape_quote(option) for option in queries.quote(Parcel(**fields))]}
        )


class PickupPointsViewSet(AdminViewSet):
    """Public reference data of carriers: the same for every account, and readable with any key."""

    binding = "reference"

    @describe_list
    def list(self, request: Request) -> Response:
        """List pickup points of carriers.

        Public reference data: the same for every shop, for any key of the admin API. Newest first.
        """
        filters = self.valid_query(shapes.PickupPointFilters)
        page = queries.list_pickup_points(cursor=self.cursor, **filters)
        return Response(page.answer("pickup_points", shape_pickup_point))
