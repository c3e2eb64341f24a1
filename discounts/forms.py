from copy import copy
from typing import Any

from commerce.backoffice.forms import RuledModelForm, all_values, show_refusal
from commerce.errors import ValidationFailed

from .formfields import BogoField, BulkTiersField
from .models import Discount
from .rules import require_sound, settle

Type = Discount.Type
AppliesTo = Discount.AppliesTo
ValueMode = Discount.ValueMode


class DiscountForm(RuledModelForm):
    """Inputs that the page hides for a type count for nothing, whatever was filled in before the type was chosen."""

    bogo_config = BogoField()
    bulk_tiers = BulkTiersField()

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.instance.pk is not None and "type" in self.fields:
            self.fields["type"].disabled = True

    def clean(self) -> dict[str, Any]:
        for name, value in _of_hidden(self.cleaned_data.get("type")).items():
            self.errors.pop(name, None)
            self.cleaned_data[name] = value
        cleaned = super().clean()
        if not self.errors:
            self._require_sound()
        return cleaned

    def _require_sound(self) -> None:
        """Check how the fields fit each other before Django tries the database's constraints, which name no field."""
        draft = copy(self.instance)
        settle(draft, all_values(self))
        try:
            require_sound(draft)
        except ValidationFailed as refusal:
            show_refusal(self, refusal)


def _of_hidden(chosen: str | None) -> dict[str, Any]:
    """What the inputs are taken as that the page does not show for the chosen type."""
    values: dict[str, Any] = {}
    if chosen != Type.BUY_X_GET_Y:
        values["bogo_config"] = None
    if chosen != Type.BULK_PRICING:
        values["bulk_tiers"] = None
    if chosen == Type.SHIPPING_DISCOUNT:
        values["applies_to"] = AppliesTo.SHIPPING
    if chosen == Type.GIFT_CARD:
        values["value_mode"] = ValueMode.FIXED_AMOUNT
    if chosen in {Type.BUY_X_GET_Y, Type.GIFT_CARD}:
        values["applies_to"] = AppliesTo.ORDER
    return values
