-- How names of recurring jobs are folded into applications. A team without a row, or that went back,
-- folds by the rules that are built in; one whose own lists are empty folds nothing.
CREATE TABLE provisor.name_rules (
    team_id uuid PRIMARY KEY REFERENCES provisor.team,
    version bigint NOT NULL DEFAULT 1,
    customized boolean NOT NULL,
    names text[] NOT NULL,
    patterns text[] NOT NULL,
    applications text[] NOT NULL,
    updated_at timestamptz NOT NULL DEFAULT now(),
    CHECK (cardinality(names) = cardinality(patterns)
           AND cardinality(names) = cardinality(applications))
);
ALTER TABLE provisor.name_rules ENABLE ROW LEVEL SECURITY;
ALTER TABLE provisor.name_rules FORCE ROW LEVEL SECURITY;
CREATE POLICY own_team ON provisor.name_rules USING (team_id = provisor.current_team())
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
        provisor.idempotency_key, provisor.application_model, provisor.name_rules TO provisor_service;
    GRANT SELECT, INSERT, DELETE ON
        provisor.run_stage, provisor.run_label, provisor.advice TO provisor_service;
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
        provisor.make_partition(bigint), provisor.drop_partition(bigint, bigint)
        TO provisor_service;
    RETURN true;
END
$$;

REVOKE ALL ON provisor.name_rules FROM PUBLIC;
