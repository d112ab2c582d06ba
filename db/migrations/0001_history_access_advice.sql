-- The first schema: who asks (team, token), what was learnt (application, run), what was answered
-- (advice), and what tells of it (audit, outbox).
--
-- Conventions every later migration keeps:
--   * Every table of a team carries team_id, has row level security enabled and forced, and a policy
--     on provisor.current_team(). Keys begin with team_id (then application_id), so that the data can
--     be spread over machines by either.
--   * run, run_stage, run_label, advice and audit are partitioned by range of a UUIDv7, i.e. by time:
--     "CREATE TABLE provisor.run_2026_02 PARTITION OF provisor.run FOR VALUES FROM ('019...') TO
--     ('019...')" adds a month. Until somebody does, everything lies in the default partition.
--   * Under row level security an index can serve a condition only when its operator is leakproof:
--     =, < and > of text, uuid, bigint and timestamptz are; @> of arrays and jsonb is not. Hence the
--     table run_label rather than a GIN index.
--   * The service's role may do what provisor.grant_service() lists and nothing else; it is granted
--     nothing on partitions, which are reached through their parents only.

CREATE FUNCTION provisor.current_team() RETURNS uuid
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $$ SELECT nullif(current_setting('provisor.team_id', true), '')::uuid $$;

-- What is made in a transaction without a team ends here rather than in somebody's rows.
COMMENT ON FUNCTION provisor.current_team() IS
    'the team of this transaction: set_config(''provisor.team_id'', ..., true); null sees nothing';

CREATE TABLE provisor.service_key (
    only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    key bytea NOT NULL CHECK (octet_length(key) = 32)
);
-- Four random UUIDs hold 488 random bits; the hash makes 32 even bytes of them.
INSERT INTO provisor.service_key (key)
    VALUES (sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())
                   || uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())));

CREATE TABLE provisor.team (
    team_id uuid PRIMARY KEY,
    name text COLLATE "C" NOT NULL UNIQUE CHECK (char_length(name) BETWEEN 1 AND 255),
    is_operator boolean NOT NULL DEFAULT false,
    created_at timestamptz NOT NULL DEFAULT now()
);
CREATE UNIQUE INDEX team_one_operator ON provisor.team (is_operator) WHERE is_operator;

CREATE TABLE provisor.token (
    team_id uuid NOT NULL REFERENCES provisor.team,
    id uuid NOT NULL UNIQUE, -- looked up before the team is known
    name text NOT NULL,
    scopes smallint NOT NULL CHECK (scopes BETWEEN 1 AND 7),
    hash bytea NOT NULL CHECK (octet_length(hash) = 32),
    created_at timestamptz NOT NULL DEFAULT now(),
    expires_at timestamptz,
    last_used_at timestamptz,
    revoked_at timestamptz,
    PRIMARY KEY (team_id, id)
);

CREATE TABLE provisor.application (
    team_id uuid NOT NULL REFERENCES provisor.team,
    id uuid NOT NULL,
    name text COLLATE "C" NOT NULL CHECK (char_length(name) BETWEEN 1 AND 255),
    description text,
    label_keys text[] NOT NULL DEFAULT '{}',
    label_values text[] NOT NULL DEFAULT '{}',
    retention_days bigint CHECK (retention_days > 0),
    retention_runs bigint CHECK (retention_runs > 0),
    runs bigint NOT NULL DEFAULT 0 CHECK (runs >= 0),
    version bigint NOT NULL DEFAULT 1,
    history_version bigint NOT NULL DEFAULT 0,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (team_id, id),
    UNIQUE (team_id, name),
    CHECK (cardinality(label_keys) = cardinality(label_values))
);

CREATE TABLE provisor.run (
    team_id uuid NOT NULL,
    application_id uuid NOT NULL,
    id uuid NOT NULL,
    advice_id uuid, -- may outlive the advice
    problem_size bigint,
    executors bigint,
    cores_per_executor bigint,
    duration_s float8,
    initialization_s float8,
    started_at timestamptz,
    recorded_at timestamptz NOT NULL DEFAULT now(),
    instant timestamptz NOT NULL GENERATED ALWAYS AS (coalesce(started_at, recorded_at)) STORED,
    succeeded boolean NOT NULL,
    label_keys text[] NOT NULL,
    label_values text[] NOT NULL,
    has_stages boolean NOT NULL,
    replayable boolean NOT NULL GENERATED ALWAYS AS
        (has_stages AND executors IS NOT NULL AND cores_per_executor IS NOT NULL) STORED,
    from_log boolean NOT NULL,
    spark_application_id text,
    spark_attempt_id text,
    spark_version text,
    ended boolean NOT NULL,
    jobs bigint,
    stages_completed bigint,
    stages_failed bigint,
    tasks_succeeded bigint,
    tasks_failed bigint,
    task_time_s float8,
    failed_task_time_s float8,
    executors_added bigint,
    property_keys text[] NOT NULL,
    property_values text[] NOT NULL,
    warning_codes text[] NOT NULL,
    warning_counts bigint[] NOT NULL,
    warning_details text[] NOT NULL,
    PRIMARY KEY (team_id, application_id, id),
    FOREIGN KEY (team_id, application_id) REFERENCES provisor.application ON DELETE CASCADE
) PARTITION BY RANGE (id);
CREATE TABLE provisor.run_default PARTITION OF provisor.run DEFAULT;
CREATE INDEX run_by_id ON provisor.run (team_id, id);
CREATE INDEX run_newest ON provisor.run (team_id, application_id, instant DESC, id DESC);
CREATE INDEX run_larger ON provisor.run
    (team_id, application_id, replayable, problem_size, instant DESC, id DESC) WHERE succeeded;
CREATE INDEX run_smaller ON provisor.run
    (team_id, application_id, replayable, problem_size DESC, instant DESC, id DESC) WHERE succeeded;

-- Which logs are known. Not partitioned: its key is what makes a log be kept once.
CREATE TABLE provisor.run_log (
    team_id uuid NOT NULL,
    application_id uuid NOT NULL,
    spark_application_id text COLLATE "C" NOT NULL,
    spark_attempt_id text COLLATE "C" NOT NULL, -- '' for none
    run_id uuid NOT NULL,
    digest bytea,
    ended boolean NOT NULL,
    PRIMARY KEY (team_id, application_id, spark_application_id, spark_attempt_id),
    FOREIGN KEY (team_id, application_id, run_id) REFERENCES provisor.run ON DELETE CASCADE
);
CREATE INDEX run_log_run ON provisor.run_log (team_id, application_id, run_id);

CREATE TABLE provisor.run_label (
    team_id uuid NOT NULL,
    application_id uuid NOT NULL,
    run_id uuid NOT NULL,
    key text COLLATE "C" NOT NULL,
    value text COLLATE "C" NOT NULL,
    instant timestamptz NOT NULL,
    PRIMARY KEY (team_id, application_id, run_id, key),
    FOREIGN KEY (team_id, application_id, run_id) REFERENCES provisor.run ON DELETE CASCADE
) PARTITION BY RANGE (run_id);
CREATE TABLE provisor.run_label_default PARTITION OF provisor.run_label DEFAULT;
CREATE INDEX run_label_newest ON provisor.run_label
    (team_id, application_id, key, value, instant DESC, run_id DESC);

-- A row a stage; the durations of its tasks are one array, exact doubles in task order.
CREATE TABLE provisor.run_stage (
    team_id uuid NOT NULL,
    application_id uuid NOT NULL,
    run_id uuid NOT NULL,
    id bigint NOT NULL,
    name text,
    parents bigint[] NOT NULL,
    tasks bigint,
    task_durations_s float8[],
    task_duration_s float8,
    task_time_s float8,
    duration_s float8,
    started_s float8,
    input_records float8,
    nominal_rate_per_s float8,
    skipped boolean NOT NULL,
    PRIMARY KEY (team_id, application_id, run_id, id),
    FOREIGN KEY (team_id, application_id, run_id) REFERENCES provisor.run ON DELETE CASCADE
) PARTITION BY RANGE (run_id);
CREATE TABLE provisor.run_stage_default PARTITION OF provisor.run_stage DEFAULT;

-- request and document are json, not jsonb: they are given back byte for byte.
CREATE TABLE provisor.advice (
    team_id uuid NOT NULL REFERENCES provisor.team,
    id uuid NOT NULL,
    application_id uuid, -- null: asked for a profile that was never stored
    application_name text COLLATE "C",
    objective text,
    feasible boolean NOT NULL,
    executors bigint,
    predicted_duration_s float8,
    deadline_s float8,
    request json NOT NULL,
    document json NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (team_id, id),
    FOREIGN KEY (team_id, application_id) REFERENCES provisor.application ON DELETE CASCADE
) PARTITION BY RANGE (id);
CREATE TABLE provisor.advice_default PARTITION OF provisor.advice DEFAULT;
CREATE INDEX advice_newest ON provisor.advice (team_id, created_at DESC, id DESC);
CREATE INDEX advice_of_application ON provisor.advice
    (team_id, application_name, created_at DESC, id DESC);
CREATE INDEX advice_owner ON provisor.advice (team_id, application_id);

CREATE TABLE provisor.audit (
    team_id uuid NOT NULL REFERENCES provisor.team,
    id uuid NOT NULL,
    token_id uuid,
    actor text NOT NULL,
    action text NOT NULL,
    subject text NOT NULL,
    request_id text NOT NULL,
    at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (team_id, id)
) PARTITION BY RANGE (id);
CREATE TABLE provisor.audit_default PARTITION OF provisor.audit DEFAULT;

-- Events written with what they tell of; delivery takes them from here.
CREATE TABLE provisor.outbox (
    team_id uuid NOT NULL REFERENCES provisor.team,
    id uuid NOT NULL,
    type text NOT NULL,
    data json NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    delivered_at timestamptz,
    PRIMARY KEY (team_id, id)
);
CREATE INDEX outbox_undelivered ON provisor.outbox (id) WHERE delivered_at IS NULL;

CREATE TABLE provisor.idempotency_key (
    team_id uuid NOT NULL REFERENCES provisor.team,
    token_id uuid NOT NULL,
    method text COLLATE "C" NOT NULL,
    path_hash bytea NOT NULL, -- a path may be longer than an index entry
    key text COLLATE "C" NOT NULL,
    body_hash bytea NOT NULL CHECK (octet_length(body_hash) = 32),
    status integer NOT NULL,
    content_type text,
    location text,
    body bytea NOT NULL,
    expires_at timestamptz NOT NULL DEFAULT now() + interval '24 hours',
    PRIMARY KEY (team_id, token_id, method, path_hash, key)
);
CREATE INDEX idempotency_key_expiry ON provisor.idempotency_key (team_id, expires_at);

-- Row level security. On partitions too, so that there is no side door.
DO $$
DECLARE
    t regclass;
BEGIN
    FOR t IN SELECT c.oid::regclass FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
              WHERE c.relnamespace = 'provisor'::regnamespace AND c.relkind IN ('r', 'p')
                AND a.attname = 'team_id' AND NOT a.attisdropped
    LOOP
        EXECUTE format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY', t);
        EXECUTE format('ALTER TABLE %s FORCE ROW LEVEL SECURITY', t);
        EXECUTE format('CREATE POLICY own_team ON %s USING (team_id = provisor.current_team())'
                       ' WITH CHECK (team_id = provisor.current_team())', t);
    END LOOP;
    -- The functions below work across teams; they run as the owner and switch this on for as long as
    -- they run. The service's role can set it too, but the policy is the owner's alone.
    EXECUTE format('CREATE POLICY registry ON provisor.team TO %I'
                   ' USING (current_setting(''provisor.registry'', true) = ''on'')', current_user);
    EXECUTE format('CREATE POLICY registry ON provisor.token TO %I'
                   ' USING (current_setting(''provisor.registry'', true) = ''on'')', current_user);
END
$$;

CREATE FUNCTION provisor.read_service_key() RETURNS bytea
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $$ SELECT key FROM provisor.service_key $$;

-- The one look-up before a team is known. Notes the use when the last one is over a minute old; of
-- several replicas at once one writes and none waits.
CREATE FUNCTION provisor.look_up_token(token_id uuid)
    RETURNS TABLE (id uuid, team_id uuid, team_name text, name text, scopes smallint, hash bytea,
                   created_at timestamptz, expires_at timestamptz, last_used_at timestamptz,
                   revoked_at timestamptz)
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    AS $$
#variable_conflict use_column
BEGIN
    PERFORM set_config('provisor.registry', 'on', true);
    UPDATE provisor.token SET last_used_at = now()
     WHERE id = (SELECT t.id FROM provisor.token t
                  WHERE t.id = look_up_token.token_id AND t.revoked_at IS NULL
                    AND (t.last_used_at IS NULL OR t.last_used_at < now() - interval '1 minute')
                    FOR UPDATE SKIP LOCKED);
    RETURN QUERY SELECT t.id, t.team_id, m.name, t.name, t.scopes, t.hash, t.created_at,
                        t.expires_at, t.last_used_at, t.revoked_at
                   FROM provisor.token t JOIN provisor.team m ON m.team_id = t.team_id
                  WHERE t.id = look_up_token.token_id;
    PERFORM set_config('provisor.registry', 'off', true);
END
$$;

CREATE FUNCTION provisor.require_operator() RETURNS void
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM provisor.team
                    WHERE team_id = provisor.current_team() AND is_operator) THEN
        RAISE EXCEPTION 'only the operator''s team may do this' USING ERRCODE = 'PV403';
    END IF;
END
$$;

CREATE FUNCTION provisor.list_teams(after_id uuid, n bigint)
    RETURNS TABLE (team_id uuid, name text, created_at timestamptz)
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    AS $$
#variable_conflict use_column
BEGIN
    PERFORM provisor.require_operator();
    PERFORM set_config('provisor.registry', 'on', true);
    RETURN QUERY SELECT t.team_id, t.name, t.created_at FROM provisor.team t
                  WHERE after_id IS NULL OR t.team_id > after_id ORDER BY t.team_id LIMIT n;
    PERFORM set_config('provisor.registry', 'off', true);
END
$$;

-- No row when the name is taken.
CREATE FUNCTION provisor.create_team(new_id uuid, new_name text)
    RETURNS TABLE (team_id uuid, name text, created_at timestamptz)
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    AS $$
#variable_conflict use_column
BEGIN
    PERFORM provisor.require_operator();
    PERFORM set_config('provisor.registry', 'on', true);
    RETURN QUERY INSERT INTO provisor.team AS t (team_id, name) VALUES (new_id, new_name)
        ON CONFLICT DO NOTHING RETURNING t.team_id, t.name, t.created_at;
    PERFORM set_config('provisor.registry', 'off', true);
END
$$;

-- For the command line, as the owner: the team of that name, made when missing. The first one ever
-- is the operator's.
CREATE FUNCTION provisor.ensure_team(new_id uuid, wanted_name text) RETURNS uuid
    LANGUAGE plpgsql VOLATILE
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    found_id uuid;
BEGIN
    PERFORM set_config('provisor.registry', 'on', true);
    LOCK TABLE provisor.team IN SHARE ROW EXCLUSIVE MODE;
    SELECT team_id INTO found_id FROM provisor.team WHERE name = wanted_name;
    IF found_id IS NULL THEN
        INSERT INTO provisor.team (team_id, name, is_operator)
            VALUES (new_id, wanted_name, NOT EXISTS (SELECT FROM provisor.team));
        found_id := new_id;
    END IF;
    PERFORM set_config('provisor.registry', 'off', true);
    RETURN found_id;
END
$$;

-- What the service's role may do. Every run of the migrations calls it, so the role may also be made
-- later; a migration that adds a table replaces it.
CREATE FUNCTION provisor.grant_service() RETURNS boolean
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
        provisor.idempotency_key TO provisor_service;
    GRANT SELECT, INSERT, DELETE ON
        provisor.run_stage, provisor.run_label, provisor.advice TO provisor_service;
    GRANT SELECT, INSERT ON provisor.audit TO provisor_service;
    GRANT EXECUTE ON FUNCTION
        provisor.current_team(), provisor.read_service_key(), provisor.look_up_token(uuid),
        provisor.list_teams(uuid, bigint), provisor.create_team(uuid, text) TO provisor_service;
    RETURN true;
END
$$;

REVOKE ALL ON ALL TABLES IN SCHEMA provisor FROM PUBLIC;
REVOKE ALL ON ALL FUNCTIONS IN SCHEMA provisor FROM PUBLIC;
