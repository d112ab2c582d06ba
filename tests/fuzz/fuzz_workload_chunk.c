/*
 * Any bytes as a chunk of a workload, with a checksum that matches, so that what lies behind it is
 * reached: no crash, nothing read beyond them, and times and counts as they may be, in no more than
 * the header says.
 */
#include <string.h>

#include "core/workload/chunk_format.h"
#include "core/workload/workload_chunk.h"
#include "fuzz.h"

static void put_checksum(unsigned char *bytes, size_t n)
{
    uint64_t checksum = chunk_checksum(bytes, n);
    for (unsigned i = 0; i < 8; i++)
        bytes[4 + i] = (unsigned char)(checksum >> 8 * i);
}

static enum pv_code read_runs(struct workload_chunk_reader *reader,
                              const struct workload_entry *entry,
                              uint64_t tasks[])
{
    struct workload_run runs[7];
    for (unsigned l = 0; l < WORKLOAD_LISTS; l++) {
        for (size_t left = entry->job.n_runs[l]; left > 0;) {
            size_t n = left < 7 ? left : 7;
            PV_TRY(workload_chunk_runs(reader, (enum workload_list)l, runs, n, NULL));
            for (size_t i = 0; i < n; i++) {
                FUZZ_REQUIRE(runs[i].duration_s > 0 && runs[i].duration_s <= 1e12);
                FUZZ_REQUIRE(runs[i].count >= 1);
                tasks[l] += runs[i].count;
            }
            left -= n;
        }
    }
    return PV_OK;
}

static enum pv_code read_chunk(struct strview chunk)
{
    struct workload_chunk_reader reader;
    struct workload_entry entry;
    uint64_t tasks[WORKLOAD_LISTS] = {0};
    uint32_t jobs = 0;
    bool more;
    PV_TRY(workload_chunk_open(chunk, &reader, NULL));
    for (;;) {
        PV_TRY(workload_chunk_next(&reader, &entry, &more, NULL));
        if (!more)
            break;
        jobs += !entry.continues;
        FUZZ_REQUIRE(entry.continues || (entry.job.arrival_s >= 0 && entry.job.arrival_s <= 1e12));
        FUZZ_REQUIRE(entry.job.name.n <= WORKLOAD_NAME_MAX && strview_is_utf8(entry.job.name));
        PV_TRY(read_runs(&reader, &entry, tasks));
    }
    FUZZ_REQUIRE(jobs == reader.header.jobs);
    FUZZ_REQUIRE(memcmp(tasks, reader.header.tasks, sizeof tasks) == 0);
    return PV_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    unsigned char *bytes = malloc(n > 0 ? n : 1);
    FUZZ_REQUIRE(bytes != NULL);
    if (n > 0)
        memcpy(bytes, data, n);
    if (n > CHUNK_CHECKED_FROM)
        put_checksum(bytes, n);
    (void)read_chunk((struct strview){(const char *)bytes, n});
    free(bytes);
    return 0;
}
