from django.contrib import admin

from commerce.backoffice.options import EditableAdmin

from . import operations
from .models import Supplier
from .rules import SUPPLIER


@admin.register(Supplier)
class SupplierAdmin(EditableAdmin):
    area = "inventory"
    deletable = True
    rules = SUPPLIER
    list_display = ("name", "location")
    fields = ("name", "location")

    def create_row(self, fields, now):
        return operations.create_supplier(fields=fields)

    def update_row(self, row, changes, now):
        return operations.update_supplier(supplier=row, changes=changes)

    def delete_row(self, row, now):
        operations.delete_supplier(supplier_id=row.pk)
