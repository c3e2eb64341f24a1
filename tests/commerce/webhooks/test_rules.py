"""The operations on endpoints refuse the same values as REST, with the same codes."""

import pytest
from django.utils import timezone

from commerce.errors import ValidationFailed
from commerce.webhooks import operations
from commerce.webhooks.models import WebhookEndpoint
from tests.problems import field_errors


@pytest.mark.parametrize(
    ("changes", "path", "code"),
    [
        ({"url": "ftp://a.example/"}, "url", "invalid_url"),
        ({"url": "https://a.example/" + "x" * 1000}, "url", "max_length"),
        ({"topics": ["order.vanished"]}, "topics.0", "invalid_choice"),
        ({"status": "disabled"}, "status", "invalid_choice"),
    ],
)
def test_change_of_an_endpoint_is_refused_by_each(shop, endpoint, changes, path, code):
    answer = shop.admin.put(f"webhook_endpoints/{endpoint.pk}.json", changes)
    with shop.scope(), pytest.raises(ValidationFailed) as refused:
        operations.update_endpoint(endpoint_id=endpoint.pk, changes=changes, now=timezone.now())

    assert field_errors(answer) == {(path, code)}
    assert [(error.field, error.code) for error in refused.value.errors] == [(path, code)]
    with shop.scope():
        assert WebhookEndpoint.objects.get().updated_at == endpoint.updated_at


@pytest.mark.parametrize("grace_seconds", [-1, 2_592_001])
def test_grace_period_out_of_bounds_is_refused_by_each(shop, endpoint, grace_seconds):
    path = f"webhook_endpoints/{endpoint.pk}/rotate_secret.json"

    answer = shop.admin.post(path, {"grace_seconds": grace_seconds})
    with shop.scope(), pytest.raises(ValidationFailed) as refused:
        operations.rotate_secret(endpoint_id=endpoint.pk, grace_seconds=grace_seconds, now=timezone.now())

    assert field_errors(answer) == {(error.field, error.code) for error in refused.value.errors}
    with shop.scope():
        assert WebhookEndpoint.objects.get().secret == endpoint.secret
