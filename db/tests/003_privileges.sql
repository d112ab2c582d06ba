-- Proves what the service's role may do, and that everything it may not do is refused.
BEGIN;
CREATE EXTENSION IF NOT EXISTS pgtap;
SELECT no_plan();

SELECT isnt_superuser('provisor_service', 'the service''s role is no superuser');
SELECT ok(NOT rolbypassrls AND NOT rolcreaterole AND NOT rolcreatedb, 'it bypasses nothing and makes nothing')
  FROM pg_roles WHERE rolname = 'provisor_service';
SELECT is_empty($$
    SELECT c.relname FROM pg_class c WHERE c.relnamespace = 'provisor'::regnamespace
       AND pg_has_role('provisor_service', c.relowner, 'MEMBER')
$$, 'it owns nothing');
SELECT ok(NOT has_schema_privilege('provisor_service', 'provisor', 'CREATE'), 'it makes nothing in the schema');

-- The whole list: table by table, no more and no less.
SELECT table_privs_are('provisor', t, 'provisor_service', string_to_array(privileges, ' '), t || ': ' || privileges)
  FROM (VALUES ('migration', 'SELECT'), ('team', 'SELECT'), ('service_key', ''), ('housekeeping', ''), ('audit', 'SELECT INSERT'),
               ('token', 'SELECT INSERT UPDATE DELETE'), ('team_usage', 'SELECT INSERT UPDATE'), ('team_quota', 'SELECT INSERT UPDATE'), ('run_stage', 'SELECT INSERT DELETE'),
               ('run_label', 'SELECT INSERT DELETE'), ('advice', 'SELECT INSERT DELETE'), ('workload', 'SELECT INSERT DELETE'), ('workload_chunk', 'SELECT INSERT DELETE'),
               ('application', 'SELECT INSERT UPDATE DELETE'), ('run', 'SELECT INSERT UPDATE DELETE'),
               ('run_log', 'SELECT INSERT UPDATE DELETE'), ('outbox', 'SELECT INSERT UPDATE DELETE'),
               ('idempotency_key', 'SELECT INSERT UPDATE DELETE'),
               ('webhook', 'SELECT INSERT UPDATE DELETE'), ('webhook_delivery', 'SELECT INSERT UPDATE DELETE'),
               ('quota_loop', 'SELECT INSERT UPDATE DELETE'),
               ('application_model', 'SELECT INSERT UPDATE DELETE'),
               ('name_rules', 'SELECT INSERT UPDATE DELETE'), ('operation', 'SELECT INSERT UPDATE DELETE'),
               ('operation_event', 'SELECT INSERT DELETE'), ('cluster', 'SELECT INSERT UPDATE DELETE'),
               ('cluster_report', 'SELECT INSERT UPDATE DELETE'), ('cluster_processing', 'SELECT INSERT UPDATE DELETE'),
               ('cluster_transfer', 'SELECT INSERT UPDATE DELETE'), ('admission', 'SELECT INSERT UPDATE DELETE'),
               ('price_book', 'SELECT INSERT UPDATE DELETE'), ('price', 'SELECT INSERT UPDATE DELETE'),
               ('ingestion', 'SELECT INSERT UPDATE DELETE'),
               ('cluster_reference', 'SELECT'), ('price_book_reference', 'SELECT')) AS wanted (t, privileges);
SELECT column_privs_are('provisor', 'run_stage', a.attname, 'provisor_service',
                        CASE WHEN a.attname IN ('task_durations_s', 'task_nodes', 'task_read_bytes', 'sketch_tasks', 'sketch_mean_s')
                             THEN ARRAY['SELECT', 'INSERT', 'UPDATE'] ELSE ARRAY['SELECT', 'INSERT'] END,
                        'of a stage only its task times may be changed: ' || a.attname)
  FROM pg_attribute a WHERE a.attrelid = 'provisor.run_stage'::regclass AND a.attnum > 0 AND NOT a.attisdropped;
SELECT is_empty($$
    SELECT c.relname FROM pg_class c WHERE c.relnamespace = 'provisor'::regnamespace AND c.relispartition
       AND c.relkind = 'r' AND has_table_privilege('provisor_service', c.oid, 'SELECT, INSERT, UPDATE, DELETE, TRUNCATE')
$$, 'partitions are reached through their parents only');
SELECT is_empty($$
    SELECT p.oid::regprocedure FROM pg_proc p WHERE p.pronamespace = 'provisor'::regnamespace
       AND has_function_privilege('public', p.oid, 'EXECUTE')
$$, 'nobody runs our functions by being somebody');
SELECT ok(NOT has_function_privilege('provisor_service', 'provisor.ensure_team(uuid, text)', 'EXECUTE'),
          'teams are not made by the service on its own');

-- The functions that work across teams keep to what they promise.
INSERT INTO provisor.team (team_id, name) VALUES ('00000000-0000-7000-8000-0000000000a1', 'pgtap plain');
INSERT INTO provisor.token (team_id, id, name, scopes, hash)
    VALUES ('00000000-0000-7000-8000-0000000000a1', '00000000-0000-7000-8000-0000000000a2', 't', 1, sha256('t'));
SET LOCAL ROLE provisor_service;
SELECT is((SELECT team_name FROM provisor.look_up_token('00000000-0000-7000-8000-0000000000a2')), 'pgtap plain',
          'a token is found before its team is known');
SELECT is((SELECT count(*) FROM provisor.token), 0::bigint, 'after which the table is as closed as before');
SELECT is(octet_length(provisor.read_service_key()), 32, 'the service may ask for its key');
SELECT throws_ok('SELECT * FROM provisor.service_key', '42501', NULL, 'but not read the table');
SELECT throws_ok('DELETE FROM provisor.audit', '42501', NULL, 'audit rows stay');
SELECT throws_ok('UPDATE provisor.audit SET actor = actor', '42501', NULL, 'and stay as they are');
SELECT set_config('provisor.team_id', '00000000-0000-7000-8000-0000000000a1', true);
SELECT throws_ok('SELECT * FROM provisor.list_teams(NULL, 10)', 'PV403', NULL, 'a plain team lists no teams');
SELECT throws_ok($$ SELECT * FROM provisor.create_team(gen_random_uuid(), 'pgtap more') $$, 'PV403', NULL,
                 'nor makes any');
RESET ROLE;

SELECT * FROM finish();
ROLLBACK;
