from django.db import models

from commerce.tenancy.models import AccountOwned


class AccountSetting(AccountOwned):
    """An account's own value of a setting. It takes precedence over the environment."""

    name = models.CharField(max_length=100)
    value = models.JSONField()
    updated_at = models.DateTimeField(auto_now=True)

    class Meta(AccountOwned.Meta):
        db_table = "account_settings"
        constraints = [models.UniqueConstraint(fields=["account", "name"], name="account_settings_name")]

    def __str__(self) -> str:
        return self.name
