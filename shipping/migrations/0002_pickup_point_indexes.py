from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('shipping', '0001_initial'),
    ]

    operations = [
        migrations.AddIndex(
            model_name='pickuppoint',
            index=models.Index(fields=['normalised_zip', 'country_code', 'carrier', 'status', 'id'], name='pickup_points_postcode'),
        ),
        migrations.AddIndex(
            model_name='pickuppoint',
            index=models.Index(fields=['carrier', '-id'], name='pickup_points_carrier'),
        ),
        migrations.RemoveIndex(
            model_name='pickuppoint',
            name='pickup_points_zip',
        ),
    ]
