-- By what an application measures the problem size of runs that are read from logs
-- (core/history/problem_size.h), and of which runs it was given by whoever sent them.
-- Null in an application: first_stage, the measure of programs of before. Null in a run: those
-- programs did not store it.
ALTER TABLE provisor.application ADD COLUMN problem_size_measure text;
ALTER TABLE provisor.application ADD COLUMN problem_size_key text;
ALTER TABLE provisor.run ADD COLUMN problem_size_given boolean;
