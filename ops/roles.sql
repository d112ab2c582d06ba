-- The two roles and the database of provisor, for a superuser to run by psql; running it again changes
-- nothing but the passwords. They come from the environment: a command line could be read by everybody.
--
--   provisor_owner    owns the schema, runs migrations
--   provisor_service  what provisord connects as: no owner, no BYPASSRLS, so row level security binds it
\set ON_ERROR_STOP on
SET client_min_messages = warning;
\getenv owner_password PROVISOR_OWNER_PASSWORD
\getenv service_password PROVISOR_SERVICE_PASSWORD
SELECT format('CREATE ROLE %I', name) FROM unnest(ARRAY['provisor_owner', 'provisor_service']) AS name
    WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = name) \gexec
ALTER ROLE provisor_owner LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOBYPASSRLS PASSWORD :'owner_password';
ALTER ROLE provisor_service LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOBYPASSRLS PASSWORD :'service_password';
SELECT 'CREATE DATABASE provisor OWNER provisor_owner'
    WHERE NOT EXISTS (SELECT FROM pg_database WHERE datname = 'provisor') \gexec
REVOKE ALL ON DATABASE provisor FROM PUBLIC;
GRANT CONNECT ON DATABASE provisor TO provisor_service;
