-- From which program on the schema works (CONTRIBUTING.md, "A migration"): the number of the newest
-- migration that a program must have to work with the schema from this migration on; 0: whatever
-- worked before still does. A program that finds migrations newer than its own looks here.
ALTER TABLE provisor.migration ADD COLUMN oldest_program integer NOT NULL DEFAULT 0
    CHECK (oldest_program BETWEEN 0 AND version);
