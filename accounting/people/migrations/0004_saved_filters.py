"""Searches that people keep under a name."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

ROLES = ["", "accounting", "administrator", "auditor", "cage", "controller", "manager", "security", "supervisor"]


class Migration(migrations.Migration):
    dependencies = [("people", "0003_sign_ins_are_kept"), migrations.swappable_dependency(settings.AUTH_USER_MODEL)]

    operations = [
        migrations.CreateModel(
            name="SavedFilter",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("page", models.CharField(max_length=40)),
                ("place", models.SmallIntegerField()),
                ("name", models.CharField(max_length=60)),
                ("query", models.CharField(max_length=1000)),
                ("shared_with", models.CharField(blank=True, max_length=20)),
                ("saved_at", models.DateTimeField()),
                (
                    "person",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
            ],
            options={
                "ordering": ["name", "person"],
                "constraints": [
                    models.UniqueConstraint(name="a_person_names_a_filter_once", fields=["person", "page", "name"]),
                    models.UniqueConstraint(
                        name="a_filter_has_a_place_of_its_own", fields=["person", "page", "place"]
                    ),
                    models.CheckConstraint(
                        name="a_person_keeps_a_few_filters_of_a_page",
                        condition=models.Q(("place__gte", 1), ("place__lte", 30)),
                    ),
                    models.CheckConstraint(
                        name="a_filter_has_a_name_and_asks_something",
                        condition=models.Q(("name", ""), _negated=True) & models.Q(("query", ""), _negated=True),
                    ),
                    models.CheckConstraint(
                        name="a_filter_is_shared_with_a_known_role", condition=models.Q(("shared_with__in", ROLES))
                    ),
                ],
            },
        ),
    ]
