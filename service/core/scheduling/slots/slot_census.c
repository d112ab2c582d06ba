#include "core/scheduling/slots/slot_census.h"

#include <math.h>

#include "base/plural.h"
#include "base/quantity_text.h"

void fresh_census_add(struct fresh_census *census, const struct fresh_job *job, double now_s)
{
    census->running[SLOTS_MAP] += job->maps_running;
    census->running[SLOTS_REDUCE] += job->reduces_running;
    census->in_phase[job->phase]++;
    census->consumption = fmax(census->consumption, fresh_consumption(job, now_s));
}

static void warn_running(size_t running, size_t slots, const char *kind, struct findings *warnings)
{
    if (running <= slots)
        return;
    struct finding *finding =
        finding_add(warnings, "more_running_than_slots",
                    "%zu %s%s run on %zu slot%s: the state contradicts itself.", running, kind,
                    PLURAL(running), slots, PLURAL(slots));
    finding_text(finding, "kind", kind);
    finding_number(finding, "running", (double)running);
    finding_number(finding, "slots", (double)slots);
}

static void
warn_phase(size_t jobs, size_t concurrency, const char *phase, struct findings *warnings)
{
    if (jobs <= concurrency)
        return;
    struct finding *finding =
        finding_add(warnings, "more_jobs_than_concurrency",
                    "%zu job%s %s in the %s phase, of which there are to be %zu at most.", jobs,
                    PLURAL(jobs), PLURAL_VERB(jobs, "is", "are"), phase, concurrency);
    finding_text(finding, "phase", phase);
    finding_count(finding, jobs);
    finding_number(finding, "concurrency", (double)concurrency);
}

void fresh_census_warn(const struct fresh_census *census,
                       const struct fresh_terms *terms,
                       const struct fresh_slots *slots,
                       size_t reduce_slots,
                       struct findings *warnings)
{
    warn_running(census->running[SLOTS_MAP], slots->map_slots, "map", warnings);
    warn_running(census->running[SLOTS_REDUCE], reduce_slots, "reduce", warnings);
    warn_phase(census->in_phase[FRESH_MAP], terms->concurrency, "map", warnings);
    warn_phase(census->in_phase[FRESH_REDUCE], terms->concurrency, "reduce", warnings);
    if (census->consumption > (double)slots->total_slots * (1 + 1e-9)) {
        struct finding *finding = finding_add(
            warnings, "more_time_than_slots",
            "The consumption of a job since it started is %s: more than the %zu slot%s.",
            quantity_number(census->consumption).text, slots->total_slots,
            PLURAL(slots->total_slots));
        finding_number(finding, "consumption", census->consumption);
        finding_number(finding, "slots", (double)slots->total_slots);
    }
}

void omo_census_add(struct omo_census *census, const struct omo_job *job)
{
    census->reduced_early += job->reduces_finished > 0 && job->maps_finished < job->maps;
}

void omo_census_warn(const struct omo_census *census,
                     const struct omo_rates *rates,
                     struct findings *warnings)
{
    size_t early = census->reduced_early;
    if (early > 0)
        finding_count(finding_add(warnings, "reduces_before_maps",
                                  "%zu job%s a reduce that finished before all maps, which it "
                                  "reads, had.",
                                  early, PLURAL_VERB(early, " has", "s have")),
                      early);
    if (!(rates->release_frequency_per_s > 0))
        (void)finding_add(warnings, "nothing_released",
                          "No slot came free: when shuffles should begin is not known, and reduces "
                          "begin with the last map.");
}
