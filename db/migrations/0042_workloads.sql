-- Workloads: traces that simulations are made on. A row says what a trace comes to; its jobs lie in
-- chunks of the column format of service/core/workload, which are compact already, so PostgreSQL is
-- not to compress them. A workload and its chunks are one transaction, and neither changes
-- afterwards: whoever sees the row sees all of it.
CREATE TABLE provisor.workload (
    team_id uuid NOT NULL REFERENCES provisor.team,
    id uuid NOT NULL, -- version 7: in the order in which they were made
    name text,
    format text NOT NULL, -- of the trace, or where else it is from
    jobs bigint NOT NULL CHECK (jobs >= 1),
    tasks bigint NOT NULL CHECK (tasks >= 1),
    reduce_tasks bigint NOT NULL CHECK (reduce_tasks BETWEEN 0 AND tasks), -- of these
    runs bigint NOT NULL CHECK (runs BETWEEN 1 AND tasks), -- of tasks that last equally long
    reduce_runs bigint NOT NULL CHECK (reduce_runs BETWEEN 0 AND reduce_tasks), -- of these
    name_bytes bigint NOT NULL CHECK (name_bytes >= 0), -- of all jobs
    chunks bigint NOT NULL CHECK (chunks >= 1),
    bytes bigint NOT NULL CHECK (bytes >= 1), -- of the chunks
    sorted boolean NOT NULL, -- by arrival
    law_jobs bigint NOT NULL CHECK (law_jobs >= 0), -- by which sizes follow from input; 0: there is no law
    law_seconds_per_byte double precision,
    law_r_squared double precision,
    law_log_r_squared double precision,
    law_without_input_s double precision,
    summary json NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (team_id, id)
);
CREATE TABLE provisor.workload_chunk (
    team_id uuid NOT NULL,
    workload_id uuid NOT NULL,
    position bigint NOT NULL CHECK (position >= 0),
    content bytea NOT NULL,
    PRIMARY KEY (team_id, workload_id, position),
    FOREIGN KEY (team_id, workload_id) REFERENCES provisor.workload ON DELETE CASCADE
        DEFERRABLE INITIALLY DEFERRED
);
ALTER TABLE provisor.workload_chunk ALTER COLUMN content SET STORAGE EXTERNAL;

DO $$
DECLARE
    t text;
BEGIN
    FOREACH t IN ARRAY ARRAY['workload', 'workload_chunk'] LOOP
        EXECUTE format('ALTER TABLE provisor.%I ENABLE ROW LEVEL SECURITY', t);
        EXECUTE format('ALTER TABLE provisor.%I FORCE ROW LEVEL SECURITY', t);
        EXECUTE format('CREATE POLICY own_team ON provisor.%I USING (team_id = provisor.current_team())'
                       ' WITH CHECK (team_id = provisor.current_team())', t);
    END LOOP;
END
$$;

-- A workload counts among the bytes that its team stores.
CREATE FUNCTION provisor.count_workload() RETURNS trigger
    LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        PERFORM provisor.add_usage(NEW.team_id, 0, 0, 0, 0, 0, NEW.bytes);
    ELSE
        PERFORM provisor.add_usage(OLD.team_id, 0, 0, 0, 0, 0, -OLD.bytes);
    END IF;
    RETURN NULL;
END
$$;
CREATE TRIGGER count_workload AFTER INSERT OR DELETE ON provisor.workload
    FOR EACH ROW EXECUTE FUNCTION provisor.count_workload();

-- As in migration 0020, with workloads.
CREATE OR REPLACE FUNCTION provisor.recount_usage(every_s bigint) RETURNS boolean
    LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    team uuid := provisor.current_team();
BEGIN
    IF NOT pg_try_advisory_xact_lock(hashtextextended('provisor.recount_usage ' || team::text, 0)) THEN
        RETURN false;
    END IF;
    IF EXISTS (SELECT FROM provisor.team_usage u WHERE u.team_id = team AND u.shard = 0
                  AND u.counted_at > now() - every_s * interval '1 second') THEN
        RETURN false;
    END IF;
    INSERT INTO provisor.team_usage AS u
           (team_id, shard, applications, runs, advice, operations, replies, bytes, counted_at)
        SELECT team, 0, a.n - s.applications, a.runs - s.runs, v.n - s.advice, o.n - s.operations,
               k.n - s.replies, a.bytes + v.bytes + o.bytes + k.bytes + m.bytes + w.bytes - s.bytes, now()
          FROM (SELECT coalesce(sum(applications), 0) AS applications,
                       coalesce(sum(runs), 0) AS runs, coalesce(sum(advice), 0) AS advice,
                       coalesce(sum(operations), 0) AS operations,
                       coalesce(sum(replies), 0) AS replies, coalesce(sum(bytes), 0) AS bytes
                  FROM provisor.team_usage WHERE team_id = team) AS s,
               (SELECT count(*) AS n, coalesce(sum(runs), 0) AS runs,
                       coalesce(sum(run_bytes), 0) AS bytes
                  FROM provisor.application WHERE team_id = team) AS a,
               (SELECT count(*) AS n, coalesce(sum(bytes), 0) AS bytes
                  FROM provisor.advice WHERE team_id = team) AS v,
               (SELECT count(*) AS n,
                       coalesce(sum(provisor.operation_bytes(request, result)), 0) AS bytes
                  FROM provisor.operation WHERE team_id = team) AS o,
               (SELECT count(*) AS n, coalesce(sum(octet_length(body)), 0) AS bytes
                  FROM provisor.idempotency_key WHERE team_id = team) AS k,
               (SELECT coalesce(sum(provisor.operation_bytes(document, refit)), 0) AS bytes
                  FROM provisor.application_model WHERE team_id = team) AS m,
               (SELECT coalesce(sum(bytes), 0) AS bytes
                  FROM provisor.workload WHERE team_id = team) AS w
        ON CONFLICT (team_id, shard) DO UPDATE
           SET applications = u.applications + excluded.applications,
               runs = u.runs + excluded.runs, advice = u.advice + excluded.advice,
               operations = u.operations + excluded.operations,
               replies = u.replies + excluded.replies, bytes = u.bytes + excluded.bytes,
               counted_at = excluded.counted_at;
    RETURN true;
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
    GRANT SELECT, INSERT, UPDATE, DELETE ON provisor.token TO provisor_service;
    GRANT SELECT, INSERT, UPDATE, DELETE ON
        provisor.application, provisor.run, provisor.run_log, provisor.outbox,
        provisor.webhook, provisor.webhook_delivery, provisor.quota_loop, provisor.admission,
        provisor.idempotency_key, provisor.application_model, provisor.name_rules,
        provisor.cluster, provisor.cluster_report, provisor.cluster_processing,
        provisor.cluster_transfer, provisor.price_book, provisor.price,
        provisor.operation TO provisor_service;
    GRANT SELECT, INSERT, UPDATE ON provisor.team_usage, provisor.team_quota TO provisor_service;
    GRANT SELECT ON provisor.cluster_reference, provisor.price_book_reference TO provisor_service;
    GRANT SELECT, INSERT, DELETE ON
        provisor.run_stage, provisor.run_label, provisor.advice, provisor.operation_event,
        provisor.workload, provisor.workload_chunk
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
        provisor.count_operations(),
        provisor.add_usage(uuid, bigint, bigint, bigint, bigint, bigint, bigint),
        provisor.operation_bytes(json, json), provisor.refuse_quota(text, bigint, bigint),
        provisor.read_usage(bigint, bigint, bigint, bigint, bigint, bigint, bigint),
        provisor.check_usage(bigint, bigint, bigint, bigint, bigint, bigint, bigint, bigint, bigint),
        provisor.count_usage(bigint, bigint, bigint, bigint, bigint, bigint, boolean, boolean, boolean, bigint, bigint),
        provisor.recount_usage(bigint),
        provisor.dispatch_events(bigint, bigint, bigint),
        provisor.claim_webhooks(uuid, bigint, bigint),
        provisor.load_deliveries(uuid, bigint, uuid[], uuid[], bigint[], uuid[]),
        provisor.record_deliveries(uuid, uuid[], uuid[], uuid[], bigint[], text[], bigint[], text[], uuid[],
                                   uuid[], bigint[], bigint[], bigint[], bigint[], boolean[], text[], text[]),
        provisor.release_webhooks(uuid, uuid[], uuid[]), provisor.expire_deliveries(bigint),
        provisor.end_disabled(uuid, uuid), provisor.count_webhooks(),
        provisor.expire_admissions(bigint)
        TO provisor_service;
    RETURN true;
END
$$;

REVOKE ALL ON provisor.workload, provisor.workload_chunk FROM PUBLIC;
REVOKE ALL ON FUNCTION provisor.count_workload() FROM PUBLIC;
