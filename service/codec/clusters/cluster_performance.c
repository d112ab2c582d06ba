#include "codec/clusters/cluster_performance.h"

#include <math.h>

#include "core/history/run.h"

static double age_s(const struct codec_cluster_performance *shown, int64_t newest_us)
{
    if (newest_us == RUN_NO_INSTANT)
        return (double)NAN;
    return fmax(0, (double)(shown->ask->now_us - newest_us) * 1e-6);
}

static void encode_distribution(struct writer *w, const struct speeds *speeds)
{
    if (!writer_member_array_or_null(w, "distribution", speeds->n > 0))
        return;
    for (size_t i = 0; i < speeds->n; i++) {
        writer_begin_array(w);
        writer_number(w, speeds->value[i]);
        writer_number(w, speeds->probability[i]);
        writer_end_array(w);
    }
    writer_end_array(w);
}

/* Members of an item that is open. */
static void encode_entry(struct writer *w,
                         const struct codec_cluster_performance *shown,
                         const struct performance_entry *entry)
{
    bool known = entry->source != PERFORMANCE_NONE;
    writer_member_string(w, "source", performance_source_name(entry->source));
    encode_distribution(w, &entry->speeds);
    writer_member_number(w, "mean_bytes_per_s", known ? entry->speeds.mean : (double)NAN);
    writer_member_integer(w, "samples", entry->samples);
    writer_member_number(w, "weight", entry->weight);
    writer_member_instant(w, "newest_at", entry->newest_us);
    writer_member_number(w, "age_s", age_s(shown, entry->newest_us));
}

/* own: what the cluster observed itself; else what it falls back on, where there is something. */
static void
encode_processing(struct writer *w, const struct codec_cluster_performance *shown, bool own)
{
    writer_member_array(w, "processing");
    for (size_t i = 0; i < shown->ask->n_operations; i++) {
        const struct performance_entry *entry =
            performance_book_processing(shown->book, shown->place, i);
        if ((entry->source == PERFORMANCE_CLUSTER) != own || entry->source == PERFORMANCE_NONE)
            continue;
        writer_begin_object(w);
        writer_member_text(w, "operation", shown->ask->operations[i]);
        encode_entry(w, shown, entry);
        writer_end_object(w);
    }
    writer_end_array(w);
}

static bool is_asked(const struct codec_cluster_performance *shown, size_t from)
{
    return from != shown->place && (shown->ask->sends == NULL || shown->ask->sends[from]);
}

static void encode_transfers(struct writer *w, const struct codec_cluster_performance *shown)
{
    writer_member_array(w, "transfers");
    for (size_t from = 0; from < shown->ask->n_places; from++) {
        const struct performance_entry *entry =
            performance_book_transfer(shown->book, from, shown->place);
        if (!is_asked(shown, from) || entry->source != PERFORMANCE_CLUSTER)
            continue;
        writer_begin_object(w);
        writer_member_text(w, "from", shown->names[from]);
        encode_entry(w, shown, entry);
        writer_end_object(w);
    }
    writer_end_array(w);
}

/* --- what others observed --- */

/* Every place from `first` on that falls back on the same. */
static void encode_alike(struct writer *w,
                         const struct codec_cluster_performance *shown,
                         size_t first,
                         bool written[])
{
    const struct performance_entry *entry =
        performance_book_transfer(shown->book, first, shown->place);
    writer_begin_object(w);
    writer_member_array(w, "from_clusters");
    for (size_t from = first; from < shown->ask->n_places; from++) {
        if (!is_asked(shown, from) ||
            performance_book_transfer(shown->book, from, shown->place) != entry)
            continue;
        writer_text(w, shown->names[from]);
        written[from] = true;
    }
    writer_end_array(w);
    encode_entry(w, shown, entry);
    writer_end_object(w);
}

static void encode_fallbacks(struct writer *w, const struct codec_cluster_performance *shown)
{
    bool *written = arena_calloc(w->arena, shown->ask->n_places, sizeof *written);
    w->failed = w->failed || written == NULL;
    writer_member_object(w, "fallbacks");
    encode_processing(w, shown, false);
    writer_member_array(w, "transfers");
    for (size_t from = 0; written != NULL && from < shown->ask->n_places; from++)
        if (!written[from] && is_asked(shown, from) &&
            performance_book_transfer(shown->book, from, shown->place)->source !=
                PERFORMANCE_CLUSTER)
            encode_alike(w, shown, from, written);
    writer_end_array(w);
    writer_end_object(w);
}

/* --- availability --- */

static void encode_prior(struct writer *w, const struct reachability_prior *prior)
{
    writer_member_object(w, "prior");
    writer_member_number(w, "mean_time_between_outages_s", prior->mean_time_between_outages_s);
    writer_member_number(w, "mean_outage_s", prior->mean_outage_s);
    writer_member_number(w, "prior_weight_s", prior->weight_s);
    writer_end_object(w);
}

static void encode_availability(struct writer *w, const struct codec_cluster_performance *shown)
{
    const struct unreachable_entry *entry = performance_book_unreachable(shown->book, shown->place);
    writer_member_object(w, "availability");
    writer_member_number(w, "slot_s", shown->ask->places[shown->place].slot_s);
    writer_member_number(w, "outage_probability", entry->probability);
    writer_member_string(w, "source", unreachable_source_name(entry->source));
    writer_member_number(w, "measured_outage_probability", entry->measured.probability);
    writer_member_integer(w, "outage_count", (int64_t)entry->outages);
    writer_member_number(w, "outages_weight", entry->measured.outages);
    writer_member_number(w, "observed_s", entry->measured.observed_s);
    writer_member_number(w, "downtime_s", entry->measured.downtime_s);
    writer_member_instant(w, "first_at", entry->first_us);
    writer_member_instant(w, "newest_at", entry->newest_us);
    encode_prior(w, &shown->ask->prior);
    writer_end_object(w);
}

void codec_cluster_performance_encode(struct writer *w,
                                      const struct codec_cluster_performance *shown)
{
    writer_begin_object(w);
    writer_member_text(w, "cluster", shown->names[shown->place]);
    writer_member_instant(w, "as_of", shown->ask->now_us);
    encode_processing(w, shown, true);
    encode_transfers(w, shown);
    encode_fallbacks(w, shown);
    encode_availability(w, shown);
    writer_end_object(w);
}
