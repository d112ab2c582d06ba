-- The problem size of a run is a number, e.g. 0.4 blocks of input. Programs of before read and write
-- problem_size, a whole number, which is still written, rounded, for as long as they may be there.
-- Null: whoever wrote the row knew whole sizes alone, or none.
ALTER TABLE provisor.run ADD COLUMN exact_problem_size double precision;
ALTER TABLE provisor.advice ADD COLUMN exact_problem_size double precision;
