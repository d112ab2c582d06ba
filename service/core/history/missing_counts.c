#include "core/history/missing_counts.h"

#include <stdio.h>

#include "base/plural.h"

/* ": without executors 2, stages 1; failed 1" in `text`; what no run lacks is not named. */
static void list_missing(const struct missing_counts *counts, char *text, size_t room)
{
    const struct {
        int64_t n;
        const char *what;
    } parts[] = {{counts->executors, "executors"},
                 {counts->cores_per_executor, "cores_per_executor"},
                 {counts->problem_size, "problem_size"},
                 {counts->stages, "stages"}};
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (parts[i].n == 0 || used >= room)
            continue;
        int n = snprintf(text + used, room - used, "%s%s %lld", used == 0 ? ": without " : ", ",
                         parts[i].what, (long long)parts[i].n);
        used += n > 0 ? (size_t)n : 0;
    }
    const struct {
        int64_t n;
        const char *what;
    } kinds[] = {{counts->failed, "failed"}, {counts->streaming, "streaming"}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (kinds[i].n == 0 || used >= room)
            continue;
        int n = snprintf(text + used, room - used, "%s %s %lld", used == 0 ? ":" : ";",
                         kinds[i].what, (long long)kinds[i].n);
        used += n > 0 ? (size_t)n : 0;
    }
}

enum pv_code
missing_counts_refuse(const struct missing_counts *counts, int64_t runs, struct pv_error *err)
{
    char missing[240], among[64] = "";
    if (counts->runs == 0)
        return pv_fail(err, PV_E_TOO_FEW, "the application has no runs yet");
    list_missing(counts, missing, sizeof missing);
    if (counts->runs < runs)
        (void)snprintf(among, sizeof among, "; of the %lld latest", (long long)counts->runs);
    return pv_fail(err, PV_E_TOO_FEW,
                   "the application has %lld run%s, but none that succeeded with executors, "
                   "cores_per_executor, problem_size and stages known%s%s",
                   (long long)runs, PLURAL(runs), among, missing);
}
