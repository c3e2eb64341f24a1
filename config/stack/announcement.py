"""Announces a running stack: in demo.json for programs, and on the terminal for people."""

import json
from collections.abc import Mapping
from typing import Any

from config.stack.data import DataDirectory, write_json
from config.versions import CURRENT_VERSION

_READ_CART = """python3 -c 'import json, sys; print(json.load(sys.stdin)["cart"]["token"])'"""


def announce(data: DataDirectory, environment: Mapping[str, str]) -> None:
    """Write demo.json, whose existence means that everything answers, and print what to try first."""
    demo = describe_stack(data, environment)
    write_json(data.demo, demo)
    print(format_announcement(demo), flush=True)


def describe_stack(data: DataDirectory, environment: Mapping[str, str]) -> dict[str, object]:
    base_url = environment["BASE_URL"].rstrip("/")
    return json.loads(data.seed.read_text()) | {
        "base_url": base_url,
        "backoffice_url": f"{base_url}/backoffice/",
        "webhook_secret": environment["COMMERCE_EMAIL_PROVIDER_WEBHOOK_SECRET"],
        "renderer_url": environment["RENDERER_URL"],
        "mail_dir": environment["MAIL_DIR"],
        "data_dir": str(data.root),
    }


def format_announcement(demo: Mapping[str, Any]) -> str:
    rows = {
        "Base URL": demo["base_url"],
        "Shop front to try": f"{demo['base_url']}/demo/",
        "Back office": demo["backoffice_url"],
        "Log in as": f"{demo['staff']['username']} / {demo['staff']['password']}",
    }
    for workspace in demo["workspaces"]:
        rows[f"Workspace {workspace['id']}"] = workspace["workspace_key"]
        for account in workspace["accounts"]:
            rows[f"  {account['handle']}, admin"] = account["admin_key"]
            rows[f"  {account['handle']}, storefront"] = account["storefront_key"]
    table = [f"  {label:<48}{value}" for label, value in rows.items()]
    return "\n".join(
        ["", *table, "", *(f"  {line}" for line in _list_curl_commands(demo)), "", "Press Ctrl-C to stop."]
    )


def _list_curl_commands(demo: Mapping[str, Any]) -> list[str]:
    """Three commands to paste into a shell, in this order."""
    account = demo["workspaces"][0]["accounts"][0]
    market_id, variant_id = account["markets"][0]["id"], account["variants"][0]["id"]
    url = f"{demo['base_url']}/storefront/{CURRENT_VERSION}"
    curl = f"curl -s -H 'X-Storefront-Key: {account['storefront_key']}'"
    post = f"{curl} -H 'Content-Type: application/json'"
    return [
        f"{curl} '{url}/products.json?market_id={market_id}'",
        f"""CART=$({post} -d '{{"market_id": {market_id}}}' {url}/carts.json | {_READ_CART}); echo "$CART" """.rstrip(),
        f"""{post} -d '{{"variant_id": {variant_id}, "quantity": 2}}' {url}/carts/$CART/lines.json""",
    ]
