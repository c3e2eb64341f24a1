from django.contrib.postgres.operations import ValidateConstraint
from django.db import migrations


class Migration(migrations.Migration):

    dependencies = [("checkouts", "0012_short_conditions")]

    operations = [
        ValidateConstraint(model_name="checkout", name="checkouts_total"),
        ValidateConstraint(model_name="checkout", name="checkouts_not_negative"),
    ]
