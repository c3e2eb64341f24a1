"""The second step of the log-in: apps, recovery codes, and who needs it."""

import time

import pytest
from django.test import Client
from django_otp.oath import TOTP
from django_otp.plugins.otp_static.models import StaticDevice, StaticToken
from django_otp.plugins.otp_totp.models import TOTPDevice

from accounts.backoffice import second_step
from accounts.models import User
from accounts.operations import two_factor
from accounts.operations.two_factor import check_code, make_recovery_codes
from commerce.attempts import Limit
from tests.backoffice.clients import StaffClient, make_staff, make_user
from tests.threads import run_threads

STEP, SECURITY, LOGIN = "second-step/", "security/", "/backoffice/login/"
PASSWORD = "correct horse"


def code_of(device, *, steps=0):
    """Return the code that an app shows, some steps of 30 seconds later."""
    totp = TOTP(device.bin_key, device.step, device.t0, device.digits)
    totp.time = time.time() + steps * device.step
    return f"{totp.token():06d}"


def make_app(user):
    """Give a user an app, as if it had been set up long ago."""
    device = TOTPDevice.objects.create(user=user, name="Phone", confirmed=True)
    User.objects.filter(pk=user.pk).update(has_second_step=True)
    return device


def confirm(client, password=PASSWORD):
    return client.post(SECURITY, {"action": "confirm", "password": password})


def allow_next_attempt(device):
    """django-otp makes the next attempt after a wrong one wait."""
    device.refresh_from_db()
    device.throttle_reset()


@pytest.fixture
def ann(shop):
    """An owner with a password and no second step."""
    client = make_staff(shop)
    client.user.set_password(PASSWORD)
    client.user.save()
    client.browser.force_login(client.user)
    client.choose(shop)
    return client


@pytest.fixture
def phone(ann):
    return make_app(ann.user)


def location(answer):
    return answer["Location"].partition("?")[0]


def test_app_is_set_up_with_the_password_and_a_code(ann):
    assert confirm(ann)["Location"] == "/backoffice/security/"
    ann.post(SECURITY, {"action": "begin_app", "name": "Phone"})
    page = ann.get(SECURITY)
    begun = TOTPDevice.objects.get()
    wrong = ann.post(SECURITY, {"action": "confirm_app", "code": "000000"})
    allow_next_attempt(begun)

    done = ann.post(SECURITY, {"action": "confirm_app", "code": code_of(begun)})

    assert page.context["qr_code"].startswith("data:image/svg+xml")
    assert wrong.context["code_form"].errors.keys() == {"code"}
    codes = done.context["codes"]
    assert (len(codes), len(set(codes))) == (10, 10)
    assert all(code in done.content.decode() for code in codes)
    assert TOTPDevice.objects.get().confirmed
    assert User.objects.get(pk=ann.user.pk).has_second_step
    # The session in which it was set up goes on.
    assert ann.get().status_code == 200
    assert ann.get(SECURITY).context["codes"] is None


def test_nothing_changes_without_the_password(ann, phone):
    ann.browser.post("/backoffice/second-step/", {"code": code_of(phone)})

    for fields in (
        {"action": "begin_app", "name": "Other"},
        {"action": "remove_app", "device": phone.pk},
        {"action": "new_codes"},
    ):
        ann.post(SECURITY, fields)

    assert [device.pk for device in TOTPDevice.objects.all()] == [phone.pk]
    assert not StaticDevice.objects.exists()


def test_wrong_passwords_are_limited_like_log_ins(ann):
    answers = [confirm(ann, "wrong") for _ in range(6)]

    assert [answer.status_code for answer in answers] == [200] * 5 + [429]
    assert 0 < int(answers[-1]["Retry-After"]) <= 900


def test_log_in_needs_the_code(shop, ann, phone):
    browser = Client()
    logged_in = browser.post(LOGIN, {"username": ann.user.username, "password": PASSWORD}, follow=True)
    before = [browser.get(f"/backoffice/{path}") for path in ("", "catalog/product/", "account/", SECURITY)]
    posted = browser.post("/backoffice/account/", {"account_id": shop.id})

    wrong = browser.post(f"/backoffice/{STEP}", {"code": "000000"})
    allow_next_attempt(phone)
    key = browser.session.session_key
    right = browser.post(f"/backoffice/{STEP}?next=/backoffice/catalog/product/", {"code": code_of(phone)})

    assert location({"Location": logged_in.redirect_chain[-1][0]}) == "/backoffice/second-step/"
    assert {location(answer) for answer in [*before, posted]} == {"/backoffice/second-step/"}
    assert wrong.context["form"].errors.keys() == {"code"}
    assert right["Location"] == "/backoffice/catalog/product/"
    assert browser.session.session_key != key
    assert browser.get("/backoffice/catalog/product/").status_code == 200


@pytest.mark.parametrize("target", ["https://evil.example/", "//evil.example/", "javascript:alert(1)"])
def test_code_leads_to_no_other_site(ann, phone, target):
    answer = ann.browser.post(f"/backoffice/{STEP}?next={target}", {"code": code_of(phone)})

    assert answer["Location"] == "/backoffice/"


def test_code_works_once(ann, phone):
    code = code_of(phone)

    assert check_code(user=ann.user, typed=code) == phone
    assert check_code(user=ann.user, typed=code) is None


@pytest.mark.django_db(transaction=True)
def test_code_sent_by_four_at_once_works_once():
    user = make_user()
    device = make_app(user)
    code = code_of(device)

    found = run_threads(4, lambda _: check_code(user=user, typed=code))

    assert sorted(one is not None for one in found) == [False, False, False, True]


@pytest.mark.django_db(transaction=True)
def test_recovery_code_sent_by_four_at_once_works_once():
    user = make_user()
    code = make_recovery_codes(user=user)[0]

    found = run_threads(4, lambda _: check_code(user=user, typed=code))

    assert sorted(one is not None for one in found) == [False, False, False, True]


def test_old_code_is_refused(ann, phone):
    assert check_code(user=ann.user, typed=code_of(phone, steps=-3)) is None


def test_recovery_code_opens_once_and_is_stored_as_a_hash(ann, phone):
    first, second, *_ = make_recovery_codes(user=ann.user)
    stored = set(StaticToken.objects.values_list("token", flat=True))

    opened = ann.browser.post(f"/backoffice/{STEP}", {"code": f" {first.upper()} "})

    assert opened["Location"] == "/backoffice/"
    assert {first, first.replace("-", "")} & stored == set()
    assert check_code(user=ann.user, typed=first) is None
    allow_next_attempt(StaticDevice.objects.get())
    assert check_code(user=ann.user, typed=second) is not None
    assert two_factor.count_recovery_codes(ann.user) == 8


def test_code_of_somebody_else_is_refused(ann, phone):
    other = make_user()
    code, recovery = code_of(make_app(other)), make_recovery_codes(user=other)[0]

    assert [check_code(user=ann.user, typed=typed) for typed in (code, recovery)] == [None, None]


def test_wrong_codes_of_a_person_are_limited(ann, phone, monkeypatch):
    monkeypatch.setattr(second_step, "PER_PERSON", Limit(3, 900))
    browsers = [ann.browser, StaffClient(ann.user, REMOTE_ADDR="192.0.2.9").browser]

    answers = [browsers[i % 2].post(f"/backoffice/{STEP}", {"code": "000000"}) for i in range(4)]
    allow_next_attempt(phone)
    refused = ann.browser.post(f"/backoffice/{STEP}", {"code": code_of(phone)})

    assert [answer.status_code for answer in answers] == [200, 200, 200, 429]
    assert refused.status_code == 429
    assert 0 < int(refused["Retry-After"]) <= 900


def test_wrong_code_makes_the_next_one_wait_without_redis_too(ann, phone):
    assert check_code(user=ann.user, typed="000000") is None
    assert check_code(user=ann.user, typed=code_of(phone)) is None
    allow_next_attempt(phone)
    assert check_code(user=ann.user, typed=code_of(phone)) == phone


def test_removing_the_last_device_removes_the_codes(ann, phone):
    make_recovery_codes(user=ann.user)
    ann.browser.post(f"/backoffice/{STEP}", {"code": code_of(phone)})
    confirm(ann)

    ann.post(SECURITY, {"action": "remove_app", "device": phone.pk})

    assert not TOTPDevice.objects.exists()
    assert not StaticDevice.objects.exists()
    assert not User.objects.get(pk=ann.user.pk).has_second_step
    assert ann.get().status_code == 200


def test_device_of_somebody_else_stays(ann):
    other = make_app(make_user())
    confirm(ann)

    ann.post(SECURITY, {"action": "remove_app", "device": other.pk})

    assert TOTPDevice.objects.filter(pk=other.pk).exists()


def test_new_recovery_codes_end_the_earlier_ones(ann, phone):
    earlier = make_recovery_codes(user=ann.user)[0]
    ann.browser.post(f"/backoffice/{STEP}", {"code": code_of(phone)})
    confirm(ann)

    shown = ann.post(SECURITY, {"action": "new_codes"}).context["codes"]

    assert check_code(user=ann.user, typed=earlier) is None
    allow_next_attempt(StaticDevice.objects.get())
    assert check_code(user=ann.user, typed=shown[0]) is not None


@pytest.mark.parametrize("is_superuser", [False, True])
def test_second_step_can_be_required_of_everybody(shop, settings, is_superuser):
    settings.STAFF_TWO_FACTOR = "required"
    client = make_staff(shop)
    User.objects.filter(pk=client.user.pk).update(is_superuser=is_superuser)

    answers = [client.get(path) for path in ("", "catalog/product/", "account/")]
    page = client.get(SECURITY)

    assert {location(answer) for answer in answers} == {"/backoffice/security/"}
    assert "needs a second step at log-in" in page.content.decode()


def test_whoever_sets_one_up_when_required_may_go_on(settings, ann):
    settings.STAFF_TWO_FACTOR = "required"
    confirm(ann)
    ann.post(SECURITY, {"action": "begin_app", "name": "Phone"})
    ann.post(SECURITY, {"action": "confirm_app", "code": code_of(TOTPDevice.objects.get())})

    assert ann.get().status_code == 200


def test_removed_device_ends_what_its_sessions_may_do(ann, phone):
    other = make_app(ann.user)
    ann.browser.post(f"/backoffice/{STEP}", {"code": code_of(phone)})
    assert ann.get().status_code == 200

    two_factor.remove_device(user=ann.user, kind="app", device_id=phone.pk)

    assert location(ann.get()) == "/backoffice/second-step/"
    assert TOTPDevice.objects.get() == other


def test_session_without_a_second_step_asks_the_database_nothing_more(ann, django_assert_num_queries):
    ann.get("account/")

    with django_assert_num_queries(3):
        # The session, the user and the shops.
        ann.get("account/")


def test_secrets_are_on_no_page(operator, phone):
    for model in ("otp_totp/totpdevice", "otp_static/staticdevice", "otp_webauthn/webauthncredential"):
        assert operator.get(f"{model}/").status_code == 404
    page = operator.get(f"accounts/user/{phone.user_id}/change/").content.decode()
    assert phone.key not in page


@pytest.mark.django_db
@pytest.mark.parametrize("path", [STEP, SECURITY])
def test_pages_need_a_log_in(path):
    assert location(Client().get(f"/backoffice/{path}")) == "/backoffice/login/"


def test_passkey_needs_the_password(ann):
    begin = "/backoffice/passkeys/registration/begin/"
    refused = ann.browser.post(begin, content_type="application/json")
    confirm(ann)
    allowed = ann.browser.post(begin, content_type="application/json")

    assert (refused.status_code, refused.json()["code"]) == (403, "password_not_confirmed")
    assert (allowed.status_code, allowed.json()["rp"]["id"]) == (200, "localhost")


def test_passkey_is_added_by_nobody_who_has_not_taken_the_second_step(ann, phone):
    session = ann.browser.session
    session["password_confirmed_at"] = time.time()
    session.save()

    answer = ann.browser.post("/backoffice/passkeys/registration/begin/", content_type="application/json")

    assert answer.status_code == 403


@pytest.mark.django_db
def test_passkey_alone_logs_nobody_in():
    answer = Client().post("/backoffice/passkeys/authentication/begin/", content_type="application/json")

    assert answer.status_code == 403
