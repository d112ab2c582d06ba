-- What an advice came to: met, at_risk, missed or unknown. Null: stored before there were verdicts,
-- when an advice was feasible also where the confidence asked for was missed.
ALTER TABLE provisor.advice ADD COLUMN verdict text;
