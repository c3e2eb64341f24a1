"""Where an installation runs: its hosts, its security, its files, and the services that it calls."""

from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import environ
from django.core.exceptions import ImproperlyConfigured

from .environment import BASE_DIR, BASE_URL, DATA_DIR, DEBUG, IS_HTTPS, env

SECRET_KEY = env.str("SECRET_KEY", default="only-for-debugging" if DEBUG else environ.Env.NOTSET).strip()
ALLOWED_HOSTS = env.list("ALLOWED_HOSTS", default=["localhost", "127.0.0.1"])
BEHIND_TLS_PROXY = env.bool("BEHIND_TLS_PROXY", default=False)

PASSWORD_HASHERS = ["django.contrib.auth.hashers.ScryptPasswordHasher"]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator"},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
# For how many seconds the link in an email for choosing a new password works.
PASSWORD_RESET_TIMEOUT = env.int("PASSWORD_RESET_TIMEOUT", default=3600)
# Whether everybody needs a second step at log-in, operators too, or only those who have set one up.
STAFF_TWO_FACTOR = env.str("STAFF_TWO_FACTOR", default="optional")
if STAFF_TWO_FACTOR not in {"optional", "required"}:
    raise ImproperlyConfigured("STAFF_TWO_FACTOR must be optional or required.")
_address = urlsplit(BASE_URL)
# The name that authenticator apps show beside the code.
OTP_TOTP_ISSUER = _address.hostname or "Back office"
# Passkeys belong to the host name: browsers offer them nowhere else, and only with TLS or on the same machine.
_is_this_machine = _address.hostname in {"127.0.0.1", "localhost"}
OTP_WEBAUTHN_RP_ID = "localhost" if _is_this_machine else _address.hostname or "localhost"
OTP_WEBAUTHN_RP_NAME = "Back office"
OTP_WEBAUTHN_ALLOWED_ORIGINS = [BASE_URL] if IS_HTTPS else []
if _is_this_machine and not IS_HTTPS:
    OTP_WEBAUTHN_ALLOWED_ORIGINS = [f"http://localhost:{_address.port or 80}"]
# They are a second step here, and don't replace the password.
OTP_WEBAUTHN_ALLOW_PASSWORDLESS_LOGIN = False
SESSION_ENGINE = "accounts.sessions"
SESSION_COOKIE_NAME = "backoffice"
# Browsers don't send it to the APIs and the demo shop, which may be at the same host.
SESSION_COOKIE_PATH = "/backoffice/"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = IS_HTTPS
CSRF_TRUSTED_ORIGINS = env.list("CSRF_TRUSTED_ORIGINS", default=[BASE_URL])
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if BEHIND_TLS_PROXY else None
# Without the proxy's header, every request would look unencrypted and be redirected forever.
SECURE_SSL_REDIRECT = IS_HTTPS and BEHIND_TLS_PROXY
# Called from the internal network, without the proxy.
SECURE_REDIRECT_EXEMPT = [r"^healthz$", r"^readyz$", r"^metrics$"]
SECURE_HSTS_SECONDS = env.int("HSTS_SECONDS", default=31_536_000 if IS_HTTPS else 0)
SILENCED_SYSTEM_CHECKS = [
    "security.W003",  # CSRF protection is active, but only for the back office.
    # HSTS for subdomains, and in browsers' preload lists, is for the owner of the domain to decide.
    "security.W005",
    "security.W021",
    # No passkeys without TLS: the page for adding one doesn't offer them then.
    "otp_webauthn.E030",
]
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"

STATIC_URL = "/static/"
STATIC_ROOT = Path(env.str("STATIC_ROOT", default=str(DATA_DIR / "static")))
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "whitenoise.storage.CompressedStaticFilesStorage"},
}

# The documentation's site, at /docs/guide/ if `make docs` has built it before the web starts.
_SITE = BASE_DIR / ".site"
WHITENOISE_ROOT = _SITE if _SITE.is_dir() else None
WHITENOISE_INDEX_FILE = True

# Where processes store their counts, and the bearer token for reading them from other machines.
METRICS_DIR = Path(env.str("METRICS_DIR", default=str(DATA_DIR / "metrics")))
METRICS_TOKEN = env.str("METRICS_TOKEN", default="").strip()

LOGGING: dict[str, Any] = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"json": {"()": "commerce.rest.logs.JSONFormatter"}},
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "json"}},
    "root": {"handlers": ["stderr"], "level": env.str("LOG_LEVEL", default="INFO")},
    "loggers": {
        # A refusal is a normal answer and isn't logged.
        "django.request": {"level": "ERROR"},
        "django.security": {"level": "CRITICAL"},
        "django.security.csrf": {"level": "WARNING"},
        # At INFO it logs every call.
        "stripe": {"level": "WARNING"},
        # They would log a line for every poll.
        "celery.app.trace": {"level": "WARNING"},
        "celery.beat": {"level": "WARNING"},
        "celery.worker.strategy": {"level": "WARNING"},
    },
}

RENDERER_URL = env.str("RENDERER_URL", default="http://127.0.0.1:8025").rstrip("/")
DEFAULT_FROM_EMAIL = env.str("DEFAULT_FROM_EMAIL", default="shop@localhost")
# Anymail settings of the whole installation, such as the API address of a provider's other region.
ANYMAIL = env.dict("ANYMAIL", default={})
# Whether accounts may send from any address through the installation's provider. Otherwise they verify its domain.
EMAIL_TRUST_SENDER_DOMAINS = env.bool("EMAIL_TRUST_SENDER_DOMAINS", default=False)
# Whether unsigned events of the email provider are accepted if no secret is set. Anyone who knows a message's id can
# then forge them.
EMAIL_WEBHOOK_ALLOW_UNSIGNED = env.bool("EMAIL_WEBHOOK_ALLOW_UNSIGNED", default=False)
# Name servers for verifying domains, such as 192.0.2.1 or 192.0.2.1:5353; by default the machine's.
DNS_SERVERS = env.list("DNS_SERVERS", default=[])
MAIL_DIR = Path(env.str("MAIL_DIR", default=str(DATA_DIR / "mail")))

# The demo page exists only if this names the file that `seed_demo` has written.
DEMO_SEED = env.str("DEMO_SEED", default="")

VIES_URL = env.str("VIES_URL", default="https://ec.europa.eu/taxation_customs/vies/rest-api").rstrip("/")
STRIPE_API_BASE = env.str("STRIPE_API_BASE", default="https://api.stripe.com").rstrip("/")

# Merchants configure where webhooks and mail go. Private addresses belong to our own network.
OUTSIDE_ALLOW_PRIVATE = env.bool("OUTSIDE_ALLOW_PRIVATE", default=False)
