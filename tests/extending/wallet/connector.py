from commerce.configuration.registry import ServiceKey
from commerce.payments.connectors import Connector, Settings
from commerce.payments.gateway import Gateway

API_KEY = "shop.payments.wallet_key"


def _gateway(settings: Settings) -> Gateway:
    from .gateway import Wallet

    return Wallet(api_key=str(settings[API_KEY]))


WALLET = Connector(
    code="wallet",
    is_offered=lambda settings: bool(settings[API_KEY]),
    gateway=_gateway,
    settings=(ServiceKey(name=API_KEY, default="", is_secret=True, help="Offers the wallet."),),
    urls="tests.extending.wallet.urls",
    documents="tests.extending.wallet.urls.DOCUMENTS",
)
