#ifndef CORE_ADVICE_LOST_EXECUTORS_H
#define CORE_ADVICE_LOST_EXECUTORS_H

#include "core/advice/advise.h"

/*
 * The reason executors_lost: the platform took executors away from a run that is replayed, and what
 * that cost the run. Nothing if no such run was replayed.
 *
 * replayed  of replays. PV_E_MEMORY.
 */
enum pv_code lost_executors_explain(const struct curve *replayed,
                                    struct arena *arena,
                                    struct advice *advice,
                                    struct pv_error *err) PV_MUSTCHECK;

#endif
