#include "core/scaling/model/observation.h"

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
