#include "core/history/warned_runs.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/plural.h"

/* Damage first: evidence has room for nine codes. */
const struct run_warning_kind run_warning_kinds[] = {
    {"lost_events", true},
    {"compacted_log", true},
    {"missing_part", true},
    {"skipped_part", true},
    {"truncated", true},
    {"damaged_lines", true},
    {"line_too_long", true},
    {"no_application_start", true},
    {"doubled_events", true},
    {"no_application_end", false},
    {"several_applications", false},
    {"application_start_unusable", false},
    {"time_went_backwards", false},
    {"time_unusable", false},
    {"work_far_from_start", false},
    {"end_far_from_work", false},
    {"events_far_from_work", false},
    {"parents_dropped", false},
    {"amounts_unusable", false},
    {"idle_session", false},
    {"executors_lost", false},
    {"stages_retried", false},
    {"attempts_lost", false},
    {"mixed_executors", false},
    {"master_restarted", false},
    {NULL, false},
};
_Static_assert(sizeof run_warning_kinds / sizeof *run_warning_kinds <= RUN_WARNINGS_MAX,
               "a set has a bit for each warning");

uint32_t run_warning_bit(struct strview code)
{
    for (unsigned i = 0; run_warning_kinds[i].code != NULL; i++)
        if (strview_is(code, run_warning_kinds[i].code))
            return UINT32_C(1) << i;
    return 0;
}

uint32_t run_warning_set(const struct run *run)
{
    uint32_t set = 0;
    for (size_t i = 0; i < run->warnings.n; i++)
        set |= run_warning_bit(strview_of(run->warnings.items[i].code));
    return set;
}

void warned_runs_add(struct warned_runs *counts, uint32_t warnings, const char *run_id)
{
    counts->runs++;
    if (warnings == 0)
        return;
    if (counts->warned++ == 0)
        (void)snprintf(counts->run_id, sizeof counts->run_id, "%s", run_id);
    for (unsigned i = 0; i < RUN_WARNINGS_MAX; i++)
        counts->with[i] += warnings >> i & 1u;
}

void warned_runs_add_run(struct warned_runs *counts, const struct run *run)
{
    warned_runs_add(counts, run_warning_set(run), run->id);
}

void warned_runs_merge(struct warned_runs *counts, const struct warned_runs *more)
{
    if (counts->warned == 0)
        memcpy(counts->run_id, more->run_id, sizeof counts->run_id);
    counts->runs += more->runs;
    counts->warned += more->warned;
    for (size_t i = 0; i < RUN_WARNINGS_MAX; i++)
        counts->with[i] += more->with[i];
}

/* --- in words --- */

/* "2 of the 8 runs behind this are", "The newest run is". */
static void
describe_share(const struct warned_runs *counts, bool are_newest, char *text, size_t room)
{
    const char *before = are_newest ? "newest " : "", *behind = are_newest ? "" : " behind this";
    if (counts->runs == 1)
        (void)snprintf(text, room, "The %srun%s is", before, behind);
    else if (counts->warned == counts->runs)
        (void)snprintf(text, room, "All %zu %sruns%s are", counts->runs, before, behind);
    else
        (void)snprintf(text, room, "%zu of the %zu %sruns%s %s", counts->warned, counts->runs,
                       before, behind, PLURAL_VERB(counts->warned, "is", "are"));
}

/* The codes, with commas, and their number of runs unless every warned run has all warnings. False: a
 * warning is not damage. */
static bool list_codes(const struct warned_runs *counts, char *text, size_t room)
{
    size_t used = 0;
    bool is_damage = true, is_numbered = false;
    text[0] = '\0';
    for (size_t i = 0; i < RUN_WARNINGS_MAX; i++)
        is_numbered = is_numbered || (counts->with[i] > 0 && counts->with[i] < counts->warned);
    for (size_t i = 0; run_warning_kinds[i].code != NULL && used < room; i++) {
        char number[32] = "";
        if (counts->with[i] == 0)
            continue;
        is_damage = is_damage && run_warning_kinds[i].is_damage;
        if (is_numbered)
            (void)snprintf(number, sizeof number, " in %" PRIu32, counts->with[i]);
        int n = snprintf(text + used, room - used, "%s%s%s", used == 0 ? "" : ", ",
                         run_warning_kinds[i].code, number);
        used += n > 0 ? (size_t)n : 0;
    }
    return is_damage;
}

void warned_runs_explain(const struct warned_runs *counts,
                         bool are_newest,
                         struct findings *findings)
{
    char share[96], codes[1024], such[64] = "";
    if (counts->warned == 0 || findings->arena == NULL)
        return;
    describe_share(counts, are_newest, share, sizeof share);
    bool is_damage = list_codes(counts, codes, sizeof codes);
    if (counts->run_id[0] != '\0')
        (void)snprintf(such, sizeof such, "; %srun %s", counts->warned > 1 ? "one is " : "",
                       counts->run_id);
    bool is_one = counts->warned == 1;
    struct finding *note = finding_add(
        findings, "runs_with_warnings", "%s from %s %s (%s%s).", share, is_one ? "a log" : "logs",
        is_damage ? is_one ? "that is not whole" : "that are not whole"
                  : "with warnings that bear on a prediction",
        codes, such);
    finding_number(note, "runs", (double)counts->runs);
    finding_number(note, "runs_warned", (double)counts->warned);
    if (counts->run_id[0] != '\0')
        finding_text(note, "run_id", arena_strdup(findings->arena, counts->run_id));
    for (size_t i = 0; run_warning_kinds[i].code != NULL; i++)
        if (counts->with[i] > 0)
            finding_number(note, run_warning_kinds[i].code, (double)counts->with[i]);
}
