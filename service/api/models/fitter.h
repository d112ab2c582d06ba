#ifndef API_MODELS_FITTER_H
#define API_MODELS_FITTER_H

#include "api/api.h"

/*
 * Fits the models of histories that changed, behind the backs of those who write: a thread of its
 * own, of low priority, fed by a bounded queue (api/models/fit_queue.h). It rests after each fit
 * for as long as the fit took, so it never has more than half a core, and yields even that to
 * requests.
 *
 * Nothing depends on it. What it misses (the queue was full, the database away, this replica
 * killed) the first reader fits, as api/models/application_models.h says.
 */

struct fitter;

/* Start. *fitter is NULL where the settings say that only readers fit. PV_E_MEMORY,
 * PV_E_UNAVAILABLE: no thread. */
enum pv_code
fitter_start(struct api *api, struct fitter **fitter, struct pv_error *err) PV_MUSTCHECK;

/* The history of that application of the team changed, and the change is committed: what is kept in
 * memory is forgotten, its models are fitted anew in time. Returns at once. */
void api_history_changed(struct api *api, const char *team_id, const char *application);

/* No further fits; the one under way is finished. Returns at once; accepts NULL. */
void fitter_ask_end(struct fitter *fitter);

/* Wait for the end, at most so many seconds. false: it is still at work, and what it uses must
 * stay. Accepts NULL. */
bool fitter_join(struct fitter *fitter, unsigned seconds);

/* Bring the metrics of the queue up to date. */
void fitter_collect_metrics(struct api *api);

#endif
