from rest_framework import serializers
from rest_framework.response import Response

from commerce.paging import newest_first
from commerce.rest import fields
from commerce.rest.schema import PAGE_PARAMETERS, answers, many, one
from commerce.rest.shapes import Input, Output
from commerce.rest.views import AdminViewSet
from tests.extending.suppliers import operations
from tests.extending.suppliers.models import Supplier
from tests.extending.suppliers.rules import MAX_NAME


class SupplierInput(Input):
    name = fields.TextField(max_length=MAX_NAME)
    location_id = fields.IdField(required=False, allow_null=True)


class SupplierOutput(Output):
    id = fields.IdField()
    name = serializers.CharField()
    location_id = fields.IdField(allow_null=True)


class SuppliersViewSet(AdminViewSet):
    area = "inventory"

    @answers(many("suppliers", SupplierOutput), parameters=PAGE_PARAMETERS)
    def list(self, request):
        page = newest_first(Supplier.objects.all(), self.cursor)
        return Response(page.answer("suppliers", _supplier))

    @answers(one("supplier", SupplierOutput), request=SupplierInput, status=201)
    def create(self, request):
        supplier = operations.create_supplier(fields=self.valid(SupplierInput))
        return Response({"supplier": _supplier(supplier)}, status=201)

    @answers(one("supplier", SupplierOutput))
    def retrieve(self, request, supplier_id):
        return Response({"supplier": _supplier(operations.get_supplier(supplier_id))})

    @answers(one("supplier", SupplierOutput), request=SupplierInput, partial=True)
    def update(self, request, supplier_id):
        supplier = operations.get_supplier(supplier_id)
        changes = self.valid(SupplierInput, partial=True)
        return Response(
            {"supplier": _supplier(operations.update_supplier(supplier=supplier, changes=changes))}
        )

    @answers(None, status=204)
    def destroy(self, request, supplier_id):
        operations.delete_supplier(supplier_id=supplier_id)
        return Response(status=204)


def _supplier(supplier):
    return SupplierOutput.of(supplier)
