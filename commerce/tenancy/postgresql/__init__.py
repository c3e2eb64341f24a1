"""Django's PostgreSQL backend with two changes.

The pool checks a busy connection once a second instead of before every request. A number is never bound as a type that
is too small for it.
"""
