-- How far laws err on executor counts that did not run, for fits of the team's other applications:
-- the mean of squared errors of ln T per gap. Null: too few executor counts ran.
ALTER TABLE provisor.application_model
    ADD COLUMN law_error double precision CHECK (law_error >= 0);
