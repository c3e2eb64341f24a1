from . import discount_urls, vouchers_urls

urlpatterns = [*discount_urls.urlpatterns, *vouchers_urls.urlpatterns]
