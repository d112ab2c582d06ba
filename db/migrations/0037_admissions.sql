-- Admissions: cores and memory of a cluster that are reserved for a run over a time.
--
-- Whoever reserves, or extends, holds the row of the cluster (FOR NO KEY UPDATE) and looks at what is
-- reserved of it, so that two can never be promised the same cores. Whoever only gives back holds the
-- admission alone. An admission is held while ended_at is null and expires_at lies ahead; from then on
-- it is of no effect, whether or not expire_admissions has been there yet.
CREATE TABLE provisor.admission (
    team_id uuid NOT NULL REFERENCES provisor.team,
    id uuid NOT NULL,
    cluster_id uuid NOT NULL,
    application text NOT NULL, -- need not be there (yet)
    advice_id uuid,            -- may be deleted before
    cores double precision NOT NULL CHECK (cores > 0), -- asked for
    granted_cores double precision NOT NULL CHECK (granted_cores > 0 AND granted_cores <= cores),
    memory_bytes bigint CHECK (memory_bytes >= 1),
    starts_at timestamptz NOT NULL,
    deadline_at timestamptz,
    expires_at timestamptz NOT NULL,
    ended_at timestamptz,
    ending text CHECK (ending IN ('released', 'expired')),
    run_id uuid, -- whose report released it
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (team_id, id),
    -- What is over goes with the cluster; what is held keeps it (cluster_reference).
    FOREIGN KEY (team_id, cluster_id) REFERENCES provisor.cluster ON DELETE CASCADE,
    CHECK (expires_at > starts_at),
    CHECK ((ended_at IS NULL) = (ending IS NULL))
);
CREATE INDEX admission_cluster ON provisor.admission (team_id, cluster_id);
CREATE INDEX admission_held ON provisor.admission (team_id, cluster_id, expires_at) WHERE ended_at IS NULL;
CREATE INDEX admission_application ON provisor.admission (team_id, application) WHERE ended_at IS NULL;
CREATE INDEX admission_due ON provisor.admission (expires_at) WHERE ended_at IS NULL;
CREATE INDEX admission_ended ON provisor.admission (team_id, ended_at) WHERE ended_at IS NOT NULL;

ALTER TABLE provisor.admission ENABLE ROW LEVEL SECURITY;
ALTER TABLE provisor.admission FORCE ROW LEVEL SECURITY;
CREATE POLICY own_team ON provisor.admission USING (team_id = provisor.current_team())
    WITH CHECK (team_id = provisor.current_team());
DO $$
BEGIN
    EXECUTE format('CREATE POLICY registry ON provisor.admission TO %I'
                   ' USING (current_setting(''provisor.registry'', true) = ''on'')', current_user);
END
$$;

CREATE OR REPLACE VIEW provisor.cluster_reference WITH (security_invoker = true) AS
    SELECT p.team_id, p.cluster_id, 'price book'::text AS kind, b.name
      FROM provisor.price p JOIN provisor.price_book b ON b.team_id = p.team_id AND b.id = p.price_book_id
     WHERE p.cluster_id IS NOT NULL
    UNION ALL
    SELECT a.team_id, a.cluster_id, 'admission'::text AS kind, a.id::text AS name
      FROM provisor.admission a WHERE a.ended_at IS NULL;

-- Across teams, for the processes that deliver events: admissions that nobody gave back in time are
-- expired, at most `batch`, and each is reported once, by the transaction that expires it.
CREATE FUNCTION provisor.expire_admissions(batch bigint, OUT expired bigint)
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    PERFORM set_config('provisor.registry', 'on', true);
    WITH due AS MATERIALIZED (
        SELECT a.team_id, a.id FROM provisor.admission a
         WHERE a.ended_at IS NULL AND a.expires_at <= now()
         ORDER BY a.expires_at LIMIT batch FOR NO KEY UPDATE SKIP LOCKED),
    ended AS (
        UPDATE provisor.admission a SET ended_at = a.expires_at, ending = 'expired'
          FROM due d WHERE a.team_id = d.team_id AND a.id = d.id
        RETURNING a.team_id, a.id, a.application, a.granted_cores, a.expires_at),
    reported AS (
        INSERT INTO provisor.outbox (team_id, id, type, data, application_id, severity)
        SELECT e.team_id,
               -- a UUIDv7: events are dispatched in the order of their ids
               overlay(gen_random_uuid()::text PLACING left(provisor.uuid7_floor(clock_timestamp())::text, 14)
                       || '7' FROM 1 FOR 15)::uuid,
               'admission.expired',
               json_build_object('admission_id', e.id, 'application', e.application, 'cores', e.granted_cores,
                                 'expired_at', to_char(e.expires_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')),
               p.id, 1
          FROM ended e LEFT JOIN provisor.application p ON p.team_id = e.team_id AND p.name = e.application
        RETURNING 1)
    SELECT count(*) INTO expired FROM reported;
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
        provisor.end_disabled(uuid, uuid), provisor.count_webhooks(),
        provisor.expire_admissions(bigint)
        TO provisor_service;
    RETURN true;
END
$$;

REVOKE ALL ON provisor.admission FROM PUBLIC;
REVOKE ALL ON FUNCTION provisor.expire_admissions(bigint) FROM PUBLIC;
