"""The installation's URLs with the versions of these tests. Imported after those are set."""

from config import urls

urlpatterns = [*urls.make_surfaces(), *urls.urlpatterns]

handler400 = urls.handler400
handler403 = urls.handler403
handler404 = urls.handler404
handler500 = urls.handler500
