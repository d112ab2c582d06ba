-- Where the time of a run went, drawn from its stages when it is written: what a diagnosis reads of
-- thousands of runs without their stages. measured: it was tried; runs that were there before are
-- measured when somebody asks.
ALTER TABLE provisor.run
    ADD COLUMN measured boolean NOT NULL DEFAULT false,
    ADD COLUMN parallel_s float8,
    ADD COLUMN max_task_s float8,
    ADD COLUMN induced_s float8,
    ADD COLUMN serial_s float8;
