-- Runs go by the hundred thousand: an application with its history, a batch of retention. A foreign
-- key deletes row by row, three look-ups a run in every month's partition (a minute for 100,000
-- runs); a trigger that sees all rows of a statement does it in a few joins. What the keys guarded
-- besides is guarded already: labels, logs and stages are written in the transaction of their run,
-- under the lock of its application.
ALTER TABLE provisor.run_stage DROP CONSTRAINT run_stage_team_id_application_id_run_id_fkey;
ALTER TABLE provisor.run_label DROP CONSTRAINT run_label_team_id_application_id_run_id_fkey;
ALTER TABLE provisor.run_log DROP CONSTRAINT run_log_team_id_application_id_run_id_fkey;

-- Few rows: a plan made once, which goes straight to them. Many: one made for so many.
CREATE FUNCTION provisor.follow_runs() RETURNS trigger
    LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET jit = off
    AS $$
DECLARE
    part text;
    of record;
BEGIN
    IF (SELECT count(*) FROM (SELECT FROM gone LIMIT 1001) AS few) <= 1000 THEN
        DELETE FROM provisor.run_log t USING gone g WHERE t.team_id = g.team_id
            AND t.application_id = g.application_id AND t.run_id = g.id;
        DELETE FROM provisor.run_label t USING gone g WHERE t.team_id = g.team_id
            AND t.application_id = g.application_id AND t.run_id = g.id;
        DELETE FROM provisor.run_stage t USING gone g WHERE t.team_id = g.team_id
            AND t.application_id = g.application_id AND t.run_id = g.id;
    ELSE
        FOR of IN SELECT DISTINCT team_id, application_id FROM gone LOOP
            FOREACH part IN ARRAY ARRAY['run_log', 'run_label', 'run_stage'] LOOP
                EXECUTE format('DELETE FROM provisor.%I t USING gone g WHERE t.team_id = $1'
                               ' AND t.application_id = $2 AND t.run_id = g.id', part)
                    USING of.team_id, of.application_id;
            END LOOP;
        END LOOP;
    END IF;
    RETURN NULL;
END
$$;
REVOKE ALL ON FUNCTION provisor.follow_runs() FROM PUBLIC;
CREATE TRIGGER follow_runs AFTER DELETE ON provisor.run
    REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION provisor.follow_runs();

-- What events and kept replies tell of, so that they can go with it.
ALTER TABLE provisor.outbox ADD COLUMN application_id uuid;
ALTER TABLE provisor.idempotency_key ADD COLUMN application_id uuid;
CREATE INDEX outbox_application ON provisor.outbox (team_id, application_id);
CREATE INDEX idempotency_key_application ON provisor.idempotency_key (team_id, application_id);

-- The owner looks across teams for as long as this takes. Replies kept before expire in a day.
ALTER TABLE provisor.outbox NO FORCE ROW LEVEL SECURITY;
ALTER TABLE provisor.application NO FORCE ROW LEVEL SECURITY;
UPDATE provisor.outbox o SET application_id = a.id FROM provisor.application a
 WHERE a.team_id = o.team_id AND a.name = o.data #>> '{application}';
ALTER TABLE provisor.outbox FORCE ROW LEVEL SECURITY;
ALTER TABLE provisor.application FORCE ROW LEVEL SECURITY;
