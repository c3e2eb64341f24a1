"""Forgotten passwords: a link by email, and the same answer for everybody."""

import re
from types import SimpleNamespace

import pytest
from celery import current_app
from django.test import Client

from accounts.models import User
from accounts.operations import passwords
from accounts.operations.passwords import make_reset_link
from commerce.attempts import Limit
from config.celery import app
from emails.tasks import send_password_reset
from tests.backoffice.clients import StaffClient, make_user
from tests.servers import closed_port

ASK = "/backoffice/password-reset/"
NEW = {"new_password1": "battery staple", "new_password2": "battery staple"}


@pytest.fixture
def queued(monkeypatch):
    """The tasks that were sent to the broker."""
    sent = []

    def note(name, **options):
        sent.append(SimpleNamespace(name=name, kwargs=options["kwargs"]))

    monkeypatch.setattr(current_app._get_current_object(), "send_task", note)
    return sent


def ask(email, *, address="192.0.2.1"):
    return Client(REMOTE_ADDR=address).post(ASK, {"email": email})


def links_in(folder):
    texts = "".join(path.read_text() for path in sorted(folder.glob("*.html")))
    return sorted(set(re.findall(r"/backoffice/password-reset/\w+/[\w-]+/", texts)))


def path_of(user):
    return make_reset_link(user).removeprefix("http://127.0.0.1:8000")


@pytest.mark.django_db
def test_log_in_page_links_to_it():
    page = Client().get("/backoffice/login/").content.decode()

    assert f'href="{ASK}"' in page
    assert Client().get(ASK).status_code == 200


@pytest.mark.django_db
def test_answer_and_work_are_the_same_for_unknown_addresses(queued, django_assert_num_queries):
    make_user(username="bea", email="bea@example.com")
    answers = []
    for email in ("bea@example.com", "nobody@example.com"):
        with django_assert_num_queries(0):
            answer = ask(email)
        answers.append((answer.status_code, answer["Location"]))

    assert answers == [(302, f"{ASK}sent/")] * 2
    assert [(task.name, task.kwargs["email"]) for task in queued] == [
        ("emails.tasks.send_password_reset", "bea@example.com"),
        ("emails.tasks.send_password_reset", "nobody@example.com"),
    ]
    assert "mailbox" in Client().get(f"{ASK}sent/").content.decode()


@pytest.mark.django_db
def test_task_of_this_name_is_known_to_the_worker():
    app.loader.import_default_modules()

    assert app.tasks[passwords.SEND_PASSWORD_RESET].name == send_password_reset.name


@pytest.mark.django_db
def test_link_sets_the_password_once_and_ends_all_sessions(mail_dir):
    user = make_user(username="bea", email="Bea@example.com", password="correct horse")
    elsewhere = StaffClient(user)
    send_password_reset(email="bea@EXAMPLE.com", request_id="1")
    (link,) = links_in(mail_dir)
    browser = Client()

    page = browser.get(link, follow=True)
    saved = browser.post(page.redirect_chain[-1][0], NEW)

    assert saved["Location"] == f"{ASK}done/"
    assert User.objects.get(pk=user.pk).check_password("battery staple")
    assert elsewhere.get("account/")["Location"].startswith("/backoffice/login/")
    assert "_auth_user_id" not in browser.session
    late = Client().get(link, follow=True)
    assert "This link has ended" in late.content.decode()


@pytest.mark.django_db
def test_message_goes_to_everybody_with_the_address_and_repeats_nothing(mail_dir):
    people = [make_user(username=name, email="team@example.com") for name in ("ann", "bea")]
    make_user(username="eva", email="other@example.com")
    make_user(username="gone", email="team@example.com", is_active=False)
    make_user(username="shopper", email="team@example.com", is_staff=False)

    for _ in range(2):
        send_password_reset(email="team@example.com", request_id="1")

    assert len(list(mail_dir.glob("*.eml"))) == len(people)
    texts = "".join(path.read_text() for path in mail_dir.glob("*.html"))
    assert ("ann." in texts, "bea." in texts, "eva" in texts) == (True, True, False)


@pytest.mark.django_db
def test_nobody_is_written_to_at_an_unknown_address(mail_dir):
    send_password_reset(email="nobody@example.com", request_id="1")

    assert not mail_dir.exists()


@pytest.mark.parametrize(
    "fields",
    [
        {"new_password1": "short", "new_password2": "short"},
        {"new_password1": "battery staple", "new_password2": "other staple"},
    ],
)
@pytest.mark.django_db
def test_bad_password_is_refused(fields):
    user = make_user(username="bea", email="bea@example.com", password="correct horse")
    browser = Client()
    page = browser.get(path_of(user), follow=True)

    refused = browser.post(page.redirect_chain[-1][0], fields)

    assert refused.status_code == 200
    assert list(refused.context["form"].errors) == ["new_password2"]
    assert User.objects.get(pk=user.pk).check_password("correct horse")


@pytest.mark.parametrize("path", ["x/y/", "MQ/set-password/", "MQ/abc-def/"])
@pytest.mark.django_db
def test_unknown_link_says_so(path):
    assert "This link has ended" in Client().get(f"{ASK}{path}").content.decode()


@pytest.mark.django_db
def test_requests_for_an_address_are_limited_alike_for_everybody(queued):
    make_user(username="bea", email="bea@example.com")

    for email in ("bea@example.com", "nobody@example.com"):
        answers = [
            ask(typed, address=f"192.0.2.{i}") for i, typed in enumerate([email] * 3 + [email.upper()])
        ]
        assert [answer.status_code for answer in answers] == [302, 302, 302, 429]
        assert 0 < int(answers[-1]["Retry-After"]) <= 3600
    assert len(queued) == 6


@pytest.mark.django_db
def test_requests_from_an_address_are_limited(queued, monkeypatch):
    monkeypatch.setattr(passwords, "_PER_ADDRESS", Limit(2, 3600))

    answers = [ask(f"bea{i}@example.com") for i in range(3)] + [ask("eva@example.com", address="192.0.2.9")]

    assert [answer.status_code for answer in answers] == [302, 302, 429, 302]


@pytest.mark.django_db
def test_missing_broker_is_told(monkeypatch):
    monkeypatch.setitem(app.conf, "broker_url", f"redis://127.0.0.1:{closed_port()}")
    with app.connection_for_write(url=f"redis://127.0.0.1:{closed_port()}") as unreachable:
        send = app.send_task
        monkeypatch.setattr(
            current_app._get_current_object(),
            "send_task",
            lambda *args, **options: send(*args, **options, connection=unreachable),
        )
        answer = ask("bea@example.com")

    assert answer.status_code == 503
    assert "can&#x27;t be sent" in answer.content.decode()


@pytest.mark.django_db
def test_password_change_ends_other_sessions(shop, owner):
    owner.user.set_password("correct horse")
    owner.user.save()
    here, elsewhere = StaffClient(owner.user), StaffClient(owner.user)

    here.post("password_change/", {"old_password": "correct horse"} | NEW)

    assert here.get("account/").status_code == 200
    assert elsewhere.get("account/")["Location"].startswith("/backoffice/login/")
