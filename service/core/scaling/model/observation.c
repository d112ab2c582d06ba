#include "core/scaling/model/observation.h"

#include "base/order.h"

int observation_compare(const void *a, const void *b)
{
    const struct observation *x = a;
    const struct observation *y = b;
    const double keys[][2] = {{x->problem_size, y->problem_size},
                              {x->executors, y->executors},
                              {x->context, y->context},
                              {x->duration_s, y->duration_s},
                              {x->initialization_s, y->initialization_s},
                              {x->speedup, y->speedup},
                              {x->stages_s, y->stages_s},
                              {x->max_task_s, y->max_task_s},
                              {x->induced_s, y->induced_s},
                              {x->serial_s, y->serial_s},
                              {x->parallel_s, y->parallel_s},
                              {x->weight, y->weight},
                              {x->executors_counted, y->executors_counted},
                              {x->idle_learnt, y->idle_learnt}};
    int order = 0;
    for (size_t i = 0; i < sizeof keys / sizeof *keys && order == 0; i++)
        order = compare_nan_last(keys[i][0], keys[i][1]);
    return order;
}

struct observation
model_seen(double problem_size, double executors, double duration_s, double initialization_s)
{
    struct observation seen = MODEL_OBSERVATION;
    seen.problem_size = problem_size;
    seen.executors = executors;
    seen.duration_s = duration_s;
    seen.initialization_s = initialization_s;
    return seen;
}

struct observation model_seen_speedup(double problem_size, double executors, double speedup)
{
    struct observation seen = MODEL_OBSERVATION;
    seen.problem_size = problem_size;
    seen.executors = executors;
    seen.speedup = speedup;
    return seen;
}
