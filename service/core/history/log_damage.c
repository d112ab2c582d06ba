#include "core/history/log_damage.h"

#include <math.h>

#include "core/history/warned_runs.h"

int64_t log_damage(const struct run *run)
{
    double damage = 0;
    for (size_t i = 0; run_warning_kinds[i].code != NULL; i++) {
        const struct finding *loss = run_warning_kinds[i].is_damage
                                         ? finding_find(&run->warnings, run_warning_kinds[i].code)
                                         : NULL;
        double count = loss == NULL ? 0 : finding_value(loss, "count");
        damage += isnan(count) ? 1 : count;
    }
    return damage < 1e15 ? (int64_t)damage : (int64_t)1e15;
}
