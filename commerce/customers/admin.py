from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from unfold.decorators import display
from unfold.enums import ActionVariant

from commerce.backoffice.dialogs import dialog_action
from commerce.backoffice.display import StrOrPromise, format_money, format_time
from commerce.backoffice.filters import PeriodFilter
from commerce.backoffice.options import EditableAdmin
from commerce.errors import Refusal

from . import operations, queries
from .errors import CustomerRedacted
from .models import Customer, Segment
from .rules import CUSTOMER, SEGMENT
from .sections import build_timeline, make_sections

_PERSON = (("email", "phone"), ("first_name", "last_name"), ("locale", "country_code"), "tags")
_FIGURES = (("is_guest", "orders_count", "spent"), ("created_at", "redacted_at"))


@admin.register(Customer)
class CustomerAdmin(EditableAdmin):
    area = "customers"
    rules = CUSTOMER
    list_display = (
        "__str__",
        "first_name",
        "last_name",
        "country_code",
        "orders_count",
        "is_guest",
        "created_at",
    )
    list_filter = ("is_guest", ("created_at", PeriodFilter))
    sortable_by = ("last_name", "first_name", "created_at")
    searches_beginnings = True
    search_fields = ("normalised_email", "last_name", "first_name")
    search_help_text = gettext_lazy("Beginning of the email or of a name")
    fieldsets = ((None, {"fields": _PERSON}), (gettext_lazy("Figures"), {"fields": _FIGURES}))
    add_fieldsets = ((None, {"fields": _PERSON}),)
    readonly_fields = ("is_guest", "orders_count", "spent", "created_at", "redacted_at")
    actions_detail = ("redact",)
    change_form_after_template = "backoffice/customer.html"

    # Redaction is for good: a form that was opened before must not bring the data back.
    def refusal_to_change(self, request: HttpRequest, row: Customer) -> Refusal | None:
        if row.redacted_at is None:
            return None
        return CustomerRedacted(
            _("Nothing was saved: the customer's personal data was erased on %(time)s.")
            % {"time": format_time(row.redacted_at)}
        )

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: object, **kwargs: object
    ) -> HttpResponse:
        customer = kwargs.get("obj")
        if isinstance(customer, Customer):
            context["sections"] = make_sections(request, customer)
            context["entries"] = build_timeline(customer, context["sections"])
        return super().render_change_form(request, context, *args, **kwargs)

    def title_choice(self, row: Customer) -> str:
        name = f"{row.first_name} {row.last_name}".strip()
        return f"{row} ({name})" if name else str(row)

    @display(description=gettext_lazy("Spent"))
    def spent(self, customer: Customer) -> str:
        # Django's admin asks for a read-only field several times.
        if "spending" not in customer.__dict__:
            customer.__dict__["spending"] = queries.list_spending(customer)
        spent = [format_money(total, currency) for currency, total in customer.__dict__["spending"]]
        return ", ".join(spent) or "-"

    def create_row(self, fields: Mapping[str, object], now: datetime) -> Customer:
        return operations.create_customer(fields=fields)

    def update_row(self, row: Customer, changes: Mapping[str, object], now: datetime) -> Customer:
        return operations.update_customer(customer_id=row.pk, changes=changes, now=now)

    @dialog_action(
        gettext_lazy("Redact"),
        description=gettext_lazy(
            "Erases name, email, phone and tags. This can't be undone. Orders are kept for accounting."
        ),
        submit=gettext_lazy("Erase this person"),
        icon="person_off",
        variant=ActionVariant.DANGER,
    )
    def redact(self, request: HttpRequest, customer: Customer, fields: Mapping[str, object]) -> StrOrPromise:
        operations.redact_customer(customer_id=customer.pk, now=timezone.now())
        return gettext_lazy("The customer is redacted.")


@admin.register(Segment)
class SegmentAdmin(EditableAdmin):
    area = "customers"
    deletable = True
    rules = SEGMENT
    list_display = ("name", "handle", "updated_at")
    search_fields = ("name", "handle")
    fields = ("handle", "name", "filter")

    def title_choice(self, row: Segment) -> str:
        return f"{row.name} ({row.handle})"

    def create_row(self, fields: Mapping[str, object], now: datetime) -> Segment:
        return operations.create_segment(fields=fields)

    def update_row(self, row: Segment, changes: Mapping[str, object], now: datetime) -> Segment:
        return operations.update_segment(segment_id=row.pk, changes=changes)

    def delete_row(self, row: Segment, now: datetime) -> None:
        operations.delete_segment(segment_id=row.pk)
