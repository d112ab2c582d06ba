-- Keeping: the service removes what is past its retention, thins the detail of old runs, and makes
-- and drops the monthly partitions by itself. What needs to look across teams or to change the
-- schema is a function here that does exactly one such thing as the owner; everything else the
-- service does team by team, behind the same wall as always.

-- --- old detail, thinned ---

-- A stage whose single task times were given up keeps how they were spread: ascending groups of
-- tasks, how many and their mean. task_durations_s is null then.
ALTER TABLE provisor.run_stage
    ADD COLUMN sketch_tasks bigint[],
    ADD COLUMN sketch_mean_s float8[],
    ADD CONSTRAINT run_stage_sketch CHECK ((sketch_tasks IS NULL) = (sketch_mean_s IS NULL)
        AND (sketch_tasks IS NULL OR (task_durations_s IS NULL
             AND cardinality(sketch_tasks) = cardinality(sketch_mean_s))));
ALTER TABLE provisor.run ADD COLUMN tasks_thinned boolean NOT NULL DEFAULT false;
CREATE INDEX run_unthinned ON provisor.run (instant) WHERE has_stages AND NOT tasks_thinned;

-- --- indexes for what is looked for by age ---

CREATE INDEX outbox_delivered ON provisor.outbox (team_id, delivered_at)
    WHERE delivered_at IS NOT NULL;
CREATE INDEX audit_by_time ON provisor.audit (at);

-- --- one at a time ---

-- Of all replicas one keeps house, and none waits for it: whoever holds the lease. It is renewed
-- with every batch; who dies in the middle is followed by another when it runs out.
CREATE TABLE provisor.housekeeping (
    only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    holder uuid,
    held_until timestamptz,
    began_at timestamptz
);
INSERT INTO provisor.housekeeping DEFAULT VALUES;

-- True: the caller may go on (or begin, when the last pass began every_s seconds ago) until
-- lease_s seconds from now.
CREATE FUNCTION provisor.claim_housekeeping(claimant uuid, every_s bigint, lease_s bigint)
    RETURNS boolean
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    UPDATE provisor.housekeeping
       SET began_at = CASE WHEN holder IS NOT DISTINCT FROM claimant THEN began_at ELSE now() END,
           holder = claimant,
           held_until = now() + lease_s * interval '1 second'
     WHERE only_row IN (SELECT only_row FROM provisor.housekeeping FOR UPDATE SKIP LOCKED)
       AND (holder = claimant
            OR ((holder IS NULL OR held_until <= now())
                AND (began_at IS NULL OR began_at <= now() - every_s * interval '1 second')));
    RETURN FOUND;
END
$$;

CREATE FUNCTION provisor.end_housekeeping(claimant uuid) RETURNS void
    LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $$ UPDATE provisor.housekeeping SET holder = NULL, held_until = NULL
           WHERE holder = claimant $$;

-- --- what there is to do, across teams ---

DO $$
DECLARE
    t text;
BEGIN
    FOREACH t IN ARRAY ARRAY['application', 'run', 'run_label', 'run_stage', 'advice', 'audit'] LOOP
        EXECUTE format('CREATE POLICY registry ON provisor.%I FOR %s TO %I'
                       ' USING (current_setting(''provisor.registry'', true) = ''on'')',
                       t, CASE t WHEN 'audit' THEN 'ALL' ELSE 'SELECT' END, current_user);
    END LOOP;
END
$$;

CREATE FUNCTION provisor.list_team_ids(after_id uuid, n bigint) RETURNS SETOF uuid
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    PERFORM set_config('provisor.registry', 'on', true);
    RETURN QUERY SELECT t.team_id FROM provisor.team t
                  WHERE after_id IS NULL OR t.team_id > after_id ORDER BY t.team_id LIMIT n;
    PERFORM set_config('provisor.registry', 'off', true);
END
$$;

-- The next n applications by key, whether due or not: what holds for each (its own retention, else
-- the default; null: none), and whether it has runs beyond that.
CREATE FUNCTION provisor.list_retention(after_team uuid, after_id uuid, n bigint,
                                        default_days bigint, default_runs bigint)
    RETURNS TABLE (team_id uuid, application_id uuid, keep_days bigint, keep_runs bigint,
                   due boolean)
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    AS $$
#variable_conflict use_column
BEGIN
    PERFORM set_config('provisor.registry', 'on', true);
    RETURN QUERY
        SELECT a.team_id, a.id, k.days, k.runs,
               coalesce(a.runs > k.runs, false)
               OR coalesce(EXISTS (SELECT FROM provisor.run r
                                    WHERE r.team_id = a.team_id AND r.application_id = a.id
                                      AND r.instant < now() - k.days * interval '1 day'), false)
          FROM (SELECT * FROM provisor.application
                 WHERE after_team IS NULL OR (team_id, id) > (after_team, after_id)
                 ORDER BY team_id, id LIMIT n) AS a,
               LATERAL (SELECT coalesce(a.retention_days, nullif(default_days, 0)) AS days,
                               coalesce(a.retention_runs, nullif(default_runs, 0)) AS runs) AS k
         ORDER BY a.team_id, a.id;
    PERFORM set_config('provisor.registry', 'off', true);
END
$$;

-- Runs older than that whose task times still lie there one by one; the oldest first.
CREATE FUNCTION provisor.list_unthinned(older_than_days bigint, n bigint)
    RETURNS TABLE (team_id uuid, application_id uuid, run_id uuid)
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    AS $$
#variable_conflict use_column
BEGIN
    PERFORM set_config('provisor.registry', 'on', true);
    RETURN QUERY SELECT r.team_id, r.application_id, r.id FROM provisor.run r
                  WHERE r.has_stages AND NOT r.tasks_thinned
                    AND r.instant < now() - older_than_days * interval '1 day'
                  ORDER BY r.instant LIMIT n;
    PERFORM set_config('provisor.registry', 'off', true);
END
$$;

-- The audit is not the service's to delete from: at most n rows, none younger than 30 days.
CREATE FUNCTION provisor.expire_audit(older_than_days bigint, n bigint) RETURNS bigint
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    gone bigint;
BEGIN
    PERFORM set_config('provisor.registry', 'on', true);
    DELETE FROM provisor.audit WHERE (team_id, id) IN
        (SELECT a.team_id, a.id FROM provisor.audit a
          WHERE a.at < now() - greatest(older_than_days, 30) * interval '1 day'
          ORDER BY a.at LIMIT n);
    GET DIAGNOSTICS gone = ROW_COUNT;
    PERFORM set_config('provisor.registry', 'off', true);
    RETURN gone;
END
$$;

-- --- monthly partitions ---

-- The least UUIDv7 of an instant.
CREATE FUNCTION provisor.uuid7_floor(at timestamptz) RETURNS uuid
    LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
    AS $$ SELECT (lpad(to_hex(floor(extract(epoch FROM at) * 1000)::bigint), 12, '0')
                  || repeat('0', 20))::uuid $$;

-- Make one partition that is missing among this month's and those of the months ahead (UTC), and
-- say its name; null when none is missing. A month of which rows lie in the default partition
-- already stays there: they could only be moved by deleting them, and that would take along what
-- refers to them. It does not wait for locks, behind which everybody else would queue: lock_timeout
-- ends it with 55P03, and the next pass tries again.
CREATE FUNCTION provisor.make_partition(months_ahead bigint) RETURNS text
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    SET lock_timeout = '300ms'
    AS $$
DECLARE
    month timestamp;
    parent text;
    child text;
    low uuid;
    high uuid;
    taken boolean;
BEGIN
    PERFORM set_config('provisor.registry', 'on', true);
    FOR month IN SELECT generate_series(m, m + least(months_ahead, 120) * interval '1 month',
                                        interval '1 month')
                   FROM date_trunc('month', now() AT TIME ZONE 'UTC') AS m
    LOOP
        low := provisor.uuid7_floor(month AT TIME ZONE 'UTC');
        high := provisor.uuid7_floor((month + interval '1 month') AT TIME ZONE 'UTC');
        FOREACH parent IN ARRAY ARRAY['run', 'run_label', 'run_stage', 'advice', 'audit'] LOOP
            child := parent || to_char(month, '"_"YYYY"_"MM');
            CONTINUE WHEN to_regclass('provisor.' || child) IS NOT NULL;
            EXECUTE format('SELECT EXISTS (SELECT FROM provisor.%I WHERE %I >= $1 AND %2$I < $2)',
                           parent, CASE WHEN parent LIKE 'run\_%' THEN 'run_id' ELSE 'id' END)
               INTO taken USING low, high;
            CONTINUE WHEN taken;
            EXECUTE format('CREATE TABLE provisor.%I PARTITION OF provisor.%I'
                           ' FOR VALUES FROM (%L) TO (%L)', child, parent, low, high);
            EXECUTE format('ALTER TABLE provisor.%I ENABLE ROW LEVEL SECURITY', child);
            EXECUTE format('ALTER TABLE provisor.%I FORCE ROW LEVEL SECURITY', child);
            EXECUTE format('CREATE POLICY own_team ON provisor.%I'
                           ' USING (team_id = provisor.current_team())'
                           ' WITH CHECK (team_id = provisor.current_team())', child);
            PERFORM set_config('provisor.registry', 'off', true);
            RETURN child;
        END LOOP;
    END LOOP;
    PERFORM set_config('provisor.registry', 'off', true);
    RETURN NULL;
END
$$;

-- The partitions that make_partition has made, and the instants they end at.
CREATE VIEW provisor.monthly_partition AS
    SELECT p.relname::text AS parent, c.relname::text AS child, m.month AS begins_at,
           (m.month AT TIME ZONE 'UTC' + interval '1 month') AT TIME ZONE 'UTC' AS ends_at
      FROM pg_catalog.pg_inherits i
      JOIN pg_catalog.pg_class p ON p.oid = i.inhparent
      JOIN pg_catalog.pg_class c ON c.oid = i.inhrelid
      CROSS JOIN LATERAL (SELECT to_date(substring(c.relname FROM '_([0-9]{4}_[0-9]{2})$'),
                                         'YYYY_MM')::timestamp AT TIME ZONE 'UTC' AS month) AS m
     WHERE p.relnamespace = 'provisor'::regnamespace AND p.relkind = 'p'
       AND c.relname ~ ('^' || p.relname || '_[0-9]{4}_[0-9]{2}$');

-- Drop one month that is over and say its name; null when there is none: a month of audit or advice
-- wholly older than its retention (days; 0: kept for ever; audit at least 30), or one of runs,
-- with their labels and stages, of which retention has left no run. Waits for locks no more than
-- make_partition does.
CREATE FUNCTION provisor.drop_partition(audit_days bigint, advice_days bigint) RETURNS text
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    SET lock_timeout = '300ms'
    AS $$
DECLARE
    old record;
    low uuid;
    high uuid;
    part text;
BEGIN
    SELECT parent, child INTO old FROM provisor.monthly_partition
     WHERE (parent = 'audit' AND audit_days > 0
            AND ends_at < now() - greatest(audit_days, 30) * interval '1 day')
        OR (parent = 'advice' AND advice_days > 0 AND ends_at < now() - advice_days * interval '1 day')
     ORDER BY ends_at, child LIMIT 1;
    IF FOUND THEN
        EXECUTE format('DROP TABLE provisor.%I', old.child);
        RETURN old.child;
    END IF;
    PERFORM set_config('provisor.registry', 'on', true);
    -- Clocks of replicas differ a little; two days is more than they do.
    FOR old IN SELECT child, begins_at, ends_at FROM provisor.monthly_partition
                WHERE parent = 'run' AND ends_at < now() - interval '2 days' ORDER BY ends_at
    LOOP
        low := provisor.uuid7_floor(old.begins_at);
        high := provisor.uuid7_floor(old.ends_at);
        CONTINUE WHEN EXISTS (SELECT FROM provisor.run WHERE id >= low AND id < high);
        LOCK TABLE ONLY provisor.run IN ACCESS EXCLUSIVE MODE; -- parent first, as readers do
        EXECUTE format('LOCK TABLE provisor.%I IN ACCESS EXCLUSIVE MODE', old.child);
        CONTINUE WHEN EXISTS (SELECT FROM provisor.run WHERE id >= low AND id < high);
        FOREACH part IN ARRAY ARRAY['run_label', 'run_stage'] LOOP
            EXECUTE format('DROP TABLE IF EXISTS provisor.%I', part || right(old.child, 8));
        END LOOP;
        -- A partition that foreign keys refer to has to be detached before it can go.
        EXECUTE format('ALTER TABLE provisor.run DETACH PARTITION provisor.%I', old.child);
        EXECUTE format('DROP TABLE provisor.%I', old.child);
        PERFORM set_config('provisor.registry', 'off', true);
        RETURN old.child;
    END LOOP;
    PERFORM set_config('provisor.registry', 'off', true);
    RETURN NULL;
END
$$;

-- A new database begins with its months; one that has rows already with the months to come.
DO $$
BEGIN
    WHILE provisor.make_partition(3) IS NOT NULL LOOP
    END LOOP;
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
        provisor.idempotency_key, provisor.application_model TO provisor_service;
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

REVOKE ALL ON provisor.housekeeping, provisor.monthly_partition FROM PUBLIC;
REVOKE ALL ON ALL FUNCTIONS IN SCHEMA provisor FROM PUBLIC;
