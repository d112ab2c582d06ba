-- Proves that jobs which were advised and have not reported back are found by indexes, row level security notwithstanding.
BEGIN;
CREATE EXTENSION IF NOT EXISTS pgtap;
SELECT no_plan();

SELECT col_is_null('provisor', 'advice', c, c || ' may be unknown: a program of before does not write it') FROM unnest(ARRAY['cluster', 'due_at']) AS c;
SELECT col_type_is('provisor', 'advice', 'due_at', 'timestamp with time zone', 'an instant');
SELECT has_index('provisor', t, i, i) FROM (VALUES ('advice', 'advice_due'), ('run', 'run_of_advice'), ('admission', 'admission_of_advice')) AS v (t, i);

CREATE FUNCTION pg_temp.plan(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE line text; whole text := '';
BEGIN
    FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || statement LOOP whole := whole || line || E'\n'; END LOOP;
    RETURN whole;
END $$;
SET LOCAL ROLE provisor_service;
SELECT set_config('provisor.team_id', '00000000-0000-7000-8000-0000000000e1', true);
SET LOCAL enable_seqscan = off;
SET LOCAL enable_bitmapscan = off;
SELECT matches(pg_temp.plan($$ SELECT a.id FROM provisor.advice a WHERE a.team_id = provisor.current_team() AND a.cluster = 'c' AND a.due_at > now() $$),
               'Index Cond: [^\n]*cluster = [^\n]*due_at > now', 'not yet due advice of a cluster is a range of its index');
SELECT matches(pg_temp.plan($$ SELECT 1 FROM provisor.run r WHERE r.team_id = provisor.current_team() AND r.advice_id = '00000000-0000-7000-8000-0000000000e1' $$),
               'Index Cond: [^\n]*advice_id = ', 'whether a run names the advice is one look');
SELECT matches(pg_temp.plan($$ SELECT 1 FROM provisor.admission p WHERE p.team_id = provisor.current_team() AND p.advice_id = '00000000-0000-7000-8000-0000000000e1' $$),
               'Index Cond: [^\n]*advice_id = ', 'so is the admission that follows it');

RESET ROLE;
SELECT * FROM finish();
ROLLBACK;
