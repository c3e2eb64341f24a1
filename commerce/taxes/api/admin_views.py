from rest_framework.request import Request
from rest_framework.response import Response

from commerce.paging import newest_first
from commerce.rest.schema import PAGE_PARAMETERS, answers, many, one
from commerce.rest.views import AdminViewSet
from commerce.taxes import operations, queries
from commerce.taxes.errors import TaxRateExists

from . import serializers as shapes


class TaxRatesViewSet(AdminViewSet):
    """Tax rates by country and tax class. Without a rate, 0 is charged."""

    area = "products"

    @answers(many("tax_rates", shapes.TaxRateOutput), parameters=PAGE_PARAMETERS)
    def list(self, request: Request) -> Response:
        """List tax rates.

        Newest first.
        """
        return Response(
            newest_first(queries.tax_rates(), self.cursor).answer("tax_rates", shapes.TaxRateOutput.of)
        )

    @answers(
        one("tax_rate", shapes.TaxRateOutput),
        request=shapes.TaxRateInput,
        status=201,
        refuses=(TaxRateExists,),
    )
    def create(self, request: Request) -> Response:
        """Add a tax rate.

        A country has one rate for each class.
        """
        tax_rate = operations.create_tax_rate(fields=self.valid(shapes.TaxRateInput))
        return Response({"tax_rate": shapes.TaxRateOutput.of(tax_rate)}, status=201)

    @answers(one("tax_rate", shapes.TaxRateOutput))
    def retrieve(self, request: Request, tax_rate_id: int) -> Response:
        """Show a tax rate.

        For one country and one tax class.
        """
        return Response({"tax_rate": shapes.TaxRateOutput.of(queries.get_tax_rate(tax_rate_id))})

    @answers(
        one("tax_rate", shapes.TaxRateOutput),
        request=shapes.TaxRateInput,
        partial=True,
        refuses=(TaxRateExists,),
    )
    def update(self, request: Request, tax_rate_id: int) -> Response:
        """Change a tax rate.

        Only the fields that are sent change. Lines in carts, checkouts and orders keep the rate that they were priced
        with.
        """
        queries.get_tax_rate(tax_rate_id)
        changes = self.valid(shapes.TaxRateInput, partial=True)
        tax_rate = operations.update_tax_rate(tax_rate_id=tax_rate_id, changes=changes)
        return Response({"tax_rate": shapes.TaxRateOutput.of(tax_rate)})

    @answers(None, status=204)
    def destroy(self, request: Request, tax_rate_id: int) -> Response:
        """Delete a tax rate.

        From then on, nothing is charged for its country and class. Lines in carts, checkouts and orders keep the
        rate that they were priced with.
        """
        operations.delete_tax_rate(tax_rate_id=tax_rate_id)
        return Response(status=204)
