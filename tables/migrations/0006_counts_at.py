"""When a round counts and the gaming day it was booked on, beside the deal as reported: for rounds and their payouts.

What is on record gets the values that it was settled by: the receipt where the deal could not be right (more than five
minutes ahead of it, or before the table was there), the deal everywhere else, and the days of its event.
"""

from django.db import migrations, models

ROUNDS = """
ALTER TABLE tables_round DISABLE TRIGGER append_only;
UPDATE tables_round round SET gaming_date = event.gaming_date, original_date = event.original_date,
    counts_at = CASE
        WHEN round.dealt_at > message.received_at + interval '5 minutes' OR round.dealt_at < tabl.opened_at
        THEN greatest(message.received_at, tabl.opened_at) ELSE round.dealt_at END
FROM accounting_event event, devices_message message, tables_table tabl
WHERE event.stream_id = round.stream_id AND event.sequence = round.sequence
    AND message.id = round.message_id AND tabl.id = round.table_id;
ALTER TABLE tables_round ENABLE TRIGGER append_only;
"""
PAYOUTS = """
ALTER TABLE tables_payout DISABLE TRIGGER append_only;
UPDATE tables_payout payout SET counts_at = round.counts_at, gaming_date = round.gaming_date
FROM tables_round round WHERE round.stream_id = payout.stream_id AND round.sequence = payout.sequence;
ALTER TABLE tables_payout ENABLE TRIGGER append_only;
"""

PLACE = ["-counts_at", "-stream", "-sequence", "-line"]
RARE = ["straight", "flush", "full_house", "four_of_a_kind", "straight_flush", "mini_royal", "royal_flush",
        "royal_straight_flush", "five_of_a_kind"]  # fmt: skip
LARGE = models.Q(cents__gte=100_000)
OWED = models.Q(kind__in=["level", "envy"]) | models.Q(level__isnull=False)
OF_PAYOUTS = (
    models.Index(name="payouts_newest_first", fields=PLACE),
    models.Index(name="payouts_of_a_table", fields=["table", *PLACE]),
    models.Index(name="payouts_of_a_rare_hand", fields=["hand", *PLACE], condition=models.Q(hand__in=RARE)),
    models.Index(name="payouts_owed", fields=PLACE, condition=OWED),
    models.Index(name="payouts_of_1000_dollars", fields=["table", *PLACE, "cents"], condition=LARGE),
    models.Index(name="payouts_of_1000_newest_first", fields=[*PLACE, "cents"], condition=LARGE),
)


class Migration(migrations.Migration):
    dependencies = [
        ("tables", "0005_large_amounts"),
        ("accounting", "0002_guards"),
        ("devices", "0002_guards"),
    ]

    operations = [
        migrations.RemoveIndex("round", "rounds_of_a_table"),
        *(migrations.RemoveIndex("payout", index.name) for index in OF_PAYOUTS),
        migrations.AddField("round", "counts_at", models.DateTimeField(null=True)),
        migrations.AddField("round", "gaming_date", models.DateField(null=True)),
        migrations.AddField("round", "original_date", models.DateField(null=True)),
        migrations.AddField("payout", "counts_at", models.DateTimeField(null=True)),
        migrations.AddField("payout", "gaming_date", models.DateField(null=True)),
        migrations.RunSQL(ROUNDS, migrations.RunSQL.noop),
        migrations.RunSQL(PAYOUTS, migrations.RunSQL.noop),
        migrations.AlterField("round", "counts_at", models.DateTimeField()),
        migrations.AlterField("round", "gaming_date", models.DateField()),
        migrations.AlterField("payout", "counts_at", models.DateTimeField()),
        migrations.AlterField("payout", "gaming_date", models.DateField()),
        migrations.AddIndex(
            "round", models.Index(name="rounds_of_a_table", fields=["table", "-counts_at", "-sequence"])
        ),
        migrations.AddIndex(
            "round",
            models.Index(
                name="rounds_booked_late", fields=["gaming_date"], condition=models.Q(original_date__isnull=False)
            ),
        ),
        *(migrations.AddIndex("payout", index) for index in OF_PAYOUTS),
    ]
