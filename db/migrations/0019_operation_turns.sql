-- Operations take turns with the workers of a process, which therefore holds more of them than it
-- has workers. Take one operation, as before (0013), but only one that has waited for waited_ms, so
-- that a process that is busy leaves what an idle one would take, and none of the barred teams, which
-- hold enough of that process already. The function of four arguments stays for the version before.
CREATE FUNCTION provisor.claim_operation(claimant text, kinds text[], lease_ms bigint,
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
                 WHERE (t.team_id, t.id) IN
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

-- What the service's role may do. Every run of the migrations calls it, so the role may also be made
-- later; a migration that adds a table replaces it.
CREATE OR REPLACE FUNCTION provisor.grant_service() RETURNS boolean
    LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'provisor_service')
       OR current_user = 'provisor_service' THEN
        RETURN false;
    END IF;
    GRANT USAGE ON SCHEMA provisor TO provisor_service;
    GRANT SELECT ON provisor.migration, provisor.team TO provisor_service;
    GRANT SELECT, INSERT, UPDATE ON provisor.token TO provisor_service;
    GRANT SELECT, INSERT, UPDATE, DELETE ON
        provisor.application, provisor.run, provisor.run_log, provisor.outbox,
        provisor.idempotency_key, provisor.application_model, provisor.name_rules,
        provisor.cluster, provisor.cluster_report, provisor.cluster_processing,
        provisor.cluster_transfer, provisor.price_book, provisor.price,
        provisor.operation TO provisor_service;
    GRANT SELECT ON provisor.cluster_reference, provisor.price_book_reference TO provisor_service;
    GRANT SELECT, INSERT, DELETE ON
        provisor.run_stage, provisor.run_label, provisor.advice, provisor.operation_event
        TO provisor_service;
    GRANT UPDATE (task_durations_s, sketch_tasks, sketch_mean_s) ON provisor.run_stage
        TO provisor_service;
    GRANT SELECT, INSERT ON provisor.audit TO provisor_service;
    GRANT EXECUTE ON FUNCTION
        provisor.current_team(), provisor.read_service_key(), provisor.look_up_token(uuid),
        provisor.list_teams(uuid, bigint), provisor.create_team(uuid, text),
        provisor.claim_housekeeping(uuid, bigint, bigint), provisor.end_housekeeping(uuid),
        provisor.list_team_ids(uuid, bigint),
        provisor.list_retention(uuid, uuid, bigint, bigint, bigint),
        provisor.list_unthinned(bigint, bigint), provisor.expire_audit(bigint, bigint),
        provisor.make_partition(bigint), provisor.drop_partition(bigint, bigint),
        provisor.claim_operation(text, text[], bigint, bigint),
        provisor.claim_operation(text, text[], bigint, bigint, bigint, uuid[]),
        provisor.renew_operations(bigint, uuid[], uuid[], bigint[], bigint[], bigint[], text[]),
        provisor.list_lost_operations(bigint), provisor.watch_operations(uuid[], uuid[], uuid[]),
        provisor.count_operations()
        TO provisor_service;
    RETURN true;
END
$$;

REVOKE ALL ON FUNCTION provisor.claim_operation(text, text[], bigint, bigint, bigint, uuid[])
    FROM PUBLIC;
