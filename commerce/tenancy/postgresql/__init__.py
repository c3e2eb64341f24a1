"""Django's PostgreSQL backend, with two changes.

The pool checks a busy connection once a second, not before every request. A number that doesn't fit the type that
Django has chosen for it is never bound as that type.
"""
