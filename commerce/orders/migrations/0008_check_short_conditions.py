from django.contrib.postgres.operations import ValidateConstraint
from django.db import migrations


class Migration(migrations.Migration):

    dependencies = [("orders", "0007_short_conditions")]

    operations = [
        ValidateConstraint(model_name="order", name="orders_total"),
        ValidateConstraint(model_name="order", name="orders_not_negative"),
    ]
