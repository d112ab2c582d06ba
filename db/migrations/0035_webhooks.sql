-- Webhooks, the deliveries of events to them, and what dispatches one to the other.
--
-- An event is dispatched once: dispatch_events makes a delivery of it for each webhook that asks for
-- it, and marks the event. From then on a delivery stands by itself, so that the outbox may be
-- emptied. A process holds a webhook by a lease while it delivers to it, so that the bound on
-- concurrent deliveries holds over all replicas; a delivery is fenced by the number of its attempts.

-- Constant, so no row is written. Labels as an object of texts; NULL: the event has none.
ALTER TABLE provisor.outbox
    ADD COLUMN severity smallint NOT NULL DEFAULT 0, -- 0 info, 1 warning, 2 critical
    ADD COLUMN labels jsonb;

CREATE TABLE provisor.webhook (
    team_id uuid NOT NULL REFERENCES provisor.team,
    id uuid NOT NULL,
    url text NOT NULL,
    description text,
    events text[] NOT NULL CHECK (cardinality(events) > 0),
    applications text[] NOT NULL DEFAULT '{}', -- empty: all
    label_keys text[] NOT NULL DEFAULT '{}',   -- an event must have all of them
    label_values text[] NOT NULL DEFAULT '{}',
    min_severity smallint NOT NULL DEFAULT 0 CHECK (min_severity BETWEEN 0 AND 2),
    format text NOT NULL,
    signature text NOT NULL,
    -- Encrypted with a key that the service derives from its own (service/dispatch/seal.h).
    secret bytea NOT NULL,
    former_secret bytea, -- which signs as well, while its time lasts
    former_secret_until timestamptz,
    public_key bytea CHECK (octet_length(public_key) = 32),
    authorization_value bytea,
    concurrency bigint NOT NULL CHECK (concurrency >= 1),
    enabled boolean NOT NULL,
    disabled_reason text, -- where the service disabled it
    version bigint NOT NULL DEFAULT 1,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    -- How it fares. None of it is part of the version.
    failures bigint NOT NULL DEFAULT 0, -- one after the other, up to now
    pauses bigint NOT NULL DEFAULT 0,   -- likewise; 0: it is not paused
    held_until timestamptz,             -- nothing is sent before: paused, or asked to wait
    last_delivered_at timestamptz,
    last_failed_at timestamptz,
    last_error text,
    pending bigint NOT NULL DEFAULT 0,
    due_at timestamptz, -- of the first pending delivery; NULL: none is pending
    lease_owner uuid,
    lease_until timestamptz,
    PRIMARY KEY (team_id, id)
) WITH (fillfactor = 70);
CREATE INDEX webhook_due ON provisor.webhook (due_at) WHERE enabled AND due_at IS NOT NULL;

CREATE TABLE provisor.webhook_delivery (
    team_id uuid NOT NULL,
    webhook_id uuid NOT NULL,
    id uuid NOT NULL,
    event_id uuid NOT NULL, -- what receivers know it by: one for all deliveries of an event
    type text NOT NULL,
    severity smallint NOT NULL,
    data json NOT NULL,
    happened_at timestamptz NOT NULL,
    application_id uuid, -- with which it is deleted
    status text NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'delivered', 'dead')),
    reason text, -- why it is dead
    attempts bigint NOT NULL DEFAULT 0,
    tries bigint NOT NULL DEFAULT 0, -- attempts since it was last asked for
    log json[] NOT NULL DEFAULT '{}', -- the latest attempts
    next_at timestamptz DEFAULT now(),
    give_up_at timestamptz NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    ended_at timestamptz,
    PRIMARY KEY (team_id, webhook_id, id),
    FOREIGN KEY (team_id, webhook_id) REFERENCES provisor.webhook ON DELETE CASCADE,
    CHECK ((status = 'pending') = (ended_at IS NULL))
);
CREATE INDEX webhook_delivery_due ON provisor.webhook_delivery (team_id, webhook_id, next_at)
    WHERE status = 'pending';
CREATE INDEX webhook_delivery_give_up ON provisor.webhook_delivery (give_up_at) WHERE status = 'pending';
CREATE INDEX webhook_delivery_ended ON provisor.webhook_delivery (team_id, ended_at)
    WHERE ended_at IS NOT NULL;
CREATE INDEX webhook_delivery_dead ON provisor.webhook_delivery (team_id, webhook_id, id) WHERE status = 'dead';
CREATE INDEX webhook_delivery_application ON provisor.webhook_delivery (team_id, application_id)
    WHERE application_id IS NOT NULL;

DO $$
DECLARE
    t text;
BEGIN
    FOREACH t IN ARRAY ARRAY['webhook', 'webhook_delivery'] LOOP
        EXECUTE format('ALTER TABLE provisor.%I ENABLE ROW LEVEL SECURITY', t);
        EXECUTE format('ALTER TABLE provisor.%I FORCE ROW LEVEL SECURITY', t);
        EXECUTE format('CREATE POLICY own_team ON provisor.%I USING (team_id = provisor.current_team())'
                       ' WITH CHECK (team_id = provisor.current_team())', t);
        EXECUTE format('CREATE POLICY registry ON provisor.%I TO %I'
                       ' USING (current_setting(''provisor.registry'', true) = ''on'')', t, current_user);
    END LOOP;
    EXECUTE format('CREATE POLICY registry ON provisor.outbox TO %I'
                   ' USING (current_setting(''provisor.registry'', true) = ''on'')', current_user);
END
$$;

-- --- across teams, for the processes that deliver ---

-- Events that nobody has dispatched, the oldest first, become deliveries: of so many that they make
-- at most `batch` deliveries, or one event. One process at a time. Rows of webhooks are locked, in one
-- order, before it is looked who asks for what, so that one that is disabled meanwhile gets nothing.
-- Beyond pending_max pending deliveries of a webhook further ones are dead from the start, to be asked
-- for again. webhooks: there are enabled ones; more: there may be more events.
CREATE FUNCTION provisor.dispatch_events(batch bigint, pending_max bigint, give_up_s bigint)
    RETURNS TABLE (events bigint, deliveries bigint, webhooks boolean, more boolean)
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    widest bigint; -- of the teams, how many deliveries an event may make
    most bigint;
    of_teams uuid[];
    of_events uuid[];
BEGIN
    PERFORM set_config('provisor.registry', 'on', true);
    events := 0;
    deliveries := 0;
    more := false;
    widest := coalesce((SELECT max(t.n) FROM (SELECT count(*) AS n FROM provisor.webhook w WHERE w.enabled
                                               GROUP BY w.team_id) AS t), 0);
    webhooks := widest > 0;
    most := greatest(1, batch / greatest(1, widest));
    IF EXISTS (SELECT FROM provisor.outbox o WHERE o.delivered_at IS NULL) THEN
        PERFORM pg_advisory_xact_lock(hashtextextended('provisor.dispatch_events', 0));
        SELECT array_agg(t.team_id), array_agg(t.id) INTO of_teams, of_events
          FROM (SELECT o.team_id, o.id FROM provisor.outbox o WHERE o.delivered_at IS NULL
                 ORDER BY o.id LIMIT most FOR UPDATE SKIP LOCKED) AS t;
        events := coalesce(cardinality(of_events), 0);
        more := events = most;
        PERFORM FROM provisor.webhook w
          WHERE w.enabled AND w.team_id IN (SELECT DISTINCT t.team_id FROM unnest(of_teams) AS t (team_id))
          ORDER BY w.team_id, w.id FOR NO KEY UPDATE;
        WITH made AS (
            INSERT INTO provisor.webhook_delivery
                   (team_id, webhook_id, id, event_id, type, severity, data, happened_at,
                    application_id, status, reason, next_at, give_up_at, ended_at)
            SELECT a.team_id, a.webhook_id, a.id, a.id, a.type, a.severity, a.data, a.created_at,
                   a.application_id, CASE WHEN a.fits THEN 'pending' ELSE 'dead' END,
                   CASE WHEN NOT a.fits THEN 'queue_full' END, CASE WHEN a.fits THEN now() END,
                   now() + give_up_s * interval '1 second', CASE WHEN NOT a.fits THEN now() END
              FROM (SELECT o.*, w.id AS webhook_id,
                           w.pending + row_number() OVER (PARTITION BY w.team_id, w.id ORDER BY o.id)
                           <= pending_max AS fits
                      FROM unnest(of_teams, of_events) AS t (team_id, id)
                      JOIN provisor.outbox o ON o.team_id = t.team_id AND o.id = t.id
                      JOIN provisor.webhook w ON w.team_id = o.team_id
                     WHERE w.enabled AND o.type = ANY (w.events) AND o.severity >= w.min_severity
                       AND w.created_at <= o.created_at
                       AND (w.applications = '{}' OR o.data #>> '{application}' = ANY (w.applications))
                       AND (w.label_keys = '{}'
                            OR coalesce(o.labels, '{}') @> jsonb_object(w.label_keys, w.label_values))) AS a
            RETURNING team_id, webhook_id, status),
        noted AS (
            UPDATE provisor.webhook w
               SET pending = w.pending + s.n, due_at = least(w.due_at, greatest(now(), w.held_until))
              FROM (SELECT m.team_id, m.webhook_id, count(*) AS n FROM made m
                     WHERE m.status = 'pending' GROUP BY m.team_id, m.webhook_id) AS s
             WHERE w.team_id = s.team_id AND w.id = s.webhook_id)
        SELECT count(*) INTO deliveries FROM made;
        UPDATE provisor.outbox o SET delivered_at = clock_timestamp()
          FROM unnest(of_teams, of_events) AS t (team_id, id)
         WHERE o.team_id = t.team_id AND o.id = t.id;
    END IF;
    PERFORM set_config('provisor.registry', 'off', true);
    RETURN NEXT;
END
$$;

-- Take webhooks that have something due and are nobody's, for lease_ms, those that waited longest first.
CREATE FUNCTION provisor.claim_webhooks(owner uuid, lease_ms bigint, most bigint)
    RETURNS TABLE (team_id uuid, id uuid, url text, format text, signature text, secret bytea,
                   former_secret bytea, former_secret_until timestamptz, authorization_value bytea,
                   concurrency bigint, failures bigint, pauses bigint, version bigint)
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    AS $$
#variable_conflict use_column
BEGIN
    PERFORM set_config('provisor.registry', 'on', true);
    RETURN QUERY
        UPDATE provisor.webhook w
           SET lease_owner = owner,
               lease_until = clock_timestamp() + lease_ms * interval '1 millisecond'
         WHERE (w.team_id, w.id) IN
               (SELECT d.team_id, d.id FROM provisor.webhook d
                 WHERE d.enabled AND d.due_at IS NOT NULL AND d.due_at <= clock_timestamp()
                   AND (d.lease_until IS NULL OR d.lease_until < clock_timestamp())
                 ORDER BY d.due_at LIMIT most FOR NO KEY UPDATE SKIP LOCKED)
        RETURNING w.team_id, w.id, w.url, w.format, w.signature, w.secret, w.former_secret,
                  w.former_secret_until, w.authorization_value, w.concurrency, w.failures, w.pauses,
                  w.version;
    PERFORM set_config('provisor.registry', 'off', true);
END
$$;

-- Renew the leases of these webhooks, and list of each that is still the owner's at most so many
-- deliveries that are due, the first ones, without those that are busy. A webhook of which the
-- version changed, or which is disabled or gone, has no rows: its holder lets go of it.
CREATE FUNCTION provisor.load_deliveries(owner uuid, lease_ms bigint, team_ids uuid[], ids uuid[],
                                         mosts bigint[], busy uuid[])
    RETURNS TABLE (team_id uuid, webhook_id uuid, version bigint, delivery_id uuid, event_id uuid,
                   type text, severity bigint, data json, happened_at timestamptz, attempts bigint,
                   tries bigint)
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    AS $$
#variable_conflict use_column
BEGIN
    PERFORM set_config('provisor.registry', 'on', true);
    RETURN QUERY
        WITH mine AS MATERIALIZED (
            SELECT w.team_id, w.id, w.version, a.most
              FROM unnest(team_ids, ids, mosts) AS a (team_id, id, most)
              JOIN provisor.webhook w ON w.team_id = a.team_id AND w.id = a.id
             WHERE w.lease_owner = owner AND w.enabled
             ORDER BY w.team_id, w.id FOR NO KEY UPDATE OF w),
        renewed AS (
            UPDATE provisor.webhook w
               SET lease_until = clock_timestamp() + lease_ms * interval '1 millisecond'
              FROM mine m WHERE w.team_id = m.team_id AND w.id = m.id)
        SELECT m.team_id, m.id, m.version, d.id, d.event_id, d.type, d.severity::bigint, d.data,
               d.happened_at, d.attempts, d.tries
          FROM mine m LEFT JOIN LATERAL (
               SELECT v.* FROM provisor.webhook_delivery v
                WHERE v.team_id = m.team_id AND v.webhook_id = m.id AND v.status = 'pending'
                  AND v.next_at <= clock_timestamp() AND v.id <> ALL (busy)
                ORDER BY v.next_at LIMIT m.most) AS d ON true;
    PERFORM set_config('provisor.registry', 'off', true);
END
$$;

-- Write down how attempts ended ("delivered", "failed", "gone") and how their webhooks fare. An attempt
-- that another has overtaken (the delivery has more attempts than it knew of) changes nothing; one that
-- failed is tried again, unless that would be after its time, or it has ended meanwhile. hold_ms:
-- nothing is sent for so long; 0: nothing holds it. A webhook that is no longer the owner's, or was
-- changed since it was claimed, is left as it is: what is known of it was of another endpoint.
CREATE FUNCTION provisor.record_deliveries(
        owner uuid, of_teams uuid[], of_webhooks uuid[], delivery_ids uuid[], before bigint[],
        results text[], delays_ms bigint[], entries text[],
        team_ids uuid[], ids uuid[], versions bigint[], failed bigint[], paused bigint[], holds_ms bigint[],
        succeeded boolean[], errors text[], disables text[])
    RETURNS TABLE (recorded bigint, dead bigint)
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    PERFORM set_config('provisor.registry', 'on', true);
    PERFORM FROM provisor.webhook w
      WHERE (w.team_id, w.id) IN (SELECT a.team_id, a.id FROM unnest(team_ids, ids) AS a (team_id, id))
      ORDER BY w.team_id, w.id FOR NO KEY UPDATE;
    WITH made AS (
        SELECT * FROM unnest(of_teams, of_webhooks, delivery_ids, before, results, delays_ms, entries)
            AS a (team_id, webhook_id, id, before, result, delay_ms, entry)),
    judged AS MATERIALIZED (
        SELECT d.team_id, d.webhook_id, d.id, d.status AS old, a.before, a.entry, a.delay_ms,
               CASE WHEN a.result = 'delivered' THEN 'delivered'
                    WHEN d.status <> 'pending' THEN d.status
                    WHEN g.id IS NOT NULL OR clock_timestamp() + a.delay_ms * interval '1 millisecond' > d.give_up_at
                         THEN 'dead'
                    ELSE 'pending' END AS status,
               CASE WHEN a.result = 'delivered' THEN NULL
                    WHEN d.status <> 'pending' THEN d.reason
                    WHEN g.id IS NOT NULL THEN 'disabled'
                    WHEN clock_timestamp() + a.delay_ms * interval '1 millisecond' > d.give_up_at THEN 'gave_up'
               END AS reason
          FROM made a JOIN provisor.webhook_delivery d
            ON d.team_id = a.team_id AND d.webhook_id = a.webhook_id AND d.id = a.id
          LEFT JOIN (SELECT w.team_id, w.id FROM unnest(team_ids, ids, versions) AS v (team_id, id, version)
                       JOIN provisor.webhook w ON w.team_id = v.team_id AND w.id = v.id AND w.version = v.version) AS g
            ON a.result = 'gone' AND g.team_id = a.team_id AND g.id = a.webhook_id
         WHERE d.attempts = a.before),
    written AS (
        UPDATE provisor.webhook_delivery d
           SET attempts = d.attempts + 1, tries = d.tries + 1,
               log = (d.log || j.entry::json)[greatest(1, cardinality(d.log) - 18):],
               status = j.status, reason = j.reason,
               next_at = CASE WHEN j.status = 'pending'
                              THEN clock_timestamp() + j.delay_ms * interval '1 millisecond' END,
               ended_at = CASE WHEN j.status = 'pending' THEN NULL
                               WHEN j.status = j.old THEN d.ended_at ELSE clock_timestamp() END
          FROM judged j
         WHERE d.team_id = j.team_id AND d.webhook_id = j.webhook_id AND d.id = j.id
           AND d.attempts = j.before
        RETURNING d.team_id, d.webhook_id, j.old, d.status),
    counted AS (
        UPDATE provisor.webhook w SET pending = greatest(0, w.pending + m.more)
          FROM (SELECT n.team_id, n.webhook_id,
                       sum((n.status = 'pending')::integer - (n.old = 'pending')::integer) AS more
                  FROM written n GROUP BY 1, 2) AS m
         WHERE w.team_id = m.team_id AND w.id = m.webhook_id AND m.more <> 0)
    SELECT count(*), count(*) FILTER (WHERE n.old = 'pending' AND n.status = 'dead')
      INTO recorded, dead FROM written n;
    UPDATE provisor.webhook w
       SET failures = a.failures, pauses = a.pauses,
           held_until = CASE WHEN a.hold_ms > 0
                             THEN clock_timestamp() + a.hold_ms * interval '1 millisecond' END,
           last_delivered_at = CASE WHEN a.succeeded THEN clock_timestamp() ELSE w.last_delivered_at END,
           last_failed_at = CASE WHEN a.error IS NOT NULL THEN clock_timestamp() ELSE w.last_failed_at END,
           last_error = CASE WHEN a.error IS NOT NULL THEN a.error
                             WHEN a.failures = 0 THEN NULL ELSE w.last_error END
      FROM unnest(team_ids, ids, versions, failed, paused, holds_ms, succeeded, errors)
           AS a (team_id, id, version, failures, pauses, hold_ms, succeeded, error)
     WHERE w.team_id = a.team_id AND w.id = a.id AND w.version = a.version AND w.lease_owner = owner;
    UPDATE provisor.webhook w
       SET enabled = false, disabled_reason = a.reason, version = w.version + 1, updated_at = now()
      FROM unnest(team_ids, ids, versions, disables) AS a (team_id, id, version, reason)
     WHERE w.team_id = a.team_id AND w.id = a.id AND w.version = a.version AND a.reason IS NOT NULL
       AND w.enabled AND w.lease_owner = owner;
    PERFORM provisor.end_disabled(a.team_id, a.id)
       FROM unnest(team_ids, ids, disables) AS a (team_id, id, reason) WHERE a.reason IS NOT NULL;
    PERFORM set_config('provisor.registry', 'off', true);
    RETURN NEXT;
END
$$;

-- What waits for a webhook that is disabled is dead, to be asked for again once it is enabled.
CREATE FUNCTION provisor.end_disabled(of_team uuid, of_webhook uuid) RETURNS void
    LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    IF EXISTS (SELECT FROM provisor.webhook w
                WHERE w.team_id = of_team AND w.id = of_webhook AND NOT w.enabled) THEN
        UPDATE provisor.webhook_delivery d
           SET status = 'dead', reason = 'disabled', next_at = NULL, ended_at = clock_timestamp()
         WHERE d.team_id = of_team AND d.webhook_id = of_webhook AND d.status = 'pending';
        UPDATE provisor.webhook w SET pending = 0, due_at = NULL, lease_owner = NULL, lease_until = NULL
         WHERE w.team_id = of_team AND w.id = of_webhook;
    END IF;
END
$$;

-- Let go of these webhooks. Rows are locked first, so that what the second statement sees of deliveries
-- is no older than the lock.
CREATE FUNCTION provisor.release_webhooks(owner uuid, team_ids uuid[], ids uuid[]) RETURNS void
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    PERFORM set_config('provisor.registry', 'on', true);
    PERFORM FROM provisor.webhook w
      WHERE (w.team_id, w.id) IN (SELECT a.team_id, a.id FROM unnest(team_ids, ids) AS a (team_id, id))
      ORDER BY w.team_id, w.id FOR NO KEY UPDATE;
    UPDATE provisor.webhook w
       SET lease_owner = NULL, lease_until = NULL,
           pending = CASE WHEN d.next_at IS NULL THEN 0 ELSE w.pending END,
           due_at = CASE WHEN d.next_at IS NOT NULL THEN greatest(d.next_at, w.held_until) END
      FROM unnest(team_ids, ids) AS a (team_id, id)
      LEFT JOIN LATERAL (SELECT v.next_at FROM provisor.webhook_delivery v
                          WHERE v.team_id = a.team_id AND v.webhook_id = a.id AND v.status = 'pending'
                          ORDER BY v.next_at LIMIT 1) AS d ON true
     WHERE w.team_id = a.team_id AND w.id = a.id AND w.lease_owner = owner;
    PERFORM set_config('provisor.registry', 'off', true);
END
$$;

-- Pending deliveries that nobody got to before their time was over: of paused webhooks. Those of which
-- an attempt may still be under way are left for a while.
CREATE FUNCTION provisor.expire_deliveries(batch bigint) RETURNS TABLE (expired bigint)
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    PERFORM set_config('provisor.registry', 'on', true);
    expired := 0;
    WITH overdue AS MATERIALIZED (
        SELECT d.team_id, d.webhook_id, d.id FROM provisor.webhook_delivery d
         WHERE d.status = 'pending' AND d.give_up_at < now() - interval '5 minutes'
         ORDER BY d.give_up_at LIMIT batch),
    held AS MATERIALIZED (
        SELECT w.team_id, w.id FROM provisor.webhook w
         WHERE (w.team_id, w.id) IN (SELECT o.team_id, o.webhook_id FROM overdue o)
         ORDER BY w.team_id, w.id FOR NO KEY UPDATE),
    ended AS (
        UPDATE provisor.webhook_delivery d
           SET status = 'dead', reason = 'gave_up', next_at = NULL, ended_at = clock_timestamp()
          FROM overdue o JOIN held h ON h.team_id = o.team_id AND h.id = o.webhook_id
         WHERE d.team_id = o.team_id AND d.webhook_id = o.webhook_id AND d.id = o.id
           AND d.status = 'pending'
        RETURNING d.team_id, d.webhook_id),
    counted AS (
        UPDATE provisor.webhook w SET pending = greatest(0, w.pending - e.n)
          FROM (SELECT team_id, webhook_id, count(*) AS n FROM ended GROUP BY 1, 2) AS e
         WHERE w.team_id = e.team_id AND w.id = e.webhook_id)
    SELECT count(*) INTO expired FROM ended;
    PERFORM set_config('provisor.registry', 'off', true);
    RETURN NEXT;
END
$$;

-- What waits, and how webhooks fare, over all teams: for the metrics.
CREATE FUNCTION provisor.count_webhooks()
    RETURNS TABLE (active bigint, paused bigint, disabled bigint, pending bigint, event_age_s double precision,
                   delivery_age_s double precision)
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    PERFORM set_config('provisor.registry', 'on', true);
    SELECT count(*) FILTER (WHERE w.enabled AND w.pauses = 0), count(*) FILTER (WHERE w.enabled AND w.pauses > 0),
           count(*) FILTER (WHERE NOT w.enabled), coalesce(sum(w.pending), 0)::bigint
      INTO active, paused, disabled, pending FROM provisor.webhook w;
    event_age_s := coalesce((SELECT greatest(0, extract(epoch FROM now() - o.created_at))::double precision
                               FROM provisor.outbox o WHERE o.delivered_at IS NULL ORDER BY o.id LIMIT 1), 0);
    delivery_age_s := coalesce((SELECT greatest(0, extract(epoch FROM now() - min(w.due_at)))::double precision
                                  FROM provisor.webhook w WHERE w.enabled AND w.due_at IS NOT NULL), 0);
    PERFORM set_config('provisor.registry', 'off', true);
    RETURN NEXT;
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
        provisor.webhook, provisor.webhook_delivery,
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

REVOKE ALL ON provisor.webhook, provisor.webhook_delivery FROM PUBLIC;
REVOKE ALL ON FUNCTION
    provisor.dispatch_events(bigint, bigint, bigint),
    provisor.claim_webhooks(uuid, bigint, bigint),
    provisor.load_deliveries(uuid, bigint, uuid[], uuid[], bigint[], uuid[]),
    provisor.record_deliveries(uuid, uuid[], uuid[], uuid[], bigint[], text[], bigint[], text[], uuid[],
                                   uuid[], bigint[], bigint[], bigint[], bigint[], boolean[], text[], text[]),
    provisor.release_webhooks(uuid, uuid[], uuid[]), provisor.expire_deliveries(bigint),
    provisor.end_disabled(uuid, uuid), provisor.count_webhooks()
    FROM PUBLIC;
