"""One settings module. Everything that differs between installations is read from the environment, typed."""

from pathlib import Path

import environ
from django.core.exceptions import ImproperlyConfigured

from config import versions

BASE_DIR = Path(__file__).resolve().parent.parent

env = environ.FileAwareEnv()

DEBUG = env.bool("DEBUG", default=False)
SECRET_KEY = env.str("SECRET_KEY", default="only-for-debugging" if DEBUG else environ.Env.NOTSET).strip()
ALLOWED_HOSTS = env.list("ALLOWED_HOSTS", default=["localhost", "127.0.0.1"])
BASE_URL = env.str("BASE_URL", default="http://127.0.0.1:8000").rstrip("/")
IS_HTTPS = BASE_URL.startswith("https://")
BEHIND_TLS_PROXY = env.bool("BEHIND_TLS_PROXY", default=False)
DATA_DIR = Path(env.str("DATA_DIR", default=str(BASE_DIR / ".data")))

API_VERSIONS = versions.API_VERSIONS

INSTALLED_APPS = [
    "unfold.apps.BasicAppConfig",
    "accounts.backoffice.apps.BackOfficeAdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.postgres",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "commerce.tenancy",
    "commerce.loops",
    "commerce.rest",
    "commerce.backoffice",
    "commerce.configuration",
    "commerce.outbox",
    "commerce.events",
    "commerce.webhooks",
    "commerce.catalog",
    "commerce.customers",
    "commerce.taxes",
    "commerce.inventory",
    "commerce.payments",
    "commerce.orders",
    "accounts",
    "shipping",
    "discounts",
    "carts",
    "checkouts",
    "emails",
    "config.front",
    "config.demo",
]

MIDDLEWARE = [
    "commerce.rest.middleware.MetricsMiddleware",
    "commerce.rest.middleware.RequestIdMiddleware",
    "commerce.rest.cors.CorsMiddleware",
    "config.front.middleware.RefusedBodies",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "accounts.backoffice.middleware.ContentPolicy",
    "accounts.backoffice.middleware.Sessions",
    "accounts.backoffice.middleware.Csrf",
    "accounts.backoffice.middleware.Authentication",
    "accounts.backoffice.middleware.Messages",
    "accounts.api.middleware.AccountScopeMiddleware",
]

ROOT_URLCONF = "config.urls"
# The apps whose `api.urls` lists URLs of a surface, as `admin` or `storefront`.
ADMIN_API_APPS = [
    "accounts",
    "commerce.configuration",
    "commerce.events",
    "commerce.webhooks",
    "commerce.outbox",
    "commerce.catalog",
    "commerce.customers",
    "commerce.taxes",
    "commerce.inventory",
    "commerce.orders",
    "shipping",
    "discounts",
    "checkouts",
    "emails",
]
# The busiest come first, since Django tries patterns in order.
STOREFRONT_API_APPS = ["carts", "checkouts", "commerce.catalog", "shipping", "accounts", "commerce.orders"]
WSGI_APPLICATION = "config.wsgi.application"
APPEND_SLASH = False
AUTH_USER_MODEL = "accounts.User"
LOGIN_URL = "admin:login"
LOGIN_REDIRECT_URL = "admin:index"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    },
]
# Forms get texts with plain newlines.
FORM_RENDERER = "commerce.backoffice.texts.Renderer"
# Each contains one folder per kind of email. The shared layout is in the first.
EMAIL_FOLDERS = [BASE_DIR / "templates" / "emails"]
# The types of discounts, in the order in which the back office offers them.
DISCOUNT_MECHANICS = [
    "discounts.mechanics.discount_code.DiscountCode",
    "discounts.mechanics.automatic_discount.AutomaticDiscount",
    "discounts.mechanics.gift_card.GiftCard",
    "discounts.mechanics.buy_x_get_y.BuyXGetY",
    "discounts.mechanics.bulk_pricing.BulkPricing",
    "discounts.mechanics.shipping_discount.ShippingDiscount",
]


# In seconds; 0 means no limit. Unset, the database role's own limit applies (config/stack/roles.py).
_DATABASE_TIMEOUTS = {
    "statement_timeout": env.int("DATABASE_STATEMENT_TIMEOUT_S", default=None),
    "transaction_timeout": env.int("DATABASE_TRANSACTION_TIMEOUT_S", default=None),
    "lock_timeout": env.int("DATABASE_LOCK_TIMEOUT_S", default=None),
    "idle_in_transaction_session_timeout": env.int("DATABASE_IDLE_TIMEOUT_S", default=None),
}


def _database(name: str, *, pool_size: int) -> dict[str, object]:
    config = env.db_url(name)
    if config["ENGINE"] != "django.db.backends.postgresql":
        raise ImproperlyConfigured(f"{name} must be a postgres:// URL.")
    options = config.setdefault("OPTIONS", {})
    # Prepared statements: planning costs more than running the short queries of a request.
    options |= {"server_side_binding": True, "prepare_threshold": 2}
    # A server that vanished silently is noticed within half a minute, and by a new connection within 5 s.
    options |= {"connect_timeout": 5, "keepalives_idle": 10, "keepalives_interval": 5, "keepalives_count": 3}
    options |= {"tcp_user_timeout": 25_000}
    timeouts = [
        f"-c {name}={seconds}s" for name, seconds in _DATABASE_TIMEOUTS.items() if seconds is not None
    ]
    if timeouts:
        options["options"] = " ".join([*filter(None, [options.get("options")]), *timeouts])
    if pool_size:
        options["pool"] = {"min_size": 1, "max_size": pool_size, "timeout": 10}
    return config | {
        "ENGINE": "commerce.tenancy.postgresql",
        "CONN_HEALTH_CHECKS": True,
        "DISABLE_SERVER_SIDE_CURSORS": True,
    }


# The serving role owns nothing and can't bypass row-level security; the owner's connection only migrates.
DATABASES = {
    "default": _database("DATABASE_URL", pool_size=env.int("DATABASE_POOL_SIZE", default=16)),
    "owner": _database("DATABASE_OWNER_URL", pool_size=0) | {"TEST": {"MIRROR": "default"}},
}
DATABASE_ROUTERS = ["commerce.tenancy.roles.OwnerMigrates"]
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

REDIS_URL = env.str("REDIS_URL")

REST_FRAMEWORK = {
    "EXCEPTION_HANDLER": "commerce.rest.exceptions.exception_handler",
    "DEFAULT_SCHEMA_CLASS": "commerce.rest.openapi.SurfaceSchema",
    "UNAUTHENTICATED_USER": None,
    "UNAUTHENTICATED_TOKEN": None,
    "URL_FORMAT_OVERRIDE": None,
}
DATA_UPLOAD_MAX_MEMORY_SIZE = 1024 * 1024

# Concurrent requests of one web process. Requests that wait for outside services come on top (`WEB_CALLS`).
WEB_THREADS = env.int("WEB_THREADS", default=4)

# Requests per minute; 0 means no limit.
RATE_LIMIT_PER_KEY = env.int("RATE_LIMIT_PER_KEY", default=1_200_000)
RATE_LIMIT_PER_ACCOUNT = env.int("RATE_LIMIT_PER_ACCOUNT", default=2_400_000)
RATE_LIMIT_PER_ADDRESS = env.int("RATE_LIMIT_PER_ADDRESS", default=600_000)
RATE_LIMIT_PER_TOKEN = env.int("RATE_LIMIT_PER_TOKEN", default=300_000)
UNKNOWN_KEYS_PER_ADDRESS = env.int("UNKNOWN_KEYS_PER_ADDRESS", default=600)
# Wrong discount and gift card codes in ten minutes; 0 means no limit.
WRONG_CODES_PER_CHECKOUT = env.int("WRONG_CODES_PER_CHECKOUT", default=30)
WRONG_CODES_PER_ADDRESS = env.int("WRONG_CODES_PER_ADDRESS", default=300)
WRONG_CODES_PER_KEY = env.int("WRONG_CODES_PER_KEY", default=300)
# Checkouts created from one cart in an hour; 0 means no limit.
CHECKOUTS_PER_CART = env.int("CHECKOUTS_PER_CART", default=100)

# Where processes store their counts, and the bearer token for reading them from other machines.
METRICS_DIR = Path(env.str("METRICS_DIR", default=str(DATA_DIR / "metrics")))
METRICS_TOKEN = env.str("METRICS_TOKEN", default="").strip()

# How many requests of one process may wait for each kind of outside service. One account may use half of the places.
WEB_CALLS = {
    "payment": env.int("PAYMENT_CALLS_AT_ONCE", default=4),
    "vat": env.int("VAT_CALLS_AT_ONCE", default=2),
    "email": env.int("EMAIL_CALLS_AT_ONCE", default=2),
    "preview": env.int("PREVIEW_CALLS_AT_ONCE", default=2),
    "lookup": env.int("LOOKUP_CALLS_AT_ONCE", default=2),
}
# VAT numbers checked with VIES in ten minutes; 0 means no limit.
VAT_CHECKS_PER_CHECKOUT = env.int("VAT_CHECKS_PER_CHECKOUT", default=10)
VAT_CHECKS_PER_ADDRESS = env.int("VAT_CHECKS_PER_ADDRESS", default=30)

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

# The connectors of the payment methods that accounts may offer (docs/extending.md).
PAYMENT_METHODS = [
    "commerce.payments.connectors.CASH_ON_DELIVERY",
    "commerce.payments.connectors.BANK_TRANSFER",
    "commerce.payments.test_card.connector.TEST_CARD",
    "commerce.payments.stripe.connector.STRIPE",
]
VIES_URL = env.str("VIES_URL", default="https://ec.europa.eu/taxation_customs/vies/rest-api").rstrip("/")
STRIPE_API_BASE = env.str("STRIPE_API_BASE", default="https://api.stripe.com").rstrip("/")

LANGUAGE_CODE = "en"
TIME_ZONE = "UTC"
USE_TZ = True

STATIC_URL = "/static/"
STATIC_ROOT = Path(env.str("STATIC_ROOT", default=str(DATA_DIR / "static")))
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "whitenoise.storage.CompressedStaticFilesStorage"},
}

PASSWORD_HASHERS = ["django.contrib.auth.hashers.ScryptPasswordHasher"]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator"},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
SESSION_COOKIE_NAME = "backoffice"
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
]
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"

LOGGING = {
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

SPECTACULAR_SETTINGS = {
    "TITLE": "Commerce",
    "DESCRIPTION": "The admin and storefront API of a multi-tenant e-commerce back end. Send `Prefer: handling=strict`: "
    "misspelt fields are then refused rather than ignored.",
    "VERSION": versions.CURRENT_VERSION,
    "OAS_VERSION": "3.1.0",
    "SERVE_INCLUDE_SCHEMA": False,
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "PREPROCESSING_HOOKS": ["commerce.rest.openapi.only_surfaces"],
    "POSTPROCESSING_HOOKS": ["commerce.rest.openapi.finish", "config.openapi.add_webhooks"],
    "COMPONENT_SPLIT_REQUEST": True,
    "ENUM_ADD_EXPLICIT_BLANK_NULL_CHOICE": False,
    "SCHEMA_PATH_PREFIX": rf"/(admin|storefront)/{versions.CURRENT_VERSION}",
}

UNFOLD = {
    "SITE_TITLE": "Back office",
    "SITE_HEADER": "Back office",
    "SITE_URL": None,
    "SITE_SYMBOL": "storefront",
    "SHOW_HISTORY": True,
}

CELERY_BROKER_URL = REDIS_URL
CELERY_BROKER_TRANSPORT = "config.broker:Transport"
CELERY_TASK_IGNORE_RESULT = True
# Messages only wake workers, which claim the work in the database. A lost message costs a poll interval, whereas late
# acknowledgement would end the worker when Redis is down.
CELERY_TASK_ACKS_LATE = False
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_CONNECTION_MAX_RETRIES = None

# The outbox is drained at once when it announces work; the poll covers announcements that were missed.
OUTBOX_POLL_INTERVAL_S = env.float("DEFAULT_POLL_INTERVAL_S", default=5)
OUTBOX_THREADS = env.int("OUTBOX_THREADS", default=8)
OUTBOX_KEEP_DAYS = env.int("OUTBOX_KEEP_DAYS", default=30)

# Merchants configure where webhooks and mail go. Private addresses belong to our own network.
OUTSIDE_ALLOW_PRIVATE = env.bool("OUTSIDE_ALLOW_PRIVATE", default=False)
WEBHOOKS_DISABLE_AFTER_HOURS = env.int("WEBHOOKS_DISABLE_AFTER_HOURS", default=72)
WEBHOOKS_KEEP_DAYS = env.int("WEBHOOKS_KEEP_DAYS", default=30)

CELERY_BEAT_SCHEDULE = {
    "drain-outbox": {
        "task": "commerce.outbox.tasks.drain",
        "schedule": OUTBOX_POLL_INTERVAL_S,
        "options": {"expires": OUTBOX_POLL_INTERVAL_S},
    },
    "sweep-checkouts": {"task": "checkouts.tasks.sweep", "schedule": 15, "options": {"expires": 15}},
    "sweep-vouchers": {"task": "discounts.tasks.sweep_vouchers", "schedule": 60, "options": {"expires": 60}},
    "prune-idempotency-records": {
        "task": "commerce.rest.tasks.prune",
        "schedule": 600,
        "options": {"expires": 600},
    },
    "clear-sessions": {
        "task": "accounts.tasks.clear_sessions",
        "schedule": 3600,
        "options": {"expires": 3600},
    },
    "prune-postponed-rows": {
        "task": "commerce.loops.tasks.prune",
        "schedule": 3600,
        "options": {"expires": 3600},
    },
    "prune-outbox": {
        "task": "commerce.outbox.tasks.prune",
        "schedule": 600,
        "options": {"expires": 600},
    },
    "prune-webhook-deliveries": {
        "task": "commerce.webhooks.tasks.prune",
        "schedule": 600,
        "options": {"expires": 600},
    },
}
