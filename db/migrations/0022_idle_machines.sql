-- What the runs of an application show of a machine that does no work, for fits of the team's other
-- applications: the logarithm of a likelihood ratio, without any prior. Null: nothing, or fitted by
-- a program that did not know it.
ALTER TABLE provisor.application_model
    ADD COLUMN idle_evidence double precision,
    ADD COLUMN idle_counted boolean, -- of executors counted in event logs, else of machines
    ADD CHECK ((idle_evidence IS NULL) = (idle_counted IS NULL));
