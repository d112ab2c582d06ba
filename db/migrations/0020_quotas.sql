-- What a team stores is counted, so that it can be bounded.
--
-- Counting must not make writers of a team wait for each other: its figures are the sum of several
-- rows, and whoever adds takes one that nobody else holds, or makes another. Row 0 holds the
-- corrections of recounts (provisor.recount_usage). Advice that a program of before this
-- migration writes is counted by the next recount, its bytes never.
CREATE TABLE provisor.team_usage (
    team_id uuid NOT NULL REFERENCES provisor.team,
    shard integer NOT NULL CHECK (shard >= 0),
    applications bigint NOT NULL DEFAULT 0,
    runs bigint NOT NULL DEFAULT 0,
    advice bigint NOT NULL DEFAULT 0,
    operations bigint NOT NULL DEFAULT 0,
    replies bigint NOT NULL DEFAULT 0,
    bytes bigint NOT NULL DEFAULT 0,
    counted_at timestamptz, -- row 0: the last recount
    PRIMARY KEY (team_id, shard)
) WITH (fillfactor = 20);

-- What holds for a team in place of the settings. Null: the setting does; 0: no bound.
CREATE TABLE provisor.team_quota (
    team_id uuid PRIMARY KEY REFERENCES provisor.team,
    applications bigint CHECK (applications >= 0),
    runs bigint CHECK (runs >= 0),
    advice bigint CHECK (advice >= 0),
    tokens bigint CHECK (tokens >= 0),
    operations bigint CHECK (operations >= 0),
    replies bigint CHECK (replies >= 0),
    bytes bigint CHECK (bytes >= 0)
);

DO $$
DECLARE
    t text;
BEGIN
    FOREACH t IN ARRAY ARRAY['team_usage', 'team_quota'] LOOP
        EXECUTE format('ALTER TABLE provisor.%I ENABLE ROW LEVEL SECURITY', t);
        EXECUTE format('ALTER TABLE provisor.%I FORCE ROW LEVEL SECURITY', t);
        EXECUTE format('CREATE POLICY own_team ON provisor.%I USING (team_id = provisor.current_team())'
                       ' WITH CHECK (team_id = provisor.current_team())', t);
    END LOOP;
    -- Functions of the owner that change operations of several teams (0010) count them, too.
    EXECUTE format('CREATE POLICY registry ON provisor.team_usage TO %I'
                   ' USING (current_setting(''provisor.registry'', true) = ''on'')', current_user);
END
$$;

-- Estimates, made by whoever writes the row. Null, of a row of before, counts as nothing.
ALTER TABLE provisor.run ADD COLUMN bytes bigint;
ALTER TABLE provisor.advice ADD COLUMN bytes bigint;
ALTER TABLE provisor.application ADD COLUMN run_bytes bigint NOT NULL DEFAULT 0; -- of its runs

CREATE FUNCTION provisor.add_usage(of_team uuid, more_applications bigint, more_runs bigint,
                                   more_advice bigint, more_operations bigint,
                                   more_replies bigint, more_bytes bigint) RETURNS void
    LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    UPDATE provisor.team_usage
       SET applications = applications + more_applications, runs = runs + more_runs,
           advice = advice + more_advice, operations = operations + more_operations,
           replies = replies + more_replies, bytes = bytes + more_bytes
     WHERE team_id = of_team
       AND shard = (SELECT shard FROM provisor.team_usage WHERE team_id = of_team AND shard > 0
                     ORDER BY shard LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED);
    IF NOT FOUND THEN
        INSERT INTO provisor.team_usage AS u
               (team_id, shard, applications, runs, advice, operations, replies, bytes)
            VALUES (of_team, 1 + floor(random() * 2147483646)::integer, more_applications,
                    more_runs, more_advice, more_operations, more_replies, more_bytes)
            ON CONFLICT (team_id, shard) DO UPDATE
               SET applications = u.applications + excluded.applications,
                   runs = u.runs + excluded.runs, advice = u.advice + excluded.advice,
                   operations = u.operations + excluded.operations,
                   replies = u.replies + excluded.replies, bytes = u.bytes + excluded.bytes;
    END IF;
END
$$;

-- Runs are counted by their application, which every writer of runs holds and updates anyway.
CREATE FUNCTION provisor.count_application() RETURNS trigger
    LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        PERFORM provisor.add_usage(NEW.team_id, 1, NEW.runs, 0, 0, 0, NEW.run_bytes);
    ELSIF TG_OP = 'DELETE' THEN
        PERFORM provisor.add_usage(OLD.team_id, -1, -OLD.runs, 0, 0, 0, -OLD.run_bytes);
    ELSE
        PERFORM provisor.add_usage(NEW.team_id, 0, NEW.runs - OLD.runs, 0, 0, 0,
                                   NEW.run_bytes - OLD.run_bytes);
    END IF;
    RETURN NULL;
END
$$;
CREATE TRIGGER count_application AFTER INSERT OR DELETE ON provisor.application
    FOR EACH ROW EXECUTE FUNCTION provisor.count_application();
CREATE TRIGGER count_runs AFTER UPDATE OF runs, run_bytes ON provisor.application
    FOR EACH ROW WHEN (NEW.runs <> OLD.runs OR NEW.run_bytes <> OLD.run_bytes)
    EXECUTE FUNCTION provisor.count_application();

CREATE FUNCTION provisor.count_run_bytes() RETURNS trigger
    LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    UPDATE provisor.application a SET run_bytes = a.run_bytes - g.bytes
      FROM (SELECT team_id, application_id, sum(bytes) AS bytes FROM gone
             WHERE bytes IS NOT NULL GROUP BY team_id, application_id) AS g
     WHERE a.team_id = g.team_id AND a.id = g.application_id;
    RETURN NULL;
END
$$;
CREATE TRIGGER count_run_bytes AFTER DELETE ON provisor.run
    REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION provisor.count_run_bytes();

-- Advice and kept replies are counted by whoever writes them, several together where there are many
-- (provisor.count_usage); they go by the batch.
CREATE FUNCTION provisor.count_advice_gone() RETURNS trigger
    LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    PERFORM provisor.add_usage(g.team_id, 0, 0, -g.n, 0, 0, -g.bytes)
       FROM (SELECT team_id, count(*) AS n, coalesce(sum(bytes), 0)::bigint AS bytes
               FROM gone GROUP BY team_id) AS g;
    RETURN NULL;
END
$$;
CREATE TRIGGER count_advice_gone AFTER DELETE ON provisor.advice
    REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION provisor.count_advice_gone();

CREATE FUNCTION provisor.count_replies_gone() RETURNS trigger
    LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    PERFORM provisor.add_usage(g.team_id, 0, 0, 0, 0, -g.n, -g.bytes)
       FROM (SELECT team_id, count(*) AS n, sum(octet_length(body)) AS bytes
               FROM gone GROUP BY team_id) AS g;
    RETURN NULL;
END
$$;
CREATE TRIGGER count_replies_gone AFTER DELETE ON provisor.idempotency_key
    REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION provisor.count_replies_gone();

CREATE FUNCTION provisor.operation_bytes(request json, result json) RETURNS bigint
    LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp
    AS $$ SELECT coalesce(octet_length(request::text), 0)::bigint
                 + coalesce(octet_length(result::text), 0) $$;

CREATE FUNCTION provisor.count_operation() RETURNS trigger
    LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    before bigint := 0;
    after bigint := 0;
BEGIN
    IF TG_OP <> 'INSERT' THEN
        before := provisor.operation_bytes(OLD.request, OLD.result);
    END IF;
    IF TG_OP <> 'DELETE' THEN
        after := provisor.operation_bytes(NEW.request, NEW.result);
    END IF;
    IF TG_OP <> 'UPDATE' OR after <> before THEN
        PERFORM provisor.add_usage(coalesce(NEW.team_id, OLD.team_id), 0, 0, 0,
                                   CASE TG_OP WHEN 'INSERT' THEN 1 WHEN 'DELETE' THEN -1 ELSE 0 END,
                                   0, after - before);
    END IF;
    RETURN NULL;
END
$$;
CREATE TRIGGER count_operation AFTER INSERT OR DELETE ON provisor.operation
    FOR EACH ROW EXECUTE FUNCTION provisor.count_operation();
CREATE TRIGGER count_operation_result AFTER UPDATE ON provisor.operation
    FOR EACH ROW WHEN (NEW.expired <> OLD.expired
                       OR NEW.finished_at IS DISTINCT FROM OLD.finished_at)
    EXECUTE FUNCTION provisor.count_operation();

CREATE FUNCTION provisor.count_model() RETURNS trigger
    LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    more bigint := 0;
BEGIN
    IF TG_OP <> 'INSERT' THEN
        more := -provisor.operation_bytes(OLD.document, OLD.refit);
    END IF;
    IF TG_OP <> 'DELETE' THEN
        more := more + provisor.operation_bytes(NEW.document, NEW.refit);
    END IF;
    IF more <> 0 THEN
        PERFORM provisor.add_usage(coalesce(NEW.team_id, OLD.team_id), 0, 0, 0, 0, 0, more);
    END IF;
    RETURN NULL;
END
$$;
CREATE TRIGGER count_model AFTER INSERT OR UPDATE OR DELETE ON provisor.application_model
    FOR EACH ROW EXECUTE FUNCTION provisor.count_model();

-- What a team stores, each bound by its own quota, else by the one given (0: none).
CREATE FUNCTION provisor.read_usage(most_applications bigint, most_runs bigint, most_advice bigint,
                                    most_tokens bigint, most_operations bigint,
                                    most_replies bigint, most_bytes bigint)
    RETURNS TABLE (quota text, used bigint, most bigint, counted_at timestamptz)
    LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT v.quota, v.used, v.most, s.counted_at
      FROM (SELECT coalesce(sum(applications), 0)::bigint AS applications,
                   coalesce(sum(runs), 0)::bigint AS runs,
                   coalesce(sum(advice), 0)::bigint AS advice,
                   coalesce(sum(operations), 0)::bigint AS operations,
                   coalesce(sum(replies), 0)::bigint AS replies,
                   coalesce(sum(bytes), 0)::bigint AS bytes,
                   max(counted_at) AS counted_at
              FROM provisor.team_usage WHERE team_id = provisor.current_team()) AS s
      LEFT JOIN provisor.team_quota q ON q.team_id = provisor.current_team()
     CROSS JOIN LATERAL (VALUES
            ('applications', s.applications, coalesce(q.applications, most_applications)),
            ('runs', s.runs, coalesce(q.runs, most_runs)),
            ('advice', s.advice, coalesce(q.advice, most_advice)),
            ('tokens', (SELECT count(*) FROM provisor.token t
                         WHERE t.team_id = provisor.current_team()),
             coalesce(q.tokens, most_tokens)),
            ('operations', s.operations, coalesce(q.operations, most_operations)),
            ('replies', s.replies, coalesce(q.replies, most_replies)),
            ('bytes', s.bytes, coalesce(q.bytes, most_bytes))
           ) AS v (quota, used, most)
    $$;

CREATE FUNCTION provisor.refuse_quota(quota text, used bigint, most bigint) RETURNS void
    LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    RAISE EXCEPTION 'over quota'
          USING ERRCODE = CASE WHEN quota IN ('replies', 'operations') THEN 'PV429' ELSE 'PV422' END,
                DETAIL = format('%s %s %s', quota, most, used);
END
$$;

-- Fail when the team of the transaction stores more than it may. A bound that is null is not looked
-- at; one that is not is replaced by the team's own. Other transactions under way are not seen, so
-- that a quota may be passed by what they have written.
CREATE FUNCTION provisor.check_usage(most_applications bigint, most_runs bigint, most_advice bigint,
                                     most_tokens bigint, most_operations bigint,
                                     most_replies bigint, most_bytes bigint,
                                     more_runs bigint, more_bytes bigint) RETURNS void
    LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    team uuid := provisor.current_team();
    s record;
    q provisor.team_quota;
    n bigint;
BEGIN
    SELECT sum(applications) AS applications, coalesce(sum(runs), 0) + more_runs AS runs, sum(advice) AS advice,
           sum(operations) AS operations, sum(replies) AS replies, coalesce(sum(bytes), 0) + more_bytes AS bytes
      INTO s FROM provisor.team_usage WHERE team_id = team;
    SELECT * INTO q FROM provisor.team_quota WHERE team_id = team;
    n := CASE WHEN most_applications IS NOT NULL THEN nullif(coalesce(q.applications, most_applications), 0) END;
    IF s.applications > n THEN
        PERFORM provisor.refuse_quota('applications', s.applications::bigint, n);
    END IF;
    n := CASE WHEN most_runs IS NOT NULL THEN nullif(coalesce(q.runs, most_runs), 0) END;
    IF s.runs > n THEN
        PERFORM provisor.refuse_quota('runs', s.runs::bigint, n);
    END IF;
    n := CASE WHEN most_advice IS NOT NULL THEN nullif(coalesce(q.advice, most_advice), 0) END;
    IF s.advice > n THEN
        PERFORM provisor.refuse_quota('advice', s.advice::bigint, n);
    END IF;
    n := CASE WHEN most_operations IS NOT NULL THEN nullif(coalesce(q.operations, most_operations), 0) END;
    IF s.operations > n THEN
        PERFORM provisor.refuse_quota('operations', s.operations::bigint, n);
    END IF;
    n := CASE WHEN most_replies IS NOT NULL THEN nullif(coalesce(q.replies, most_replies), 0) END;
    IF s.replies > n THEN
        PERFORM provisor.refuse_quota('replies', s.replies::bigint, n);
    END IF;
    n := CASE WHEN most_bytes IS NOT NULL THEN nullif(coalesce(q.bytes, most_bytes), 0) END;
    IF s.bytes > n THEN
        PERFORM provisor.refuse_quota('bytes', s.bytes::bigint, n);
    END IF;
    n := CASE WHEN most_tokens IS NOT NULL THEN nullif(coalesce(q.tokens, most_tokens), 0) END;
    IF n IS NOT NULL AND n < (SELECT count(*) FROM provisor.token t WHERE t.team_id = team) THEN
        PERFORM provisor.refuse_quota('tokens',
            (SELECT count(*) FROM provisor.token t WHERE t.team_id = team), n);
    END IF;
END
$$;

-- Count advice and kept replies, and fail as above when it is too much. How many the caller may count
-- together from now on: a 256th of what there is (16 pieces or 64 kB at least), or of what is still
-- free, whichever is less.
CREATE FUNCTION provisor.count_usage(more_advice bigint, more_replies bigint, more_bytes bigint,
                                     most_advice bigint, most_replies bigint, most_bytes bigint,
                                     check_advice boolean, check_replies boolean,
                                     check_bytes boolean, batch_max bigint, batch_bytes_max bigint)
    RETURNS TABLE (advice_batch bigint, replies_batch bigint, bytes_batch bigint)
    LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
    AS $$
#variable_conflict use_column
DECLARE
    team uuid := provisor.current_team();
    s record;
    q provisor.team_quota;
    n_advice bigint;
    n_replies bigint;
    n_bytes bigint;
BEGIN
    PERFORM provisor.add_usage(team, 0, 0, more_advice, 0, more_replies, more_bytes);
    SELECT sum(advice)::bigint AS advice, sum(replies)::bigint AS replies, sum(bytes)::bigint AS bytes
      INTO s FROM provisor.team_usage WHERE team_id = team;
    SELECT * INTO q FROM provisor.team_quota WHERE team_id = team;
    n_advice := nullif(coalesce(q.advice, most_advice), 0);
    n_replies := nullif(coalesce(q.replies, most_replies), 0);
    n_bytes := nullif(coalesce(q.bytes, most_bytes), 0);
    IF check_advice AND s.advice > n_advice THEN
        PERFORM provisor.refuse_quota('advice', s.advice, n_advice);
    ELSIF check_replies AND s.replies > n_replies THEN
        PERFORM provisor.refuse_quota('replies', s.replies, n_replies);
    ELSIF check_bytes AND s.bytes > n_bytes THEN
        PERFORM provisor.refuse_quota('bytes', s.bytes, n_bytes);
    END IF;
    RETURN QUERY SELECT greatest(least(batch_max, greatest(s.advice / 256, 16), (n_advice - s.advice) / 256), 1),
                        greatest(least(batch_max, greatest(s.replies / 256, 16), (n_replies - s.replies) / 256), 1),
                        greatest(least(batch_bytes_max, greatest(s.bytes / 256, 65536),
                                       (n_bytes - s.bytes) / 256), 1);
END
$$;

-- Make the figures those of the tables: partitions are dropped without a trigger, and rows of before
-- this migration were never counted. What is there and what has been counted are read in one
-- snapshot, so that writers may go on; false: somebody else is at it, or was within every_s seconds.
CREATE FUNCTION provisor.recount_usage(every_s bigint) RETURNS boolean
    LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    team uuid := provisor.current_team();
BEGIN
    IF NOT pg_try_advisory_xact_lock(hashtextextended('provisor.recount_usage ' || team::text, 0)) THEN
        RETURN false;
    END IF;
    IF EXISTS (SELECT FROM provisor.team_usage u WHERE u.team_id = team AND u.shard = 0
                  AND u.counted_at > now() - every_s * interval '1 second') THEN
        RETURN false;
    END IF;
    INSERT INTO provisor.team_usage AS u
           (team_id, shard, applications, runs, advice, operations, replies, bytes, counted_at)
        SELECT team, 0, a.n - s.applications, a.runs - s.runs, v.n - s.advice, o.n - s.operations,
               k.n - s.replies, a.bytes + v.bytes + o.bytes + k.bytes + m.bytes - s.bytes, now()
          FROM (SELECT coalesce(sum(applications), 0) AS applications,
                       coalesce(sum(runs), 0) AS runs, coalesce(sum(advice), 0) AS advice,
                       coalesce(sum(operations), 0) AS operations,
                       coalesce(sum(replies), 0) AS replies, coalesce(sum(bytes), 0) AS bytes
                  FROM provisor.team_usage WHERE team_id = team) AS s,
               (SELECT count(*) AS n, coalesce(sum(runs), 0) AS runs,
                       coalesce(sum(run_bytes), 0) AS bytes
                  FROM provisor.application WHERE team_id = team) AS a,
               (SELECT count(*) AS n, coalesce(sum(bytes), 0) AS bytes
                  FROM provisor.advice WHERE team_id = team) AS v,
               (SELECT count(*) AS n,
                       coalesce(sum(provisor.operation_bytes(request, result)), 0) AS bytes
                  FROM provisor.operation WHERE team_id = team) AS o,
               (SELECT count(*) AS n, coalesce(sum(octet_length(body)), 0) AS bytes
                  FROM provisor.idempotency_key WHERE team_id = team) AS k,
               (SELECT coalesce(sum(provisor.operation_bytes(document, refit)), 0) AS bytes
                  FROM provisor.application_model WHERE team_id = team) AS m
        ON CONFLICT (team_id, shard) DO UPDATE
           SET applications = u.applications + excluded.applications,
               runs = u.runs + excluded.runs, advice = u.advice + excluded.advice,
               operations = u.operations + excluded.operations,
               replies = u.replies + excluded.replies, bytes = u.bytes + excluded.bytes,
               counted_at = excluded.counted_at;
    RETURN true;
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
        provisor.recount_usage(bigint)
        TO provisor_service;
    RETURN true;
END
$$;

REVOKE ALL ON provisor.team_usage, provisor.team_quota FROM PUBLIC;
REVOKE ALL ON FUNCTION
    provisor.add_usage(uuid, bigint, bigint, bigint, bigint, bigint, bigint),
    provisor.operation_bytes(json, json), provisor.refuse_quota(text, bigint, bigint),
    provisor.read_usage(bigint, bigint, bigint, bigint, bigint, bigint, bigint),
    provisor.check_usage(bigint, bigint, bigint, bigint, bigint, bigint, bigint, bigint, bigint),
    provisor.count_usage(bigint, bigint, bigint, bigint, bigint, bigint, boolean, boolean, boolean, bigint, bigint),
    provisor.recount_usage(bigint), provisor.count_application(), provisor.count_run_bytes(),
    provisor.count_advice_gone(),
    provisor.count_replies_gone(), provisor.count_operation(), provisor.count_model() FROM PUBLIC;
