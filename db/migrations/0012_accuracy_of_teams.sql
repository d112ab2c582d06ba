-- What an advice promised stands in a column, as what it predicted does (0003); and the runs of a team
-- that follow advice have an index of their own, so that its newest are found among all applications.
ALTER TABLE provisor.advice ADD COLUMN deadline_probability float8;

-- The owner looks across teams for as long as this takes.
ALTER TABLE provisor.advice NO FORCE ROW LEVEL SECURITY;
UPDATE provisor.advice SET
    deadline_probability = (document #>> '{recommendation,deadline_probability}')::float8
 WHERE deadline_s IS NOT NULL;
ALTER TABLE provisor.advice FORCE ROW LEVEL SECURITY;

CREATE INDEX run_advised_newest ON provisor.run
    (team_id, instant DESC, id DESC) WHERE advice_id IS NOT NULL;
