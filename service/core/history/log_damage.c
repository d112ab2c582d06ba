#include "core/history/log_damage.h"

#include <math.h>

int64_t log_damage(const struct run *run)
{
    static const char *const losses[] = {"compacted_log",        "damaged_lines", "doubled_events",
                                         "line_too_long",        "lost_events",   "missing_part",
                                         "no_application_start", "skipped_part",  "truncated"};
    double damage = 0;
    for (size_t i = 0; i < sizeof losses / sizeof *losses; i++) {
        const struct finding *loss = finding_find(&run->warnings, losses[i]);
        double count = loss == NULL ? 0 : finding_value(loss, "count");
        damage += isnan(count) ? 1 : count;
    }
    return damage < 1e15 ? (int64_t)damage : (int64_t)1e15;
}
