from drf_spectacular.utils import inline_serializer
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from commerce.configuration import operations, queries
from commerce.rest import fields
from commerce.rest.schema import answers
from commerce.rest.shapes import Input
from commerce.rest.views import AdminViewSet

SETTINGS_ANSWER = inline_serializer(
    "SettingsAnswer",
    {
        "settings": serializers.DictField(
            help_text="Each setting by its dotted name, with the value that counts. Secrets are masked."
        )
    },
)


class SettingsInput(Input):
    """Values by dotted name; null removes the account's own value."""

    settings = fields.ObjectField(help_text="Values by dotted name; null removes the shop's own value.")


class SettingsViewSet(AdminViewSet):
    """Settings of a shop, by dotted name. A value of the shop's own wins over the installation's, which wins over the
    default.
    """

    area = "settings"
    # A refund may need its gateway's new key.
    outlives_archiving = True

    @answers(SETTINGS_ANSWER)
    def list(self, request: Request) -> Response:
        """Show all settings.

        Each name with the value that counts. Secrets are masked.
        """
        return Response({"settings": queries.read_masked_settings()})

    @answers(SETTINGS_ANSWER, request=SettingsInput)
    def update(self, request: Request) -> Response:
        """Change settings.

        Only the settings that are named change. Null goes back to the installation's value. One unknown name or bad
        value refuses the whole request.
        """
        operations.change_settings(changes=self.valid(SettingsInput)["settings"])
        return Response({"settings": queries.read_masked_settings()})
