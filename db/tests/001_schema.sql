-- Proves what the schema promises: tables, exact types, keys that begin with the team, one operator,
-- a log kept once, partitions by time.
BEGIN;
CREATE EXTENSION IF NOT EXISTS pgtap;
SELECT plan(37);

SELECT has_table('provisor', t, 'table ' || t)
  FROM unnest(ARRAY['migration', 'service_key', 'team', 'token', 'application', 'run', 'run_log', 'run_label',
                    'run_stage', 'advice', 'audit', 'outbox', 'idempotency_key', 'application_model', 'housekeeping', 'name_rules', 'operation', 'operation_event']) AS t;

SELECT col_type_is('provisor', 'run_stage', 'task_durations_s', 'double precision[]',
                   'durations of tasks are exact doubles, not a row each');
SELECT col_type_is('provisor', 'advice', 'document', 'json', 'a document keeps its bytes: json, not jsonb');
SELECT col_type_is('provisor', 'application_model', 'document', 'json', 'fitted models are given back as they were written');
SELECT col_type_is('provisor', 'advice', 'request', 'json', 'a request keeps its bytes');

-- Whatever table comes: the key begins with the team, then the application where the table has one.
SELECT is_empty($$
    SELECT i.indrelid::regclass FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid
      JOIN pg_attribute team ON team.attrelid = c.oid AND team.attname = 'team_id'
     WHERE c.relnamespace = 'provisor'::regnamespace AND i.indisprimary AND i.indkey[0] <> team.attnum
$$, 'every primary key of a team''s table begins with team_id');
SELECT is_empty($$
    SELECT t FROM unnest(ARRAY['run', 'run_log', 'run_label', 'run_stage', 'application_model']) AS t
      JOIN pg_index i ON i.indrelid = ('provisor.' || t)::regclass AND i.indisprimary
      JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attname = 'application_id'
     WHERE i.indkey[1] <> a.attnum
$$, 'keys of what belongs to an application continue with application_id');
SELECT is_empty($$
    SELECT c.relname FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'team_id'
     WHERE c.relnamespace = 'provisor'::regnamespace AND c.relkind IN ('r', 'p')
       AND NOT EXISTS (SELECT FROM pg_index i WHERE i.indrelid = c.oid AND i.indisprimary)
$$, 'every table of a team has a primary key');

SELECT is((SELECT partstrat::text FROM pg_partitioned_table WHERE partrelid = ('provisor.' || t)::regclass), 'r',
          t || ' is partitioned by range') FROM unnest(ARRAY['run', 'run_stage', 'run_label', 'advice', 'audit']) AS t;
SELECT lives_ok($$
    CREATE TABLE provisor.run_2099_01 PARTITION OF provisor.run
        FOR VALUES FROM ('03b35f2c-0000-7000-8000-000000000000') TO ('03b3ffff-0000-7000-8000-000000000000')
$$, 'a month of runs can be split off without touching the keys');

SELECT fk_ok('provisor', 'application_model', ARRAY['team_id', 'application_id'],
             'provisor', 'application', ARRAY['team_id', 'id'], 'models go with their application');

SELECT is((SELECT octet_length(key) FROM provisor.service_key), 32, 'the service''s key has 32 bytes');
SELECT throws_ok($$ INSERT INTO provisor.service_key (key) VALUES (sha256('x')) $$, '23505', NULL,
                 'there is one service key');

INSERT INTO provisor.team (team_id, name) VALUES ('00000000-0000-7000-8000-0000000000aa', 'pgtap schema');
SELECT throws_ok($$ INSERT INTO provisor.team (team_id, name)
                    VALUES (gen_random_uuid(), 'pgtap schema') $$, '23505', NULL, 'names of teams are unique');
SELECT provisor.ensure_team(gen_random_uuid(), 'pgtap first'); -- the operator's, if nobody is yet
SELECT throws_ok($$ UPDATE provisor.team SET is_operator = true $$, '23505', NULL, 'one team is the operator''s');

SELECT is_empty($$
    SELECT p.oid::regprocedure FROM pg_proc p WHERE p.pronamespace = 'provisor'::regnamespace AND p.prosecdef
       AND NOT coalesce(p.proconfig::text, '') ~ 'search_path'
$$, 'every function that runs as its owner has a fixed search path');

SELECT * FROM finish();
ROLLBACK;
