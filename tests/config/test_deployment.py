"""An installation behind a proxy that ends TLS, with the settings that docs/operations.md names."""

import os
import re
import subprocess
import sys

import pytest
from django.conf import settings
from django.test import Client

from config.stack.programs import CONNECTION_OPTIONS

PRODUCTION = {
    "BASE_URL": "https://shop.example",
    "BEHIND_TLS_PROXY": "true",
    "ALLOWED_HOSTS": "shop.example",
    "SECRET_KEY": "sGm0r3tH4nFiftyCh4ract3rs0fRand0mL00kingT3xt-xyzABC98765",
}
NAMES = (
    "SESSION_COOKIE_SECURE",
    "SESSION_COOKIE_HTTPONLY",
    "CSRF_COOKIE_SECURE",
    "SECURE_SSL_REDIRECT",
    "SECURE_HSTS_SECONDS",
)


def run(*command, **environment):
    return subprocess.run(
        [sys.executable, *command],
        check=False,
        env=os.environ | environment,
        cwd=settings.BASE_DIR,
        capture_output=True,
        text=True,
    )


def settings_with(**environment):
    script = f"from django.conf import settings; print([getattr(settings, name) for name in {NAMES}])"
    return run("-c", script, DJANGO_SETTINGS_MODULE="config.settings", **environment).stdout.strip()


@pytest.mark.parametrize("place", ["Dockerfile", "docs/operations.md"])
def test_web_server_takes_connections_everywhere_alike(place):
    text = (settings.BASE_DIR / place).read_text()
    words = re.findall(r"[^\s\",\\\[\]|`]+", text)

    options = list(CONNECTION_OPTIONS)

    assert any(words[start : start + len(options)] == options for start in range(len(words)))


def test_schedule_runs_by_itself_wherever_the_stack_is_described():
    for place in ("compose.yaml", "config/stack/programs.py"):
        assert "--beat" not in (settings.BASE_DIR / place).read_text()
    services = (settings.BASE_DIR / "compose.yaml").read_text()
    assert (
        "command: [celery, --app=config, beat, --schedule=/tmp/celerybeat-schedule, --pidfile=]" in services
    )


@pytest.fixture
def production(settings):
    settings.SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    settings.SECURE_SSL_REDIRECT = True
    settings.SECURE_HSTS_SECONDS = 31_536_000


def test_deployment_check_finds_nothing():
    done = run("manage.py", "check", "--deploy", "--fail-level", "WARNING", **PRODUCTION)

    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("environment", "found"),
    [
        ({"EMAIL_WEBHOOK_ALLOW_UNSIGNED": "true"}, "emails.E001"),
        ({"COMMERCE_EMAIL_PROVIDER": "resend"}, "emails.W001"),
        (
            {
                "COMMERCE_EMAIL_PROVIDER": "resend",
                "COMMERCE_EMAIL_PROVIDER_WEBHOOK_SECRET": "whsec_c2VjcmV0",
                "EMAIL_TRUST_SENDER_DOMAINS": "true",
            },
            "emails.W002",
        ),
    ],
)
def test_deployment_check_names_what_strangers_could_use(environment, found):
    done = run("manage.py", "check", "--deploy", "--fail-level", "WARNING", **PRODUCTION, **environment)

    assert done.returncode == 1
    assert done.stderr.count("(emails.") == 1
    assert found in done.stderr


def test_cookies_are_secure_in_production():
    assert settings_with(**PRODUCTION) == "[True, True, True, True, 31536000]"


def test_nothing_asks_for_tls_where_there_is_none():
    assert settings_with(BASE_URL="http://127.0.0.1:8000") == "[False, True, False, False, 0]"


def test_requests_are_redirected_only_where_a_proxy_says_how_they_came():
    assert settings_with(BASE_URL="https://shop.example") == "[True, True, True, False, 31536000]"


def test_browsers_are_told_to_come_by_tls(production):
    redirected = Client().get("/openapi.json")
    answered = Client(headers={"X-Forwarded-Proto": "https"}).get("/openapi.json")

    assert (redirected.status_code, redirected["Location"]) == (301, "https://testserver/openapi.json")
    assert answered.status_code == 200
    assert answered["Strict-Transport-Security"] == "max-age=31536000"


@pytest.mark.django_db
@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/metrics"])
def test_probes_from_within_need_no_tls(production, path):
    assert Client().get(path).status_code == 200


@pytest.mark.django_db
@pytest.mark.parametrize("path", ["/docs/", "/backoffice/login/"])
def test_pages_fetch_nothing_from_elsewhere_and_stand_in_no_frame(path):
    answer = Client().get(path)

    policy = answer["Content-Security-Policy"]
    assert answer.status_code == 200
    assert policy.startswith("default-src 'self';")
    assert policy.endswith("frame-ancestors 'none'")
    assert answer["X-Frame-Options"] == "DENY"
    assert answer["Referrer-Policy"] == "same-origin"
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert "http:" not in policy
    assert "https:" not in policy


def test_docs_run_no_script_of_the_page_itself():
    page = Client().get("/docs/")

    assert "script-src" not in page["Content-Security-Policy"]
    assert page.content.count(b"<script>") == 0
    assert b'src="/docs/?script="' in page.content
    assert Client().get("/docs/?script=")["Content-Type"] == "application/javascript"
