-- Long work: asked for in one request, done by whichever replica has a worker free, watched by others.
--
-- A worker holds an operation by a lease that its process renews; `attempt` counts how often it was
-- taken and fences what an earlier holder still wants to write. `losses` counts the holders that died
-- or could not go on. What is shown to people (status, progress, cancellation) has a version of its
-- own; renewing a lease does not count as a change.
CREATE TABLE provisor.operation (
    team_id uuid NOT NULL REFERENCES provisor.team,
    id uuid NOT NULL,
    kind text COLLATE "C" NOT NULL,
    application_id uuid, -- null: of none
    application_name text COLLATE "C",
    token_id uuid, -- who asked
    actor text NOT NULL,
    scopes smallint NOT NULL,
    request_id text NOT NULL,
    trace_id text NOT NULL,
    request json, -- null once expired
    status text COLLATE "C" NOT NULL DEFAULT 'queued'
        CHECK (status IN ('queued', 'running', 'succeeded', 'failed', 'cancelled')),
    done bigint NOT NULL DEFAULT 0 CHECK (done >= 0),
    total bigint CHECK (total >= 0),
    unit text,
    attempt bigint NOT NULL DEFAULT 0,
    attempt_done bigint NOT NULL DEFAULT 0, -- what this attempt itself has done: tells the rate
    losses bigint NOT NULL DEFAULT 0,
    worker text, -- the process that holds or last held it
    lease_until timestamptz,
    not_before timestamptz NOT NULL DEFAULT now(),
    events bigint NOT NULL DEFAULT 0, -- number of the last one
    event_at timestamptz,
    version bigint NOT NULL DEFAULT 1,
    result json,
    error json,
    expired boolean NOT NULL DEFAULT false, -- only that it was there is kept
    created_at timestamptz NOT NULL DEFAULT now(),
    started_at timestamptz, -- of the last attempt
    updated_at timestamptz NOT NULL DEFAULT now(),
    finished_at timestamptz,
    expires_at timestamptz,
    cancel_asked_at timestamptz,
    PRIMARY KEY (team_id, id),
    FOREIGN KEY (team_id, application_id) REFERENCES provisor.application ON DELETE CASCADE,
    CHECK ((status = 'running') = (lease_until IS NOT NULL)),
    CHECK ((status IN ('succeeded', 'failed', 'cancelled')) = (finished_at IS NOT NULL))
) WITH (fillfactor = 70);
CREATE INDEX operation_newest ON provisor.operation (team_id, created_at DESC, id DESC);
CREATE INDEX operation_of_application ON provisor.operation (team_id, application_id);
CREATE INDEX operation_queued ON provisor.operation (team_id, created_at, id) WHERE status = 'queued';
CREATE INDEX operation_running ON provisor.operation (team_id, id) WHERE status = 'running';
CREATE INDEX operation_expiry ON provisor.operation (team_id, expires_at) WHERE expires_at IS NOT NULL;

-- What a stream tells, numbered from 1 without gaps in the order of the commits.
CREATE TABLE provisor.operation_event (
    team_id uuid NOT NULL,
    operation_id uuid NOT NULL,
    number bigint NOT NULL,
    is_progress boolean NOT NULL, -- nothing but the progress changed
    status text NOT NULL,
    cancelling boolean NOT NULL,
    attempt bigint NOT NULL,
    done bigint NOT NULL,
    total bigint,
    unit text,
    at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (team_id, operation_id, number),
    FOREIGN KEY (team_id, operation_id) REFERENCES provisor.operation ON DELETE CASCADE
);

-- Whatever changes an operation, progress never falls and what people see leaves an event. Progress
-- leaves one every half second at most, later every hundredth of the time it has taken, so that an
-- hour leaves some five hundred and a day eight hundred; beyond a thousand none but changes of status.
CREATE FUNCTION provisor.number_operation_event() RETURNS trigger
    LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    turned boolean;
    moved boolean;
BEGIN
    IF TG_OP = 'INSERT' THEN
        NEW.events := 1;
        NEW.event_at := now();
        RETURN NEW;
    END IF;
    NEW.done := greatest(NEW.done, OLD.done);
    turned := NEW.status <> OLD.status OR NEW.attempt <> OLD.attempt
              OR (NEW.cancel_asked_at IS NULL) <> (OLD.cancel_asked_at IS NULL);
    moved := (NEW.done, NEW.total, NEW.unit) IS DISTINCT FROM (OLD.done, OLD.total, OLD.unit);
    IF turned OR moved THEN
        NEW.version := OLD.version + 1;
        NEW.updated_at := greatest(now(), OLD.updated_at);
    END IF;
    IF turned OR (moved AND OLD.events < 1000
                  AND now() >= OLD.event_at + greatest(interval '500 milliseconds',
                                                       (now() - NEW.started_at) / 100)) THEN
        NEW.events := OLD.events + 1;
        NEW.event_at := now();
    END IF;
    RETURN NEW;
END
$$;
CREATE FUNCTION provisor.write_operation_event() RETURNS trigger
    LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    told boolean := TG_OP = 'UPDATE';
BEGIN
    IF told THEN
        told := NEW.events = OLD.events;
    END IF;
    IF NOT told THEN
        INSERT INTO provisor.operation_event (team_id, operation_id, number, is_progress, status,
                                              cancelling, attempt, done, total, unit)
            VALUES (NEW.team_id, NEW.id, NEW.events,
                    TG_OP = 'UPDATE' AND NEW.status = OLD.status AND NEW.attempt = OLD.attempt
                    AND (NEW.cancel_asked_at IS NULL) = (OLD.cancel_asked_at IS NULL),
                    NEW.status, NEW.cancel_asked_at IS NOT NULL, NEW.attempt, NEW.done, NEW.total,
                    NEW.unit);
    END IF;
    RETURN NULL;
END
$$;
CREATE TRIGGER number_operation_event BEFORE INSERT OR UPDATE ON provisor.operation
    FOR EACH ROW EXECUTE FUNCTION provisor.number_operation_event();
CREATE TRIGGER write_operation_event AFTER INSERT OR UPDATE ON provisor.operation
    FOR EACH ROW EXECUTE FUNCTION provisor.write_operation_event();

DO $$
DECLARE
    t text;
BEGIN
    FOREACH t IN ARRAY ARRAY['operation', 'operation_event'] LOOP
        EXECUTE format('ALTER TABLE provisor.%I ENABLE ROW LEVEL SECURITY', t);
        EXECUTE format('ALTER TABLE provisor.%I FORCE ROW LEVEL SECURITY', t);
        EXECUTE format('CREATE POLICY own_team ON provisor.%I USING (team_id = provisor.current_team())'
                       ' WITH CHECK (team_id = provisor.current_team())', t);
        EXECUTE format('CREATE POLICY registry ON provisor.%I TO %I'
                       ' USING (current_setting(''provisor.registry'', true) = ''on'')', t, current_user);
    END LOOP;
END
$$;

-- --- across teams: ids and numbers, for the processes that do the work ---

-- Take one operation, for lease_ms: of the team with the fewest running (and fewer than
-- team_running_max) the one that has waited longest. Claimants take turns, so that what they count
-- holds; a row that somebody else has locked is passed over. No row: there is none.
CREATE FUNCTION provisor.claim_operation(claimant text, kinds text[], lease_ms bigint,
                                         team_running_max bigint)
    RETURNS TABLE (team_id uuid, id uuid, attempt bigint)
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    AS $$
#variable_conflict use_column
DECLARE
    of record;
BEGIN
    PERFORM set_config('provisor.registry', 'on', true);
    IF EXISTS (SELECT FROM provisor.operation o
                WHERE o.status = 'queued' AND o.not_before <= now() AND o.kind = ANY (kinds)) THEN
        PERFORM pg_advisory_xact_lock(hashtextextended('provisor.claim_operation', 0));
        FOR of IN
            WITH RECURSIVE waiting AS (
                (SELECT o.team_id FROM provisor.operation o WHERE o.status = 'queued'
                  ORDER BY o.team_id LIMIT 1)
                UNION ALL
                SELECT (SELECT o.team_id FROM provisor.operation o
                         WHERE o.status = 'queued' AND o.team_id > w.team_id
                         ORDER BY o.team_id LIMIT 1)
                  FROM waiting w WHERE w.team_id IS NOT NULL)
            SELECT w.team_id FROM waiting w
             CROSS JOIN LATERAL (SELECT count(*) AS n FROM provisor.operation r
                                  WHERE r.team_id = w.team_id AND r.status = 'running') AS running
             CROSS JOIN LATERAL (SELECT o.created_at FROM provisor.operation o
                                  WHERE o.team_id = w.team_id AND o.status = 'queued'
                                    AND o.not_before <= now() AND o.kind = ANY (kinds)
                                  ORDER BY o.created_at, o.id LIMIT 1) AS first
             WHERE running.n < team_running_max
             ORDER BY running.n, first.created_at, w.team_id
        LOOP
            RETURN QUERY
                UPDATE provisor.operation AS t
                   SET status = 'running', worker = claimant, attempt = t.attempt + 1,
                       attempt_done = 0, started_at = now(),
                       lease_until = clock_timestamp() + lease_ms * interval '1 millisecond'
                 WHERE (t.team_id, t.id) IN
                       (SELECT o.team_id, o.id FROM provisor.operation o
                         WHERE o.team_id = of.team_id AND o.status = 'queued'
                           AND o.not_before <= now() AND o.kind = ANY (kinds)
                         ORDER BY o.created_at, o.id LIMIT 1 FOR UPDATE SKIP LOCKED)
                RETURNING t.team_id, t.id, t.attempt;
            EXIT WHEN FOUND;
        END LOOP;
    END IF;
    PERFORM set_config('provisor.registry', 'off', true);
END
$$;

-- What a process holds: leases are renewed, progress is written where it moved; each that it still
-- holds is answered, and whether it is to stop.
CREATE FUNCTION provisor.renew_operations(lease_ms bigint, team_ids uuid[], ids uuid[],
                                          attempts bigint[], dones bigint[], totals bigint[],
                                          units text[])
    RETURNS TABLE (id uuid, attempt bigint, cancel boolean)
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    AS $$
#variable_conflict use_column
BEGIN
    PERFORM set_config('provisor.registry', 'on', true);
    UPDATE provisor.operation AS o
       SET lease_until = clock_timestamp() + lease_ms * interval '1 millisecond',
           done = greatest(o.done, h.done), attempt_done = greatest(o.attempt_done, h.done),
           total = coalesce(h.total, o.total), unit = coalesce(h.unit, o.unit)
      FROM unnest(team_ids, ids, attempts, dones, totals, units)
           AS h (team_id, id, attempt, done, total, unit)
     WHERE o.team_id = h.team_id AND o.id = h.id AND o.attempt = h.attempt AND o.status = 'running'
       AND (o.attempt_done < h.done OR (coalesce(h.total, o.total), coalesce(h.unit, o.unit))
               IS DISTINCT FROM (o.total, o.unit)
            OR o.lease_until < clock_timestamp() + lease_ms * interval '0.7 milliseconds');
    RETURN QUERY
        SELECT o.id, o.attempt, o.cancel_asked_at IS NOT NULL
          FROM unnest(team_ids, ids, attempts) AS h (team_id, id, attempt)
          JOIN provisor.operation o ON o.team_id = h.team_id AND o.id = h.id
           AND o.attempt = h.attempt AND o.status = 'running';
    PERFORM set_config('provisor.registry', 'off', true);
END
$$;

-- Operations whose holder has not renewed its lease.
CREATE FUNCTION provisor.list_lost_operations(n bigint)
    RETURNS TABLE (team_id uuid, id uuid, attempt bigint)
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    AS $$
#variable_conflict use_column
BEGIN
    PERFORM set_config('provisor.registry', 'on', true);
    RETURN QUERY SELECT o.team_id, o.id, o.attempt FROM provisor.operation o
                  WHERE o.status = 'running' AND o.lease_until < clock_timestamp()
                  ORDER BY o.lease_until LIMIT n;
    PERFORM set_config('provisor.registry', 'off', true);
END
$$;

-- Who watches what: the number of its last event and whether it has ended, in the order asked; no
-- row: it is not there (any more). barred: the token that watches was revoked or has expired.
CREATE FUNCTION provisor.watch_operations(team_ids uuid[], ids uuid[], token_ids uuid[])
    RETURNS TABLE (at bigint, events bigint, ended boolean, barred boolean)
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    AS $$
#variable_conflict use_column
BEGIN
    PERFORM set_config('provisor.registry', 'on', true);
    RETURN QUERY
        SELECT w.at, o.events, o.finished_at IS NOT NULL,
               EXISTS (SELECT FROM provisor.token t WHERE t.team_id = w.team_id AND t.id = w.token_id
                        AND (t.revoked_at IS NOT NULL OR t.expires_at <= now()))
          FROM unnest(team_ids, ids, token_ids) WITH ORDINALITY AS w (team_id, id, token_id, at)
          JOIN provisor.operation o ON o.team_id = w.team_id AND o.id = w.id
         ORDER BY w.at;
    PERFORM set_config('provisor.registry', 'off', true);
END
$$;

CREATE FUNCTION provisor.count_operations(OUT queued bigint, OUT running bigint,
                                          OUT waited_s float8)
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    PERFORM set_config('provisor.registry', 'on', true);
    SELECT count(*), coalesce(extract(epoch FROM now() - min(o.created_at)), 0)::float8
      INTO queued, waited_s FROM provisor.operation o WHERE o.status = 'queued';
    SELECT count(*) INTO running FROM provisor.operation o WHERE o.status = 'running';
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
    GRANT SELECT, INSERT, UPDATE ON provisor.token TO provisor_service;
    GRANT SELECT, INSERT, UPDATE, DELETE ON
        provisor.application, provisor.run, provisor.run_log, provisor.outbox,
        provisor.idempotency_key, provisor.application_model, provisor.name_rules,
        provisor.operation TO provisor_service;
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

REVOKE ALL ON provisor.operation, provisor.operation_event FROM PUBLIC;
REVOKE ALL ON FUNCTION
    provisor.claim_operation(text, text[], bigint, bigint),
    provisor.renew_operations(bigint, uuid[], uuid[], bigint[], bigint[], bigint[], text[]),
    provisor.list_lost_operations(bigint), provisor.watch_operations(uuid[], uuid[], uuid[]),
    provisor.count_operations(), provisor.number_operation_event(), provisor.write_operation_event()
    FROM PUBLIC;
