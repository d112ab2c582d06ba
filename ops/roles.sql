-- The two roles and the database of provisor, for a superuser to run by psql; running it again changes
-- nothing but the passwords. They come from files that PROVISOR_OWNER_PASSWORD_FILE and PROVISOR_SERVICE_PASSWORD_FILE
-- name, or from the environment, without _FILE: a command line could be read by everybody.
--
--   provisor_owner    owns the schema, runs migrations
--   provisor_service  what provisord connects as: no owner, no BYPASSRLS, so row level security binds it
\set ON_ERROR_STOP on
SET client_min_messages = warning;
\set owner_password `cat -- "${PROVISOR_OWNER_PASSWORD_FILE:-/dev/null}"; printf %s "$PROVISOR_OWNER_PASSWORD"`
\set service_password `cat -- "${PROVISOR_SERVICE_PASSWORD_FILE:-/dev/null}"; printf %s "$PROVISOR_SERVICE_PASSWORD"`
-- An empty password would be none at all: nobody could log in, and nobody would be told why.
SELECT :'owner_password' = '' OR :'service_password' = '' AS missing \gset
\if :missing
DO $$ BEGIN RAISE EXCEPTION 'set PROVISOR_OWNER_PASSWORD_FILE and PROVISOR_SERVICE_PASSWORD_FILE'; END $$;
\endif
SELECT format('CREATE ROLE %I', name) FROM unnest(ARRAY['provisor_owner', 'provisor_service']) AS name
    WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = name) \gexec
ALTER ROLE provisor_owner LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOBYPASSRLS PASSWORD :'owner_password';
ALTER ROLE provisor_service LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOBYPASSRLS PASSWORD :'service_password';
SELECT 'CREATE DATABASE provisor OWNER provisor_owner'
    WHERE NOT EXISTS (SELECT FROM pg_database WHERE datname = 'provisor') \gexec
REVOKE ALL ON DATABASE provisor FROM PUBLIC;
GRANT CONNECT ON DATABASE provisor TO provisor_service;
