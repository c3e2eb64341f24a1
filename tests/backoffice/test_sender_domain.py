"""The page of the sender domain: the record to set, and its check."""

import pytest

from accounts.models import Account
from commerce.backoffice.models import StaffAction
from commerce.outbox.models import OutboxDispatch
from commerce.outbox.worker import run_due
from commerce.tenancy.scope import workspace_scope
from emails.sender_domains.models import SenderDomain
from emails.sender_domains.operations import get_wanted_domain, save_wanted_domain
from tests.backoffice.clients import messages_of
from tests.nameserver import name_server

LIST = "emails/senderdomain/"


@pytest.fixture
def names(settings):
    with name_server() as server:
        settings.DNS_SERVERS = [server.address]
        yield server


def set_sender(shop, email_from="hats@hats.example"):
    with workspace_scope(shop.workspace_id):
        Account.objects.filter(pk=shop.id).update(email_from=email_from)
    with shop.scope():
        return get_wanted_domain()


def row_of(shop):
    with shop.scope():
        return save_wanted_domain()


def publish(names, row):
    names.records[row.record_name] = [row.record_value]


def test_page_shows_the_record_to_set_and_writes_nothing(shop, support):
    row = set_sender(shop)

    page = support.get(LIST).content.decode()

    assert row.record_name in page
    assert row.record_value in page
    with shop.scope():
        assert not SenderDomain.objects.exists()


def test_page_of_a_shop_without_an_address_says_so(shop, support):
    page = support.get(LIST).content.decode()

    assert "no email_from" in page


def test_record_is_looked_up_from_the_list(shop, owner, names):
    publish(names, set_sender(shop))

    answer = owner.confirm(f"{LIST}look_up_new/")
    run_due()

    assert messages_of(answer)[-1].startswith("The record of hats.example is being looked up.")
    assert row_of(shop).status == "verified"
    assert "hats.example is verified." in owner.get(LIST).content.decode()


def test_record_is_looked_up_from_its_page(shop, owner, names):
    set_sender(shop)
    row = row_of(shop)
    owner.confirm(f"{LIST}{row.pk}/look_up/")
    run_due()
    missing = row_of(shop)
    publish(names, row)

    owner.confirm(f"{LIST}{row.pk}/look_up/")
    run_due()

    assert (missing.status, missing.failure_code) == ("pending", "record_not_found")
    assert row_of(shop).status == "verified"
    page = owner.get(f"{LIST}{row.pk}/change/").content.decode()
    assert row.record_value in page
    with shop.scope():
        assert StaffAction.objects.filter(subject_id=row.pk).count() == 2


def test_who_may_only_read_looks_nothing_up(shop, support, names):
    set_sender(shop)
    row = row_of(shop)

    answers = [support.confirm(path) for path in (f"{LIST}{row.pk}/look_up/", f"{LIST}look_up_new/")]

    assert [answer.status_code for answer in answers] == [403, 403]
    with shop.scope():
        assert not OutboxDispatch.objects.exists()


def test_domain_of_another_shop_is_not_there(shop, other_shop, owner, names):
    set_sender(other_shop, "tea@tea.example")
    row = row_of(other_shop)

    shown = owner.get(f"{LIST}{row.pk}/change/")
    looked_up = owner.confirm(f"{LIST}{row.pk}/look_up/")

    assert "tea.example" not in owner.get(LIST).content.decode()
    # Like every page of a missing row: Django redirects to the start page.
    assert (shown.status_code, shown["Location"]) == (302, "/backoffice/")
    assert looked_up.status_code == 404
    with other_shop.scope():
        assert not OutboxDispatch.objects.exists()
