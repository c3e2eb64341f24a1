"""What stands between the network and Django.

Granian's RSGI gives each request to an event loop. There the body is read, within a time and a rate, before a
thread, and with it a database connection, is taken. A few threads run Django, as WSGI, on what has arrived whole.
"""
