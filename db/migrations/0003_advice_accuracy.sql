-- What a later run is held against stands in columns, so that a long history is not parsed again for
-- every look at it; and the runs that follow advice have an index of their own.
ALTER TABLE provisor.advice
    ADD COLUMN problem_size bigint,
    ADD COLUMN cores_per_executor bigint,
    ADD COLUMN lower_s float8,
    ADD COLUMN upper_s float8,
    ADD COLUMN confidence float8,
    ADD COLUMN model_kind text;

-- The owner looks across teams for as long as this takes.
ALTER TABLE provisor.advice NO FORCE ROW LEVEL SECURITY;
UPDATE provisor.advice SET
    problem_size = (document #>> '{problem_size}')::bigint,
    cores_per_executor = (document #>> '{recommendation,cores_per_executor}')::bigint,
    lower_s = (document #>> '{recommendation,interval_s,0}')::float8,
    upper_s = (document #>> '{recommendation,interval_s,1}')::float8,
    confidence = (document #>> '{confidence}')::float8,
    model_kind = document #>> '{model,kind}';
ALTER TABLE provisor.advice FORCE ROW LEVEL SECURITY;

CREATE INDEX run_advised ON provisor.run
    (team_id, application_id, instant DESC, id DESC) WHERE advice_id IS NOT NULL;
