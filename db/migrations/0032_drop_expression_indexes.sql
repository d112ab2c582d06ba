-- No program needs them: run_size_above and run_size_below (0030, 0031) serve in their place, and programs
-- of before 0026 use run_larger and run_smaller.
DROP INDEX provisor.run_larger_exactly;
DROP INDEX provisor.run_smaller_exactly;
