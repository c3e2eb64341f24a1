from django.contrib.admin.apps import AdminConfig


class BackOfficeAdminConfig(AdminConfig):
    """Django's admin with the back office as its site, so that every app registers with `admin.site`."""

    default_site = "accounts.backoffice.site.BackOfficeSite"
