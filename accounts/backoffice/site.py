from unfold.sites import UnfoldAdminSite


class BackOfficeSite(UnfoldAdminSite):
    site_title = "Back office"
    site_header = "Back office"
    index_title = "Shop"


site = BackOfficeSite(name="backoffice")
