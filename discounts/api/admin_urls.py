from django.urls import URLPattern

from .vouchers_urls import urlpatterns as voucher_urls

urlpatterns: list[URLPattern] = [*voucher_urls]
