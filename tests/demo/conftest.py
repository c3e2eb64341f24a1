import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.shops import Shop


@pytest.fixture
def open_demo(settings, tmp_path: Path) -> Callable[[Shop], dict[str, str]]:
    """Enable the demo page for a shop, like `make run`; return the secrets in its file."""

    def open_demo(shop: Shop) -> dict[str, str]:
        keys = {kind: shop.issue(kind) for kind in ("workspace", "admin", "storefront")}
        account = {
            "id": str(shop.id),
            "handle": shop.handle,
            "admin_key": keys["admin"],
            "storefront_key": keys["storefront"],
        }
        seed = tmp_path / "seed.json"
        seed.write_text(
            json.dumps({"workspaces": [{"workspace_key": keys["workspace"], "accounts": [account]}]})
        )
        settings.DEMO_SEED = str(seed)
        return keys

    return open_demo
