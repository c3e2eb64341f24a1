"""How much callers may ask for, and how much one process does at once."""

from .environment import env

# Like MAX_BODY_BYTES in commerce/sizes.py: the front refuses larger bodies, and so does Django without the front.
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
