from commerce.configuration.registry import Flag
from commerce.payments.connectors import Connector, Settings
from commerce.payments.gateway import Gateway
from commerce.wording import mark


def _make_gateway(settings: Settings) -> Gateway:
    from .gateway import FakeCard

    return FakeCard()


TEST_CARD = Connector(
    code="test_card",
    is_offered=lambda settings: bool(settings["commerce.payments.test_card"]),
    gateway=_make_gateway,
    settings=(
        Flag(
            name="commerce.payments.test_card",
            title=mark("Test card"),
            default=False,
            help=mark("Offers the test card gateway, which moves no money."),
        ),
    ),
    urls="commerce.payments.test_card.urls",
)
