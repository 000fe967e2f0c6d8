"""A table may lose contact, and be heard again."""

from django.db import migrations, models

KINDS = (
    "opened", "round", "lock", "table.install", "link.open", "link.suspend", "link.resume", "link.close", "link.terms", "table.join", "table.leave", "table.open", "table.close", "table.terms", "table.contact", "level.adjust", "level.transfer", "hit.verify", "hit.approve", "hit.pay", "hit.reject", "payout.pay", "round.release", "round.correct", "round.void", "lock.void", "day.close",
)


class Migration(migrations.Migration):
    dependencies = [("accounting", "0008_acts_of_the_past")]

    operations = [
        migrations.RemoveConstraint("event", "an_event_is_of_a_known_kind"),
        migrations.AddConstraint(
            "event", models.CheckConstraint(condition=models.Q(("kind__in", KINDS)), name="an_event_is_of_a_known_kind")
        ),
    ]
