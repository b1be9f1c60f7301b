#!/bin/sh
# Creates the two roles and the database, once, when the server's folder is created: docs/operating.md, "Two roles".
set -eu
psql -v ON_ERROR_STOP=1 -v owner="$OWNER_PASSWORD" -v service="$SERVICE_PASSWORD" -U postgres <<'SQL'
CREATE ROLE signsealship_owner LOGIN PASSWORD :'owner';
CREATE ROLE signsealship_service LOGIN PASSWORD :'service' NOSUPERUSER NOCREATEDB NOCREATEROLE;
CREATE DATABASE signsealship OWNER signsealship_owner;
\c signsealship
REVOKE CREATE ON SCHEMA public FROM PUBLIC;
GRANT CREATE ON SCHEMA public TO signsealship_owner;
REVOKE TEMPORARY ON DATABASE signsealship FROM PUBLIC;
REVOKE EXECUTE ON FUNCTION lo_creat(integer), lo_create(oid), lo_from_bytea(oid, bytea), lo_import(text),
  lo_import(text, oid), lo_put(oid, bigint, bytea) FROM PUBLIC;
SQL
