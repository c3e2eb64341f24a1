from django.contrib.admin.apps import AdminConfig


class BackOfficeAdminConfig(AdminConfig):
    """Makes the back office Django's default admin site, so that every app registers with `admin.site`."""

    default_site = "accounts.backoffice.site.BackOfficeSite"
