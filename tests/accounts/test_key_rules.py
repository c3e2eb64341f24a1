"""The operation refuses to issue keys, with the same codes over REST and in the back office."""

from datetime import UTC, datetime, timedelta

import pytest
from django.utils import timezone

from accounts.models import ApiKey
from accounts.operations import OPERATOR, Issuer, issue_key, rotate_key
from commerce.errors import InsufficientScope, ValidationFailed
from tests.backoffice.clients import make_staff
from tests.problems import field_errors, problem
from tests.shops import Shop

PAST = datetime(2020, 1, 1, tzinfo=UTC)


def issue(shop: Shop, issuer: Issuer = OPERATOR, **fields):
    key = {"kind": "admin", "name": "App", "account_id": shop.id, "now": timezone.now()} | fields
    with shop.scope():
        return issue_key(issuer=issuer, workspace_id=shop.workspace_id, **key)


def count(shop):
    with shop.scope():
        return ApiKey.objects.count()


@pytest.mark.parametrize(
    ("fields", "dialog", "path", "code"),
    [
        ({"name": "x" * 201}, {"name": "x" * 201}, "name", "max_length"),
        (
            {"expires_at": PAST},
            {"expires_at_0": "2020-01-01", "expires_at_1": "00:00"},
            "expires_at",
            "in_the_past",
        ),
        (
            {"kind": "storefront", "scopes": ["read_markets"]},
            {"kind": "storefront", "scopes": ["read_markets"]},
            "scopes",
            "not_allowed",
        ),
    ],
)
def test_key_is_refused_by_rest_by_the_operation_and_by_the_back_office(shop, fields, dialog, path, code):
    before = count(shop)
    sent = {name: value.isoformat() if name == "expires_at" else value for name, value in fields.items()}

    answer = shop.admin.post("api_keys.json", {"kind": "admin", "name": "App"} | sent)
    page = make_staff(shop).confirm("accounts/apikey/issue/", **{"kind": "admin", "name": "App"} | dialog)
    with pytest.raises(ValidationFailed) as refused:
        issue(shop, **fields)

    assert field_errors(answer) == {(path, code)}
    assert [(error.field, error.code) for error in refused.value.errors] == [(path, code)]
    assert [error["code"] for error in page.context["form"].errors.get_json_data()[path]] == [code]
    assert count(shop) == before


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({"scopes": ["read_everything"]}, ("scopes.0", "invalid_choice")),
        ({"kind": "workspace"}, ("kind", "account_mismatch")),
        ({"account_id": None}, ("kind", "account_mismatch")),
        ({"expires_at": datetime(2040, 1, 1)}, ("expires_at", "no_offset")),  # noqa: DTZ001  what is refused
    ],
)
def test_operation_refuses_what_no_interface_lets_through(shop, fields, error):
    before = count(shop)

    with pytest.raises(ValidationFailed) as refused:
        issue(shop, **fields)

    assert [(one.field, one.code) for one in refused.value.errors] == [error]
    assert count(shop) == before


def test_key_never_has_more_powers_or_a_longer_life_than_its_issuers(shop):
    now = timezone.now()
    own = issue(shop, scopes=["write_api_keys"], expires_at=now + timedelta(days=1)).key
    before, issuer = count(shop), Issuer("admin", own.pk)

    for fields in ({"scopes": ["read_orders"]}, {"scopes": ["write_api_keys"]}):
        with pytest.raises(InsufficientScope):
            issue(shop, issuer, **fields)

    assert count(shop) == before


@pytest.mark.parametrize("grace_seconds", [-1, 31_536_001])
def test_grace_period_out_of_bounds_is_refused_by_rest_and_by_the_operation(shop, grace_seconds):
    key = issue(shop).key
    before = count(shop)

    answer = shop.admin.post(f"api_keys/{key.pk}/rotate.json", {"grace_seconds": grace_seconds})
    with shop.scope(), pytest.raises(ValidationFailed) as refused:
        rotate_key(issuer=OPERATOR, key_id=key.pk, grace_seconds=grace_seconds)

    assert problem(answer) == (422, "validation_failed")
    assert field_errors(answer) == {(error.field, error.code) for error in refused.value.errors}
    assert count(shop) == before
