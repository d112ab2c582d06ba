-- Attempts to bring logs in: who sent which log, when, and what became of it.
--
-- An accepted log adds a row in the transaction that stores its run. Equal refusals (and duplicates of
-- one run) share a row, which counts them: its id is that of the latest attempt, so that ids are in the
-- order of time. An accepted log closes the open refusals of the same digest, Spark application or source,
-- and those of its application that have neither of the last two.
CREATE TABLE provisor.ingestion (
    team_id uuid NOT NULL REFERENCES provisor.team,
    id uuid NOT NULL,
    at timestamptz NOT NULL DEFAULT clock_timestamp(),      -- of the first attempt
    last_at timestamptz NOT NULL DEFAULT clock_timestamp(), -- of the latest one
    attempts bigint NOT NULL DEFAULT 1 CHECK (attempts >= 1),
    token_id uuid,
    actor text NOT NULL,
    request_id text,
    road text NOT NULL CHECK (road IN ('application', 'log_name', 'import')),
    source text,         -- as the policy for paths leaves it
    application text,    -- need not exist
    spark_application_id text,
    run_id uuid,         -- that was stored, or that closed the refusal; may be deleted before
    digest text,         -- of the plain log, hexadecimal
    bytes bigint CHECK (bytes >= 0),
    outcome text NOT NULL CHECK (outcome IN ('stored', 'replaced', 'duplicate', 'refused')),
    problem text,
    code text,
    reason text,
    same text,           -- equal for attempts that share a row; null for stored and replaced
    closed_at timestamptz,
    PRIMARY KEY (team_id, id),
    CHECK ((outcome = 'refused') = (problem IS NOT NULL)),
    CHECK ((outcome IN ('stored', 'replaced')) = (same IS NULL))
);
CREATE UNIQUE INDEX ingestion_same ON provisor.ingestion (team_id, same) WHERE same IS NOT NULL;
CREATE INDEX ingestion_shared ON provisor.ingestion (team_id, id) WHERE same IS NOT NULL;
CREATE INDEX ingestion_application ON provisor.ingestion (team_id, application, id);
CREATE INDEX ingestion_open_digest ON provisor.ingestion (team_id, digest)
    WHERE outcome = 'refused' AND closed_at IS NULL;
CREATE INDEX ingestion_open_application ON provisor.ingestion (team_id, spark_application_id)
    WHERE outcome = 'refused' AND closed_at IS NULL;
CREATE INDEX ingestion_open_source ON provisor.ingestion (team_id, source)
    WHERE outcome = 'refused' AND closed_at IS NULL;
CREATE INDEX ingestion_open_unknown ON provisor.ingestion (team_id, application)
    WHERE outcome = 'refused' AND closed_at IS NULL AND spark_application_id IS NULL AND source IS NULL;

ALTER TABLE provisor.ingestion ENABLE ROW LEVEL SECURITY;
ALTER TABLE provisor.ingestion FORCE ROW LEVEL SECURITY;
CREATE POLICY own_team ON provisor.ingestion USING (team_id = provisor.current_team())
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
        provisor.webhook, provisor.webhook_delivery, provisor.quota_loop, provisor.admission,
        provisor.idempotency_key, provisor.application_model, provisor.name_rules,
        provisor.cluster, provisor.cluster_report, provisor.cluster_processing,
        provisor.cluster_transfer, provisor.price_book, provisor.price,
        provisor.operation, provisor.ingestion TO provisor_service;
    GRANT SELECT, INSERT, UPDATE ON provisor.team_usage, provisor.team_quota TO provisor_service;
    GRANT SELECT ON provisor.cluster_reference, provisor.price_book_reference TO provisor_service;
    GRANT SELECT, INSERT, DELETE ON
        provisor.run_stage, provisor.run_label, provisor.advice, provisor.operation_event,
        provisor.workload, provisor.workload_chunk
        TO provisor_service;
    GRANT UPDATE (task_durations_s, task_nodes, task_read_bytes, sketch_tasks, sketch_mean_s)
        ON provisor.run_stage TO provisor_service;
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
        provisor.expire_admissions(bigint), provisor.uuid7_floor(timestamptz)
        TO provisor_service;
    RETURN true;
END
$$;
