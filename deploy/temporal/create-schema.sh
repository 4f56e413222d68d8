#!/bin/sh
# Makes Temporal's two databases, or brings them to the version of temporal-sql-tool, with the settings of
# server.env and POSTGRES_PWD in the environment. It can be repeated.
set -eu
export SQL_PLUGIN="$DB" SQL_HOST="$POSTGRES_SEEDS" SQL_PORT="$DB_PORT" SQL_USER="$POSTGRES_USER"
export SQL_PASSWORD="$POSTGRES_PWD"
temporal-sql-tool --db temporal create
temporal-sql-tool --db temporal setup-schema -v 0.0
temporal-sql-tool --db temporal update-schema --schema-name postgresql/v12/temporal
temporal-sql-tool --db temporal_visibility create
temporal-sql-tool --db temporal_visibility setup-schema -v 0.0
temporal-sql-tool --db temporal_visibility update-schema --schema-name postgresql/v12/visibility
