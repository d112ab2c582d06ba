-- A claim takes one operation. With IN the planner may join, and then runs the subquery, with its
-- LIMIT and SKIP LOCKED, once for each row of the table: once statistics made it do so, one claim set
-- all operations of a team running, of which the claimant knew one. With = it is evaluated once.
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
                 WHERE (t.team_id, t.id) =
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

CREATE OR REPLACE FUNCTION provisor.claim_operation(claimant text, kinds text[], lease_ms bigint,
                                         team_running_max bigint, waited_ms bigint,
                                         barred uuid[])
    RETURNS TABLE (team_id uuid, id uuid, attempt bigint)
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    AS $$
#variable_conflict use_column
DECLARE
    of record;
    latest timestamptz := CASE WHEN waited_ms = 0 THEN 'infinity'
                               ELSE now() - waited_ms * interval '1 millisecond' END;
BEGIN
    PERFORM set_config('provisor.registry', 'on', true);
    IF EXISTS (SELECT FROM provisor.operation o
                WHERE o.status = 'queued' AND o.not_before <= now() AND o.kind = ANY (kinds)
                  AND o.created_at <= latest AND o.team_id <> ALL (barred)) THEN
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
                                    AND o.created_at <= latest
                                  ORDER BY o.created_at, o.id LIMIT 1) AS first
             WHERE running.n < team_running_max AND w.team_id <> ALL (barred)
             ORDER BY running.n, first.created_at, w.team_id
        LOOP
            RETURN QUERY
                UPDATE provisor.operation AS t
                   SET status = 'running', worker = claimant, attempt = t.attempt + 1,
                       attempt_done = 0, started_at = now(),
                       lease_until = clock_timestamp() + lease_ms * interval '1 millisecond'
                 WHERE (t.team_id, t.id) =
                       (SELECT o.team_id, o.id FROM provisor.operation o
                         WHERE o.team_id = of.team_id AND o.status = 'queued'
                           AND o.not_before <= now() AND o.kind = ANY (kinds)
                           AND o.created_at <= latest
                         ORDER BY o.created_at, o.id LIMIT 1 FOR UPDATE SKIP LOCKED)
                RETURNING t.team_id, t.id, t.attempt;
            EXIT WHEN FOUND;
        END LOOP;
    END IF;
    PERFORM set_config('provisor.registry', 'off', true);
END
$$;
