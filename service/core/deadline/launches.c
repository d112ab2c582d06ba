#include "core/deadline/launches.h"

#include <math.h>

#include "base/plural.h"
#include "base/quantity_text.h"

static bool holds_memory(const struct edf_job *job)
{
    return job->memory != NULL && job->memory_bytes > 0;
}

struct launches
launches_count(const struct edf_job jobs[], const struct edf_outcome outcomes[], size_t n)
{
    struct launches made = {0};
    double first_s = INFINITY;
    for (size_t i = 0; i < n; i++)
        if (holds_memory(&jobs[i]))
            first_s = fmin(first_s, jobs[i].release_s);
    for (size_t i = 0; i < n; i++) {
        double waited_s = outcomes[i].launched_s - jobs[i].release_s;
        if (!holds_memory(&jobs[i]))
            continue;
        made.holding++;
        made.memory_bytes = jobs[i].memory->bytes;
        made.fits_at_once += outcomes[i].launched_s == first_s;
        made.waited += waited_s > 0;
        if (waited_s > made.longest_s) {
            made.longest = i;
            made.longest_s = waited_s;
            made.longest_bytes = jobs[i].memory_bytes;
        }
    }
    return made;
}

void launches_explain(const struct launches *launches,
                      struct strview longest,
                      struct findings *reasons)
{
    if (launches->waited == 0)
        return;
    const char *name = arena_printf(reasons->arena, "%.*s", (int)longest.n, longest.at);
    if (name == NULL) {
        reasons->failed = true;
        return;
    }
    struct finding *note =
        finding_add(reasons, "waited_for_memory",
                    "%zu of %zu job%s %s for memory before %s launched; %s waits longest, %s "
                    "for %s of the "
                    "cluster's %s. At the start %zu of them %s at once.",
                    launches->waited, launches->holding, PLURAL(launches->holding),
                    PLURAL_VERB(launches->waited, "waits", "wait"),
                    PLURAL_VERB(launches->waited, "it is", "they are"), name,
                    quantity_duration(launches->longest_s).text,
                    quantity_bytes((double)launches->longest_bytes).text,
                    quantity_bytes((double)launches->memory_bytes).text, launches->fits_at_once,
                    PLURAL_VERB(launches->fits_at_once, "fits", "fit"));
    finding_text(note, "job", name);
    finding_number(note, "waited_s", launches->longest_s);
    finding_number(note, "job_memory_bytes", (double)launches->longest_bytes);
    finding_number(note, "memory_bytes", (double)launches->memory_bytes);
    finding_number(note, "waited", (double)launches->waited);
    finding_number(note, "fits_at_once", (double)launches->fits_at_once);
}
