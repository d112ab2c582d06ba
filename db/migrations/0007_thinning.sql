-- tasks_thinned says that a run was looked at for thinning; this, what came of it.
ALTER TABLE provisor.run ADD COLUMN stages_thinned bigint NOT NULL DEFAULT 0;
