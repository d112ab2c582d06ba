-- Clusters that a team has told of, and what their machines cost.
CREATE TABLE provisor.price_book (
    team_id uuid NOT NULL REFERENCES provisor.team,
    id uuid NOT NULL,
    name text NOT NULL,
    currency text NOT NULL CHECK (currency ~ '^[A-Z]{3}$'), -- ISO 4217
    rows bigint NOT NULL CHECK (rows >= 1), -- of provisor.price
    version bigint NOT NULL DEFAULT 1,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (team_id, id),
    UNIQUE (team_id, name)
);
ALTER TABLE provisor.price_book ENABLE ROW LEVEL SECURITY;
ALTER TABLE provisor.price_book FORCE ROW LEVEL SECURITY;
CREATE POLICY own_team ON provisor.price_book USING (team_id = provisor.current_team())
    WITH CHECK (team_id = provisor.current_team());

-- What a cluster does not tell is null. Tables of things that are measured on a cluster refer to its
-- id and go with it; tables of things that need it refer to it without a cascade and stand in
-- provisor.cluster_reference below.
CREATE TABLE provisor.cluster (
    team_id uuid NOT NULL REFERENCES provisor.team,
    id uuid NOT NULL,
    name text NOT NULL,
    description text,
    label_keys text[] NOT NULL,
    label_values text[] NOT NULL,
    executors bigint CHECK (executors >= 1),
    cores_per_executor bigint CHECK (cores_per_executor >= 1),
    memory_bytes_per_executor bigint CHECK (memory_bytes_per_executor >= 1),
    slots bigint CHECK (slots >= 0),
    slot_s double precision CHECK (slot_s > 0),
    unreachable_probability double precision CHECK (unreachable_probability BETWEEN 0 AND 1),
    ingress_bytes_per_s double precision CHECK (ingress_bytes_per_s >= 0),
    egress_bytes_per_s double precision CHECK (egress_bytes_per_s >= 0),
    price_book_id uuid,
    machine_type text,
    version bigint NOT NULL DEFAULT 1,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (team_id, id),
    UNIQUE (team_id, name),
    FOREIGN KEY (team_id, price_book_id) REFERENCES provisor.price_book,
    CHECK (cardinality(label_keys) = cardinality(label_values))
);
CREATE INDEX cluster_price_book ON provisor.cluster (team_id, price_book_id);
ALTER TABLE provisor.cluster ENABLE ROW LEVEL SECURITY;
ALTER TABLE provisor.cluster FORCE ROW LEVEL SECURITY;
CREATE POLICY own_team ON provisor.cluster USING (team_id = provisor.current_team())
    WITH CHECK (team_id = provisor.current_team());

-- A row prices a type of machine or a cluster. The cluster is named, and may come later; while there
-- is one of that name, cluster_id leads to it.
CREATE TABLE provisor.price (
    team_id uuid NOT NULL,
    price_book_id uuid NOT NULL,
    position bigint NOT NULL,
    machine_type text,
    cluster text,
    cluster_id uuid,
    per_executor_hour double precision NOT NULL CHECK (per_executor_hour >= 0),
    spot_per_executor_hour double precision CHECK (spot_per_executor_hour >= 0),
    interruptions_per_hour double precision CHECK (interruptions_per_hour >= 0),
    PRIMARY KEY (team_id, price_book_id, position),
    UNIQUE (team_id, price_book_id, machine_type),
    UNIQUE (team_id, price_book_id, cluster),
    FOREIGN KEY (team_id, price_book_id) REFERENCES provisor.price_book ON DELETE CASCADE,
    FOREIGN KEY (team_id, cluster_id) REFERENCES provisor.cluster,
    CHECK ((machine_type IS NULL) <> (cluster IS NULL)),
    CHECK (cluster_id IS NULL OR cluster IS NOT NULL)
);
CREATE INDEX price_cluster ON provisor.price (team_id, cluster_id) WHERE cluster_id IS NOT NULL;
CREATE INDEX price_cluster_name ON provisor.price (team_id, cluster) WHERE cluster IS NOT NULL;
ALTER TABLE provisor.price ENABLE ROW LEVEL SECURITY;
ALTER TABLE provisor.price FORCE ROW LEVEL SECURITY;
CREATE POLICY own_team ON provisor.price USING (team_id = provisor.current_team())
    WITH CHECK (team_id = provisor.current_team());

-- Who keeps a cluster, or a price book, from being deleted. A migration that adds a table which
-- refers to one of them replaces the view (a test compares them with the foreign keys). Whoever
-- deletes locks the row first, so that nobody can begin to refer to it in between.
CREATE VIEW provisor.cluster_reference WITH (security_invoker = true) AS
    SELECT p.team_id, p.cluster_id, 'price book'::text AS kind, b.name
      FROM provisor.price p JOIN provisor.price_book b ON b.team_id = p.team_id AND b.id = p.price_book_id
     WHERE p.cluster_id IS NOT NULL;
CREATE VIEW provisor.price_book_reference WITH (security_invoker = true) AS
    SELECT team_id, price_book_id, 'cluster'::text AS kind, name FROM provisor.cluster WHERE price_book_id IS NOT NULL;

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
        provisor.cluster, provisor.price_book, provisor.price,
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

REVOKE ALL ON provisor.cluster, provisor.price_book, provisor.price, provisor.cluster_reference,
    provisor.price_book_reference FROM PUBLIC;
