"""Django's PostgreSQL backend with these changes.

- A transaction begins with its first statement, and frequent statements are prepared and sent in as few messages as
  possible (docs/decisions/0011).
- The pool checks a busy connection once a second instead of before every request, and fails at once while the database
  is down.
- A number is never bound as a type that is too small for it.
"""
