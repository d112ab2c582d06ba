#include "core/scaling/history/idle_machine.h"

#include <math.h>

#include "core/scaling/laws/idle_node.h"
#include "core/scaling/laws/idle_share.h"

void idle_machine_learn(struct run_observations *seen)
{
    double learnt[2];
    for (int counted = 0; counted < 2; counted++) {
        const struct idle_ratios *others = &seen->idle[counted];
        learnt[counted] = idle_share_log_odds(counted, others->at, others->n) -
                          idle_share_log_odds(counted, NULL, 0);
    }
    for (size_t i = 0; i < seen->n; i++)
        seen->rows[i].idle_learnt = learnt[seen->rows[i].executors_counted];
}

enum pv_code idle_machine_find(const struct run_observations *seen,
                               const struct run_observations *own,
                               bool mixed,
                               struct arena *arena,
                               struct idle_machine *found,
                               struct pv_error *err)
{
    size_t counted = 0;
    *found = (struct idle_machine){.counted = false};
    for (size_t i = 0; i < own->n; i++)
        counted += own->rows[i].executors_counted;
    found->counted = 2 * counted > own->n;
    found->applications = seen->idle[found->counted].n;
    double prior = own->n > 0 ? idle_node_prior(own->rows, own->n)
                              : idle_share_log_odds(false, seen->idle[0].at, seen->idle[0].n);
    if (seen->n > 0)
        PV_TRY(idle_node_shown(seen->rows, seen->n, arena, &found->evidence, err));
    found->prior_odds = exp(prior);
    found->odds = idle_node_posterior(prior, found->evidence);
    found->shown = found->evidence != 0 && !mixed;
    return PV_OK;
}
