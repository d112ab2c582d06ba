-- Quota loops: their settings, and how far each has come. One row a loop, so that a sample is one row
-- read, locked and written, and any replica takes the next. An application that is over stays in the
-- settings, and is marked. Executors refer to applications and workers by their places in these lists,
-- from 0.
CREATE TABLE provisor.quota_loop (
    team_id uuid NOT NULL REFERENCES provisor.team,
    name text NOT NULL,
    strategy text NOT NULL,
    gamma double precision NOT NULL CHECK (gamma BETWEEN 0 AND 1),
    average_nominal_rate double precision NOT NULL CHECK (average_nominal_rate > 0),
    worker_names text[] NOT NULL,
    worker_cores double precision[] NOT NULL,
    application_names text[] NOT NULL,
    application_releases_s double precision[] NOT NULL,
    application_deadlines_s double precision[] NOT NULL,
    application_alphas double precision[] NOT NULL,
    application_nominal_rates double precision[] NOT NULL, -- null: unknown
    application_ended boolean[] NOT NULL,
    gain double precision NOT NULL CHECK (gain > 0),
    integral_time_s double precision NOT NULL CHECK (integral_time_s > 0),
    sample_s double precision NOT NULL CHECK (sample_s > 0),
    core_quantum double precision NOT NULL CHECK (core_quantum > 0 AND core_quantum <= 1),
    core_min double precision NOT NULL CHECK (core_min >= 0),
    period_us bigint CHECK (period_us > 0), -- of cgroups; null: no cpu.max is wanted
    -- As of the last sample. The reply is given again to a repetition, which the hash tells.
    sequence bigint CHECK (sequence >= 0),
    at_s double precision,
    sample_hash bytea CHECK (octet_length(sample_hash) = 32),
    reply text,
    executor_ids text[] NOT NULL DEFAULT '{}',
    executor_applications bigint[] NOT NULL DEFAULT '{}',
    executor_workers bigint[] NOT NULL DEFAULT '{}',
    executor_stages bigint[] NOT NULL DEFAULT '{}',
    executor_tasks bigint[] NOT NULL DEFAULT '{}',
    executor_completed_tasks bigint[] NOT NULL DEFAULT '{}',
    executor_stage_starts_s double precision[] NOT NULL DEFAULT '{}',
    executor_stage_deadlines_s double precision[] NOT NULL DEFAULT '{}',
    executor_set_points double precision[] NOT NULL DEFAULT '{}',
    executor_integral_cores double precision[] NOT NULL DEFAULT '{}',
    executor_cores double precision[] NOT NULL DEFAULT '{}',
    created_at timestamptz NOT NULL DEFAULT now(),
    sampled_at timestamptz NOT NULL DEFAULT now(), -- or made, where no sample has come
    PRIMARY KEY (team_id, name),
    CHECK ((sequence IS NULL) = (at_s IS NULL) AND (sequence IS NULL) = (sample_hash IS NULL)
           AND (sequence IS NULL) = (reply IS NULL))
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.1);
ALTER TABLE provisor.quota_loop ENABLE ROW LEVEL SECURITY;
ALTER TABLE provisor.quota_loop FORCE ROW LEVEL SECURITY;
CREATE POLICY own_team ON provisor.quota_loop USING (team_id = provisor.current_team())
    WITH CHECK (team_id = provisor.current_team());

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
        provisor.webhook, provisor.webhook_delivery, provisor.quota_loop,
        provisor.idempotency_key, provisor.application_model, provisor.name_rules,
        provisor.cluster, provisor.cluster_report, provisor.cluster_processing,
        provisor.cluster_transfer, provisor.price_book, provisor.price,
        provisor.operation TO provisor_service;
    GRANT SELECT, INSERT, UPDATE ON provisor.team_usage, provisor.team_quota TO provisor_service;
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
        provisor.end_disabled(uuid, uuid), provisor.count_webhooks()
        TO provisor_service;
    RETURN true;
END
$$;

REVOKE ALL ON provisor.quota_loop FROM PUBLIC;
