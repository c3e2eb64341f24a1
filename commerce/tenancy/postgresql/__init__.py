"""Django's PostgreSQL backend with a pool that checks a busy connection once a second, not before every request."""
