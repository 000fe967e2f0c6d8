#!/bin/sh
# Run once by the database image, when its data folder is empty.
set -eu
psql -v ON_ERROR_STOP=1 -U "$POSTGRES_USER" -d "$POSTGRES_DB" \
    -v owner="$OWNER_PASSWORD" -v service="$SERVICE_PASSWORD" -v settle="$SETTLE_PASSWORD" -v auditor="$AUDITOR_PASSWORD" \
    -f /jackpot/docker/roles.sql
