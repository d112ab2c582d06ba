-- By what the problem size of a run was measured: bytes of input, tasks, records, ... Null if it was given,
-- or is from before this column.

ALTER TABLE provisor.run
    ADD COLUMN problem_size_measure text;
