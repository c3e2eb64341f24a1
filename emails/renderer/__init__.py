"""The rendering service: Liquid and MJML in, an email out. A WSGI application of its own, without Django."""
