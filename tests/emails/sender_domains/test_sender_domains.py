"""Who may send as whom through the installation's provider, tested with a real name server."""

from datetime import timedelta
from email import message_from_bytes, policy

import dns.rcode
import pytest
from django.urls import resolve
from django.utils import timezone

from accounts.models import Account
from commerce.configuration.operations import change_settings
from commerce.configuration.registry import installation_value
from commerce.outbox.models import OutboxDispatch
from commerce.outbox.worker import run_due
from commerce.tenancy.scope import workspace_scope
from emails.mail_settings import read_mail_settings
from emails.origins import choose_origin
from emails.sender_domains import records
from emails.sender_domains.models import SenderDomain
from emails.sender_domains.operations import may_send_as, note_lookup, read_domain, save_wanted_domain
from tests.clients import ADMIN_ROOT
from tests.nameserver import name_server
from tests.problems import problem


@pytest.fixture
def names(settings):
    with name_server() as server:
        settings.DNS_SERVERS = [server.address]
        yield server


def set_sender(shop, email_from, name="Hats"):
    with workspace_scope(shop.workspace_id):
        Account.objects.filter(pk=shop.id).update(email_from=email_from, name=name)


def get_sender_domain(shop):
    response = shop.workspace.get(f"accounts/{shop.handle}/sender_domain.json")
    assert response.status_code == 200
    return response.json()["sender_domain"]


def verify(shop):
    response = shop.workspace.post(f"accounts/{shop.id}/sender_domain/verify.json")
    assert response.status_code == 200
    return response.json()["sender_domain"]


def publish(names, shop):
    record = get_sender_domain(shop)["record"]
    names.records.setdefault(record["name"], []).append(record["value"])


def origin(shop, now=None):
    with shop.scope():
        account = Account.objects.get(pk=shop.id)
        found = choose_origin(account, read_mail_settings(), now=now or timezone.now())
    return found.name, found.email, found.reply_to


def domain_row(shop):
    with shop.scope():
        return SenderDomain.objects.get()


def test_domain_is_shown_with_the_record_to_set(shop, names):
    set_sender(shop, "hats@Mail.Hats.example")

    domain = get_sender_domain(shop)

    value = domain["record"].pop("value")
    assert value.startswith("commerce-sender=")
    assert len(value) == len("commerce-sender=") + 32
    assert domain == {
        "domain": "mail.hats.example",
        "status": "pending",
        "record": {"type": "TXT", "name": "_commerce.mail.hats.example"},
        "failure_code": None,
        "verified_at": None,
        "checked_at": None,
        "missing_since": None,
    }
    assert get_sender_domain(shop)["record"]["value"] == value
    assert names.asked == []


def test_look_at_the_record_writes_nothing(shop, other_shop, names):
    for each in (shop, other_shop):
        set_sender(each, "hats@hats.example")

    values = [get_sender_domain(each)["record"]["value"] for each in (shop, shop, other_shop)]

    assert values[0] == values[1] != values[2]
    with shop.scope():
        assert not SenderDomain.objects.exists()
    assert verify(shop)["record"]["value"] == get_sender_domain(shop)["record"]["value"] == values[0]
    assert domain_row(shop).record_value == values[0]


def test_record_that_was_shown_before_tokens_followed_from_domains_stays(shop, names):
    set_sender(shop, "hats@hats.example")
    with shop.scope():
        SenderDomain.objects.create(domain="hats.example", token="a" * 32)

    assert (
        get_sender_domain(shop)["record"]["value"]
        == verify(shop)["record"]["value"]
        == "commerce-sender=" + "a" * 32
    )


def test_mail_comes_from_the_account_once_its_domain_is_verified(shop, names):
    set_sender(shop, "hats@hats.example")
    assert origin(shop) == ("Hats", "shop@localhost", "hats@hats.example")
    assert (verify(shop)["status"], verify(shop)["failure_code"]) == ("pending", "record_not_found")
    publish(names, shop)

    domain = verify(shop)

    assert (domain["status"], domain["failure_code"]) == ("verified", None)
    assert domain["verified_at"] == domain["checked_at"]
    assert origin(shop) == ("Hats", "hats@hats.example", "")


def test_record_may_stand_among_others_and_in_parts(shop, names):
    set_sender(shop, "hats@hats.example")
    value = get_sender_domain(shop)["record"]["value"]
    names.records["_commerce.hats.example"] = ["v=spf1 -all", f"{value[:20]}|{value[20:]}"]

    assert verify(shop)["status"] == "verified"


def test_record_of_one_account_proves_nothing_for_another(shop, other_shop, names):
    for each in (shop, other_shop):
        set_sender(each, "hats@hats.example")
    publish(names, shop)

    assert verify(shop)["status"] == "verified"
    assert verify(other_shop)["status"] == "pending"
    assert origin(other_shop)[1] == "shop@localhost"
    publish(names, other_shop)
    assert verify(other_shop)["status"] == "verified"
    assert origin(shop)[1] == origin(other_shop)[1] == "hats@hats.example"


def test_another_domain_has_to_be_verified_by_itself(shop, names):
    set_sender(shop, "hats@hats.example")
    publish(names, shop)
    verify(shop)

    for email in ("hats@sub.hats.example", "hats@example", "hats@bank.example"):
        set_sender(shop, email)
        assert origin(shop) == ("Hats", "shop@localhost", email)


@pytest.mark.parametrize("rcode", [dns.rcode.SERVFAIL, dns.rcode.REFUSED, None])
def test_name_servers_without_an_answer_say_nothing(shop, names, rcode, monkeypatch):
    monkeypatch.setattr(records, "LOOKUP_TIMEOUT_S", 0.5)
    set_sender(shop, "hats@hats.example")
    publish(names, shop)
    verified = verify(shop)
    names.rcode = rcode

    again = verify(shop)

    assert (again["status"], again["failure_code"]) == ("verified", "dns_unavailable")
    assert again["checked_at"] == verified["checked_at"]
    assert again["missing_since"] is None


def test_domain_whose_record_is_gone_is_trusted_for_three_days(shop, names):
    set_sender(shop, "hats@hats.example")
    publish(names, shop)
    verify(shop)
    now, row = timezone.now(), domain_row(shop)
    statuses = []
    with shop.scope():
        for days in (1, 2, 3.9, 4):
            row = note_lookup(row.pk, "record_not_found", now=now + timedelta(days=days))
            statuses.append(row.status)

    assert statuses == ["verified", "verified", "verified", "pending"]
    assert row.missing_since is None


def test_record_that_is_back_in_time_changes_nothing(shop, names):
    set_sender(shop, "hats@hats.example")
    publish(names, shop)
    verify(shop)
    now, row = timezone.now(), domain_row(shop)
    with shop.scope():
        note_lookup(row.pk, "record_not_found", now=now + timedelta(days=1))
        note_lookup(row.pk, "", now=now + timedelta(days=2))
        row = note_lookup(row.pk, "record_not_found", now=now + timedelta(days=4))

    assert (row.status, row.missing_since) == ("verified", now + timedelta(days=4))


def test_domain_in_use_is_looked_up_again_once_a_day(shop, names):
    set_sender(shop, "hats@hats.example")
    publish(names, shop)
    verify(shop)
    names.records.clear()
    later = timezone.now() + timedelta(days=1, minutes=1)
    with shop.scope():
        assert may_send_as("hats@hats.example", now=timezone.now())
        assert not OutboxDispatch.objects.exists()
        for _ in range(3):
            assert may_send_as("hats@hats.example", now=later)
        OutboxDispatch.objects.update(due_at=timezone.now())
        assert OutboxDispatch.objects.count() == 1

    run_due()

    row = domain_row(shop)
    assert (row.failure_code, row.status) == ("record_not_found", "verified")
    assert row.missing_since is not None


def test_look_up_without_an_answer_is_tried_again(shop, names):
    set_sender(shop, "hats@hats.example")
    names.rcode = dns.rcode.SERVFAIL
    with shop.scope():
        row = save_wanted_domain()
        SenderDomain.objects.filter(pk=row.pk).update(verified_at=timezone.now())
        assert not may_send_as("hats@hats.example", now=timezone.now())

    run_due()

    with shop.scope():
        dispatch = OutboxDispatch.objects.get()
    assert (dispatch.status, dispatch.attempts) == ("pending", 1)


def test_domain_that_was_long_unused_is_looked_up_before_it_is_trusted(shop, names):
    set_sender(shop, "hats@hats.example")
    publish(names, shop)
    verify(shop)

    assert origin(shop, now=timezone.now() + timedelta(days=31))[1] == "shop@localhost"
    with shop.scope():
        assert OutboxDispatch.objects.get().task_name == "check_sender_domain"


def test_accounts_own_provider_sends_as_it_likes(shop, names):
    set_sender(shop, "hats@hats.example")
    with shop.scope():
        change_settings(changes={"commerce.email.provider": "resend", "commerce.email.api_key": "re_1"})

    assert origin(shop) == ("Hats", "hats@hats.example", "")


def test_mail_server_of_the_installation_is_none_of_the_accounts_own(shop, names, monkeypatch):
    """It may recognise us by our address alone, without a password."""
    monkeypatch.setenv("COMMERCE_EMAIL_PROVIDER", "smtp")
    monkeypatch.setenv("COMMERCE_EMAIL_SMTP_HOST", "mail.platform.example")
    installation_value.cache_clear()
    try:
        set_sender(shop, "hats@hats.example")
        with shop.scope():
            change_settings(changes={"commerce.email.smtp_host": "Mail.Platform.example."})

        assert origin(shop)[1] == "shop@localhost"
    finally:
        monkeypatch.undo()
        installation_value.cache_clear()


def test_installation_may_trust_every_domain(shop, settings):
    settings.EMAIL_TRUST_SENDER_DOMAINS = True
    set_sender(shop, "hats@hats.example")

    assert origin(shop) == ("Hats", "hats@hats.example", "")


def test_reply_address_of_the_account_goes_first(shop, names):
    set_sender(shop, "hats@hats.example")
    with shop.scope():
        change_settings(changes={"commerce.email.reply_to": "help@hats.example"})

    assert origin(shop) == ("Hats", "shop@localhost", "help@hats.example")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Hats\r\nBcc: all@example.com", "Hats Bcc: all example.com"),
        ("service@bank.example", "service bank.example"),
        ("service\uff20bank.example \ufe6b", "service bank.example"),
        ("=?utf-8?q?service=40bank=2Eexample?=", "= ?utf-8?q?service=40bank=2Eexample?="),
        ("==?=?utf-8?q?a=40b?=", "== ?= ?utf-8?q?a=40b?="),
        ("Hats\u202e\u2066", "Hats"),
        ("Žižkov & Co, Hats", "Žižkov & Co, Hats"),
    ],
)
def test_name_of_a_shop_is_one_line_and_no_address(shop, names, name, expected):
    set_sender(shop, "hats@hats.example", name=name)
    unverified = origin(shop)
    set_sender(shop, None, name=name)

    assert unverified == (expected, "shop@localhost", "hats@hats.example")
    assert origin(shop) == (expected, "shop@localhost", "")


def test_message_stored_under_an_own_provider_does_not_leave_as_anybody_through_ours(
    shop, names, renderer, mail_dir, enqueue_email
):
    """Its sender's address is one that only the account's own provider may use."""
    set_sender(shop, "ceo@bank.example")
    with shop.scope():
        change_settings(changes={"commerce.email.provider": "resend", "commerce.email.api_key": ""})
    enqueue_email(shop)
    run_due()
    with shop.scope():
        assert OutboxDispatch.objects.get().message["from_email"] == "ceo@bank.example"
        change_settings(changes={"commerce.email.provider": None, "commerce.email.api_key": None})
        OutboxDispatch.objects.update(due_at=timezone.now())

    run_due()

    (path,) = mail_dir.glob("*.eml")
    mail = message_from_bytes(path.read_bytes(), policy=policy.default)
    assert mail["From"].addresses[0].addr_spec == "shop@localhost"
    assert mail["Reply-To"] == "ceo@bank.example"


@pytest.mark.parametrize(
    ("email", "domain"),
    [
        ("a@Hats.Example", "hats.example"),
        ("a@žižkov.example", "xn--ikov-kbbb.example"),
        ("a@ŽIŽKOV.example", "xn--ikov-kbbb.example"),
        ("", None),
        (f"a@{'x' * 64}.example", None),
    ],
)
def test_domain_of_an_address_is_as_dns_has_it(email, domain):
    assert read_domain(email) == domain


@pytest.mark.parametrize("domain", ["[127.0.0.1]", "a..example", "x" * 250 + ".example", "x" * 64])
def test_name_that_cannot_be_has_no_record(names, domain):
    assert records.look_up_txt(f"_commerce.{domain}") == []


def test_head_is_answered_like_get_from_the_first_request_on(shop, names):
    set_sender(shop, "hats@hats.example")
    # DRF adds HEAD to a view's actions as it serves the first request.
    resolve(f"{ADMIN_ROOT}accounts/{shop.handle}/sender_domain.json").func.actions.pop("head", None)

    response = shop.workspace.send("HEAD", f"accounts/{shop.handle}/sender_domain.json", b"")

    assert (response.status_code, response.content) == (200, b"")


def test_account_without_an_address_has_no_domain(shop):
    response = shop.workspace.get(f"accounts/{shop.handle}/sender_domain.json")

    assert problem(response) == (409, "email_from_missing")


def test_domain_of_another_workspaces_account_is_not_found(shop, other_shop, names):
    set_sender(other_shop, "hats@hats.example")
    path = f"accounts/{other_shop.handle}/sender_domain"

    assert problem(shop.workspace.get(f"{path}.json")) == (404, "not_found")
    assert problem(shop.workspace.post(f"{path}/verify.json")) == (404, "not_found")
    assert problem(other_shop.admin.get(f"{path}.json"))[0] in {403, 404}
    with other_shop.scope():
        assert not SenderDomain.objects.exists()
