"""The domain of a market, which may be one that another account has verified."""

import pytest
from django.utils import timezone

from accounts.models import Account, Market
from commerce.tenancy.scope import workspace_scope
from emails.sender_domains.models import SenderDomain
from tests.problems import problem

AUSTRIA = {
    "handle": "at",
    "name": "Austria",
    "currency": "EUR",
    "locale": "de-AT",
    "country_code": "AT",
    "domain": "Hats.Example",
}
TAKEN = (409, "domain_taken")


def claim(shop, domain="hats.example", *, is_verified=True):
    """Store a domain as it is after its DNS record has been looked up."""
    now = timezone.now()
    with shop.scope():
        SenderDomain.objects.create(
            domain=domain, token="t" * 32, verified_at=now if is_verified else None, checked_at=now
        )


def domains(shop):
    with shop.scope():
        return list(Market.objects.order_by("pk").values_list("domain", flat=True))


def test_domain_that_another_account_has_verified_is_taken(shop, other_shop):
    claim(other_shop)

    created = shop.admin.post("markets.json", AUSTRIA)
    updated = shop.admin.put(f"markets/{shop.market.pk}.json", {"domain": "hats.example", "name": "New"})

    assert problem(created) == problem(updated) == TAKEN
    assert domains(shop) == [None]
    with shop.scope():
        assert Market.objects.get().name == shop.market.name
    assert other_shop.admin.post("markets.json", AUSTRIA).status_code == 201


def test_domain_that_is_claimed_and_not_verified_is_free(shop, other_shop):
    claim(other_shop, is_verified=False)

    assert shop.admin.post("markets.json", AUSTRIA).status_code == 201


@pytest.mark.parametrize("domain", ["mail.hats.example", "example", "ats.example", "hats.example.com"])
def test_domain_beside_a_verified_one_is_free(shop, other_shop, domain):
    claim(other_shop, domain)

    assert shop.admin.post("markets.json", AUSTRIA).status_code == 201


def test_domain_that_both_have_verified_is_free_for_both(shop, other_shop):
    claim(shop)
    claim(other_shop)

    answers = [one.admin.post("markets.json", AUSTRIA) for one in (shop, other_shop)]

    assert [answer.status_code for answer in answers] == [201, 201]


def test_domain_of_an_archived_account_is_free(shop, other_shop):
    claim(other_shop)
    with workspace_scope(other_shop.workspace_id):
        Account.objects.filter(pk=other_shop.id).update(status="archived", archived_at=timezone.now())

    assert shop.admin.post("markets.json", AUSTRIA).status_code == 201


def test_market_keeps_the_domain_that_another_account_has_verified_since(shop, other_shop):
    market = shop.admin.post("markets.json", AUSTRIA).json()["market"]
    claim(other_shop)

    renamed = shop.admin.put(f"markets/{market['id']}.json", market | {"name": "Austria!"})
    cleared = shop.admin.put(f"markets/{market['id']}.json", {"domain": None})
    again = shop.admin.put(f"markets/{market['id']}.json", {"domain": "hats.example"})

    assert (renamed.status_code, renamed.json()["market"]["domain"]) == (200, "hats.example")
    assert cleared.status_code == 200
    assert problem(again) == TAKEN


def test_domain_outside_of_ascii_is_compared_as_dns_has_it(shop, other_shop):
    claim(other_shop, "xn--hte-gla.example")

    answer = shop.admin.post("markets.json", AUSTRIA | {"domain": "xn--hte-gla.example"})

    assert problem(answer) == TAKEN
