-- What was learnt of how an application scales: every kind of model fitted to one version of its
-- history. A cache that can be lost: whoever finds it behind application.history_version, or made by
-- another recipe, makes it anew.
CREATE TABLE provisor.application_model (
    team_id uuid NOT NULL,
    application_id uuid NOT NULL,
    history_version bigint NOT NULL,
    recipe text NOT NULL, -- of the fits: revision of the program's and settings
    fitted bigint NOT NULL CHECK (fitted >= 0), -- how many kinds could be
    selected text, -- the kind; null: none
    refusal_code text, -- where none is selected: why, and what is missing
    refusal text,
    document json NOT NULL, -- all candidates, as they are replied
    fitted_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (team_id, application_id),
    FOREIGN KEY (team_id, application_id) REFERENCES provisor.application ON DELETE CASCADE,
    CHECK ((selected IS NULL) = (refusal IS NOT NULL))
);
ALTER TABLE provisor.application_model ENABLE ROW LEVEL SECURITY;
ALTER TABLE provisor.application_model FORCE ROW LEVEL SECURITY;
CREATE POLICY own_team ON provisor.application_model USING (team_id = provisor.current_team())
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
        provisor.idempotency_key, provisor.application_model TO provisor_service;
    GRANT SELECT, INSERT, DELETE ON
        provisor.run_stage, provisor.run_label, provisor.advice TO provisor_service;
    GRANT SELECT, INSERT ON provisor.audit TO provisor_service;
    GRANT EXECUTE ON FUNCTION
        provisor.current_team(), provisor.read_service_key(), provisor.look_up_token(uuid),
        provisor.list_teams(uuid, bigint), provisor.create_team(uuid, text) TO provisor_service;
    RETURN true;
END
$$;

REVOKE ALL ON provisor.application_model FROM PUBLIC;
