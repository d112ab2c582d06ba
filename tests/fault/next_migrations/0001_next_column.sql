-- As many a migration before: for a moment it needs the table of runs, and all its partitions, for itself.
ALTER TABLE provisor.run ADD COLUMN next_note text;
