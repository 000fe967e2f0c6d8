"""What is held says what it knew: the stream it was decided on and the first sequence that it did not know of.

Until now that was told by clocks, and an act that waited for the stream had read its clock before.
"""

from django.db import migrations, models
from django.db.models import Q

SAID_WHOLE = Q(stream_id__isnull=True, before_sequence__isnull=True) | Q(stream_id__isnull=False, before_sequence__isnull=False, before_sequence__gt=0)


class Migration(migrations.Migration):
    dependencies = [("tables", "0012_locks")]

    operations = [
        *(
            migrations.AddField(model, field, models.BigIntegerField(null=True))
            for model in ("hold", "locksetaside")
            for field in ("stream_id", "before_sequence")
        ),
        migrations.AddConstraint(
            "hold", models.CheckConstraint(condition=SAID_WHOLE, name="a_hold_names_its_stream_with_a_sequence")
        ),
        migrations.AddConstraint(
            "locksetaside",
            models.CheckConstraint(condition=SAID_WHOLE, name="a_lock_set_aside_names_its_stream_with_a_sequence"),
        ),
    ]
