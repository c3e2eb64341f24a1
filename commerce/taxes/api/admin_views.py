from rest_framework.request import Request
from rest_framework.response import Response

from commerce.paging import newest_first
from commerce.rest.schema import PAGE_PARAMETERS, answers, many, one
from commerce.rest.views import AdminViewSet
from commerce.taxes import operations, queries
from commerce.taxes.models import TaxRate

from . import serializers as shapes


class TaxRatesViewSet(AdminViewSet):
    area = "products"

    @answers(many("tax_rates", shapes.TaxRateOutput), parameters=PAGE_PARAMETERS)
    def list(self, request: Request) -> Response:
        return Response(newest_first(queries.tax_rates(), self.cursor).answer("tax_rates", _shape_tax_rate))

    @answers(one("tax_rate", shapes.TaxRateOutput), request=shapes.TaxRateInput, status=201)
    def create(self, request: Request) -> Response:
        tax_rate = operations.create_tax_rate(fields=self.valid(shapes.TaxRateInput))
        return Response({"tax_rate": _shape_tax_rate(tax_rate)}, status=201)

    @answers(one("tax_rate", shapes.TaxRateOutput))
    def retrieve(self, request: Request, tax_rate_id: int) -> Response:
        return Response({"tax_rate": _shape_tax_rate(queries.get_tax_rate(tax_rate_id))})

    @answers(one("tax_rate", shapes.TaxRateOutput), request=shapes.TaxRateInput, partial=True)
    def update(self, request: Request, tax_rate_id: int) -> Response:
        tax_rate = queries.get_tax_rate(tax_rate_id)
        changes = self.valid(shapes.TaxRateInput, partial=True)
        return Response(
            {"tax_rate": _shape_tax_rate(operations.update_tax_rate(tax_rate=tax_rate, changes=changes))}
        )

    @answers(None, status=204)
    def destroy(self, request: Request, tax_rate_id: int) -> Response:
        operations.delete_tax_rate(tax_rate_id=tax_rate_id)
        return Response(status=204)


def _shape_tax_rate(tax_rate: TaxRate) -> dict[str, object]:
    return shapes.TaxRateOutput(tax_rate).data
