-- What the last refit of an application told (intervals by bootstrap), beside its models, and
-- operations that a process does by itself.
ALTER TABLE provisor.application_model
    ADD COLUMN refit json,
    ADD COLUMN refit_version bigint, -- the history_version it belongs to
    ADD CHECK ((refit IS NULL) = (refit_version IS NULL));

-- Work under way outlives its application, so that whoever waits for it learns why it failed; what
-- has ended goes with the application (store_application_delete).
ALTER TABLE provisor.operation
    DROP CONSTRAINT operation_team_id_application_id_fkey,
    ADD FOREIGN KEY (team_id, application_id) REFERENCES provisor.application
        ON DELETE SET NULL (application_id);

-- Take one operation, as before (0010), but for this: what a process does by itself, an import, is
-- no worker's and takes no team's share of the workers.
CREATE OR REPLACE FUNCTION provisor.claim_operation(claimant text, kinds text[], lease_ms bigint,
                                                    team_running_max bigint)
    RETURNS TABLE (team_id uuid, id uuid, attempt bigint)
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    AS $$
#variable_conflict use_column
DECLARE
    of record;
BEGIN
    PERFORM set_config('provisor.registry', 'on', true);
    IF EXISTS (SELECT FROM provisor.operation o
                WHERE o.status = 'queued' AND o.not_before <= now() AND o.kind = ANY (kinds)) THEN
        PERFORM pg_advisory_xact_lock(hashtextextended('provisor.claim_operation', 0));
        FOR of IN
            WITH RECURSIVE waiting AS (
                (SELECT o.team_id FROM provisor.operation o WHERE o.status = 'queued'
                  ORDER BY o.team_id LIMIT 1)
                UNION ALL
                SELECT (SELECT o.team_id FROM provisor.operation o
                         WHERE o.status = 'queued' AND o.team_id > w.team_id
                         ORDER BY o.team_id LIMIT 1)
                  FROM waiting w WHERE w.team_id IS NOT NULL)
            SELECT w.team_id FROM waiting w
             CROSS JOIN LATERAL (SELECT count(*) AS n FROM provisor.operation r
                                  WHERE r.team_id = w.team_id AND r.status = 'running'
                                    AND r.kind <> 'import') AS running
             CROSS JOIN LATERAL (SELECT o.created_at FROM provisor.operation o
                                  WHERE o.team_id = w.team_id AND o.status = 'queued'
                                    AND o.not_before <= now() AND o.kind = ANY (kinds)
                                  ORDER BY o.created_at, o.id LIMIT 1) AS first
             WHERE running.n < team_running_max
             ORDER BY running.n, first.created_at, w.team_id
        LOOP
            RETURN QUERY
                UPDATE provisor.operation AS t
                   SET status = 'running', worker = claimant, attempt = t.attempt + 1,
                       attempt_done = 0, started_at = now(),
                       lease_until = clock_timestamp() + lease_ms * interval '1 millisecond'
                 WHERE (t.team_id, t.id) IN
                       (SELECT o.team_id, o.id FROM provisor.operation o
                         WHERE o.team_id = of.team_id AND o.status = 'queued'
                           AND o.not_before <= now() AND o.kind = ANY (kinds)
                         ORDER BY o.created_at, o.id LIMIT 1 FOR UPDATE SKIP LOCKED)
                RETURNING t.team_id, t.id, t.attempt;
            EXIT WHEN FOUND;
        END LOOP;
    END IF;
    PERFORM set_config('provisor.registry', 'off', true);
END
$$;
