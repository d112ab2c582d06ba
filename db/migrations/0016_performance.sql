-- What clusters report of themselves: how fast they process, how fast data comes in, outages.
--
-- One row a cluster that reports. Whoever reports locks it first, so that reports of a cluster take
-- turns and the rows below are read, added to and written by one at a time.
CREATE TABLE provisor.cluster_report (
    team_id uuid NOT NULL,
    cluster_id uuid NOT NULL,
    first_us bigint NOT NULL, -- microseconds since 1970: what was reported on begins here
    newest_us bigint NOT NULL, -- and ends here
    outage_from_us bigint[] NOT NULL DEFAULT '{}', -- apart from each other, rising
    outage_until_us bigint[] NOT NULL DEFAULT '{}',
    forgotten_at timestamptz NOT NULL, -- from then on it tells nothing any more
    PRIMARY KEY (team_id, cluster_id),
    FOREIGN KEY (team_id, cluster_id) REFERENCES provisor.cluster ON DELETE CASCADE,
    CHECK (first_us <= newest_us),
    CHECK (cardinality(outage_from_us) = cardinality(outage_until_us))
);
ALTER TABLE provisor.cluster_report ENABLE ROW LEVEL SECURITY;
ALTER TABLE provisor.cluster_report FORCE ROW LEVEL SECURITY;
CREATE POLICY own_team ON provisor.cluster_report USING (team_id = provisor.current_team())
    WITH CHECK (team_id = provisor.current_team());

-- Distributions of speeds, of an operation in a cluster and of transfers into one from another. The
-- bins and what they mean belong to service/core/geo/performance.h. Rows are rewritten at every
-- report, hence the room on their pages and no index on what changes.
CREATE TABLE provisor.cluster_processing (
    team_id uuid NOT NULL,
    cluster_id uuid NOT NULL,
    operation text NOT NULL,
    landmark_us bigint NOT NULL,
    half_life_s bigint NOT NULL CHECK (half_life_s >= 1),
    level bigint NOT NULL CHECK (level >= 0),
    bins bigint[] NOT NULL,
    weights double precision[] NOT NULL,
    masses double precision[] NOT NULL,
    samples bigint NOT NULL CHECK (samples >= 1),
    newest_us bigint NOT NULL,
    forgotten_at timestamptz NOT NULL, -- from then on the row counts as absent
    PRIMARY KEY (team_id, cluster_id, operation),
    FOREIGN KEY (team_id, cluster_id) REFERENCES provisor.cluster ON DELETE CASCADE,
    CHECK (cardinality(bins) BETWEEN 1 AND 32),
    CHECK (cardinality(weights) = cardinality(bins) AND cardinality(masses) = cardinality(bins))
) WITH (fillfactor = 70);
CREATE INDEX cluster_processing_operation ON provisor.cluster_processing (team_id, operation, cluster_id);
ALTER TABLE provisor.cluster_processing ENABLE ROW LEVEL SECURITY;
ALTER TABLE provisor.cluster_processing FORCE ROW LEVEL SECURITY;
CREATE POLICY own_team ON provisor.cluster_processing USING (team_id = provisor.current_team())
    WITH CHECK (team_id = provisor.current_team());

CREATE TABLE provisor.cluster_transfer (
    team_id uuid NOT NULL,
    cluster_id uuid NOT NULL, -- where the data comes to
    from_id uuid NOT NULL,
    landmark_us bigint NOT NULL,
    half_life_s bigint NOT NULL CHECK (half_life_s >= 1),
    level bigint NOT NULL CHECK (level >= 0),
    bins bigint[] NOT NULL,
    weights double precision[] NOT NULL,
    masses double precision[] NOT NULL,
    samples bigint NOT NULL CHECK (samples >= 1),
    newest_us bigint NOT NULL,
    forgotten_at timestamptz NOT NULL,
    PRIMARY KEY (team_id, cluster_id, from_id),
    FOREIGN KEY (team_id, cluster_id) REFERENCES provisor.cluster ON DELETE CASCADE,
    FOREIGN KEY (team_id, from_id) REFERENCES provisor.cluster ON DELETE CASCADE,
    CHECK (cluster_id <> from_id),
    CHECK (cardinality(bins) BETWEEN 1 AND 32),
    CHECK (cardinality(weights) = cardinality(bins) AND cardinality(masses) = cardinality(bins))
) WITH (fillfactor = 70);
CREATE INDEX cluster_transfer_from ON provisor.cluster_transfer (team_id, from_id);
ALTER TABLE provisor.cluster_transfer ENABLE ROW LEVEL SECURITY;
ALTER TABLE provisor.cluster_transfer FORCE ROW LEVEL SECURITY;
CREATE POLICY own_team ON provisor.cluster_transfer USING (team_id = provisor.current_team())
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
        provisor.renew_operations(bigint, uuid[], uuid[], bigint[], bigint[], bigint[], text[]),
        provisor.list_lost_operations(bigint), provisor.watch_operations(uuid[], uuid[], uuid[]),
        provisor.count_operations()
        TO provisor_service;
    RETURN true;
END
$$;

REVOKE ALL ON provisor.cluster_report, provisor.cluster_processing, provisor.cluster_transfer
    FROM PUBLIC;
