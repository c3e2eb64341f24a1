from django.db import models

from commerce.tenancy.fields import AccountForeignKey
from commerce.tenancy.models import AccountOwned


class Supplier(AccountOwned):
    name = models.CharField(max_length=100)
    location = AccountForeignKey("inventory.Location", null=True, blank=True, related_name="+")

    class Meta(AccountOwned.Meta):
        db_table = "suppliers"
        constraints = [models.UniqueConstraint(fields=["account", "name"], name="suppliers_name")]

    def __str__(self):
        return self.name
