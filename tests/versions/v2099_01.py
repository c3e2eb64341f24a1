"""A version that renamed a market's `label` to `title`."""

from accounts.api.serializers import MarketInput, MarketOutput
from commerce.versions import VersionChange


class MarketTitle(VersionChange):
    schemas = (MarketInput, MarketOutput)
    renamed = {"title": "label"}


CHANGES = (MarketTitle,)
