"""What the product consists of: apps, middleware, templates, types of discounts and payments. The same everywhere."""

from django.templatetags.static import static
from django.utils.translation import gettext_lazy

from config import versions

from .environment import BASE_DIR

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
    "django_otp",
    "django_otp.plugins.otp_totp",
    "django_otp.plugins.otp_static",
    "django_otp_webauthn",
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
    # Outermost, so that it also counts and times what the others answer.
    "commerce.rest.middleware.MetricsMiddleware",
    "commerce.rest.middleware.RequestIdMiddleware",
    "commerce.rest.cors.CorsMiddleware",
    "config.front.middleware.RefusedBodies",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "accounts.backoffice.middleware.ContentPolicy",
    "accounts.backoffice.middleware.Planning",
    "accounts.backoffice.middleware.Sessions",
    "accounts.backoffice.middleware.Csrf",
    "accounts.backoffice.middleware.Authentication",
    "accounts.backoffice.middleware.Language",
    "accounts.backoffice.middleware.SecondStep",
    "accounts.backoffice.middleware.Messages",
    # Last, because its process_view answers by calling the view: Django would skip that of any middleware below.
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

DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

LANGUAGE_CODE = "en"
# Those that the back office is translated into. Other readers get English texts, with numbers in their own format. The
# APIs, the commands and the worker are English.
LANGUAGES = [("en", "English"), ("de", "Deutsch"), ("cs", "Čeština")]
LOCALE_PATHS = [BASE_DIR / "commerce" / "backoffice" / "locale"]
FORMAT_MODULE_PATH = ["commerce.backoffice.formats"]
TIME_ZONE = "UTC"
USE_TZ = True

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
# The connectors of the payment methods that accounts may offer (docs/extending.md).
PAYMENT_METHODS = [
    "commerce.payments.connectors.CASH_ON_DELIVERY",
    "commerce.payments.connectors.BANK_TRANSFER",
    "commerce.payments.test_card.connector.TEST_CARD",
    "commerce.payments.stripe.connector.STRIPE",
]

REST_FRAMEWORK = {
    "EXCEPTION_HANDLER": "commerce.rest.exceptions.exception_handler",
    "DEFAULT_SCHEMA_CLASS": "commerce.rest.openapi.SurfaceSchema",
    # Callers are principals, set by our middleware. DRF would load Django's users.
    "UNAUTHENTICATED_USER": None,
    "UNAUTHENTICATED_TOKEN": None,
    # Otherwise `?format=` would choose a renderer, and any unknown one would be a 404.
    "URL_FORMAT_OVERRIDE": None,
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
    "PREPROCESSING_HOOKS": ["commerce.rest.openapi.keep_current_surfaces"],
    "POSTPROCESSING_HOOKS": ["config.openapi.add_webhooks", "commerce.rest.openapi.add_components"],
    "COMPONENT_SPLIT_REQUEST": True,
    # Fields describe their values themselves.
    "ENUM_GENERATE_CHOICE_DESCRIPTION": False,
    "ENUM_ADD_EXPLICIT_BLANK_NULL_CHOICE": False,
    "SCHEMA_PATH_PREFIX": rf"/(admin|storefront)/{versions.CURRENT_VERSION}",
}

UNFOLD = {
    "SITE_TITLE": gettext_lazy("Back office"),
    "SITE_HEADER": gettext_lazy("Back office"),
    "SITE_URL": None,
    "SITE_SYMBOL": "storefront",
    "SITE_FAVICONS": [
        {"rel": "icon", "type": "image/svg+xml", "href": lambda request: static("backoffice/favicon.svg")}
    ],
    "SHOW_HISTORY": True,
    "STYLES": [lambda request: static("backoffice/backoffice.css")],
    "SCRIPTS": [
        lambda request: static("backoffice/search.js"),
        lambda request: static("backoffice/keyboard.js"),
        lambda request: static("backoffice/unsaved.js"),
    ],
    "ENVIRONMENT": "accounts.backoffice.notices.warn_operator",
}
