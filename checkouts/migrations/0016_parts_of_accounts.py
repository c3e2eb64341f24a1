import commerce.tenancy.scope
import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('accounts', '0011_language'),
        ('checkouts', '0015_sweeping_by_index'),
    ]

    operations = [
        migrations.AlterField(
            model_name='checkout',
            name='account',
            field=models.ForeignKey(db_constraint=False, db_index=False, default=commerce.tenancy.scope.current_account_id, editable=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='accounts.account'),
        ),
        migrations.AlterField(
            model_name='checkoutlineitem',
            name='account',
            field=models.ForeignKey(db_constraint=False, db_index=False, default=commerce.tenancy.scope.current_account_id, editable=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='accounts.account'),
        ),
        migrations.AlterField(
            model_name='checkoutpaymentattempt',
            name='account',
            field=models.ForeignKey(db_constraint=False, db_index=False, default=commerce.tenancy.scope.current_account_id, editable=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='accounts.account'),
        ),
    ]
