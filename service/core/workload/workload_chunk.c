#include "core/workload/workload_chunk.h"

#include <math.h>
#include <string.h>

#include "core/workload/chunk_format.h"
#include "core/workload/column.h"

_Static_assert((int)CHUNK_COLUMNS <= (int)WORKLOAD_COLUMNS_MAX,
               "a reader has room for the columns");

enum { TIMES = 2, OF_ARRIVALS = 0, OF_DURATIONS = 1 };

static const double TIME_MOST_S = 1e12;
static const uint64_t BYTES_MOST = UINT64_C(1) << 53;

static enum pv_code damaged(struct pv_error *err, const char *what)
{
    return pv_fail(err, PV_E_INVALID, "the chunk is damaged: %s", what);
}

/* --- opening --- */

static bool take_encodings(struct workload_chunk_reader *reader, const unsigned char *at)
{
    reader->header.continues = (*at & CHUNK_CONTINUES) != 0;
    reader->header.rounded = (*at & CHUNK_ROUNDED) != 0;
    if ((*at++ & ~(CHUNK_CONTINUES | CHUNK_ROUNDED)) != 0)
        return false;
    for (unsigned t = 0; t < TIMES; t++) {
        reader->encoding[t] = *at++;
        reader->scale[t] = *at++;
        if (reader->encoding[t] > COLUMN_SINGLES || reader->scale[t] > COLUMN_SCALE_MAX)
            return false;
    }
    /* Instants are never rounded. */
    return reader->encoding[OF_ARRIVALS] != COLUMN_SINGLES;
}

static bool take_counts(struct workload_chunk_reader *reader, struct column_cursor *rest)
{
    uint64_t jobs;
    bool whole = column_take_integer(rest, &jobs) && jobs <= WORKLOAD_CHUNK_MAX;
    for (unsigned l = 0; l < WORKLOAD_LISTS && whole; l++)
        whole = column_take_integer(rest, &reader->header.tasks[l]) &&
                column_take_integer(rest, &reader->header.runs[l]) &&
                reader->header.runs[l] <= reader->header.tasks[l];
    if (!whole)
        return false;
    reader->header.jobs = (uint32_t)jobs;
    reader->entries = (uint32_t)jobs + reader->header.continues;
    return reader->entries > 0;
}

/* The columns fill what is left exactly. */
static bool take_columns(struct workload_chunk_reader *reader, struct column_cursor *rest)
{
    uint64_t lengths[CHUNK_COLUMNS];
    for (unsigned c = 0; c < CHUNK_COLUMNS; c++) {
        if (!column_take_integer(rest, &lengths[c]))
            return false;
    }
    for (unsigned c = 0; c < CHUNK_COLUMNS; c++) {
        if ((uint64_t)(rest->end - rest->at) < lengths[c])
            return false;
        reader->columns[c] = (struct column_cursor){rest->at, rest->at + lengths[c]};
        reader->there[c] = lengths[c] > 0;
        rest->at += lengths[c];
    }
    return rest->at == rest->end;
}

enum pv_code workload_chunk_open(struct strview bytes,
                                 struct workload_chunk_reader *reader,
                                 struct pv_error *err)
{
    const unsigned char *at = (const unsigned char *)bytes.at;
    struct column_cursor rest;
    uint64_t checksum;
    memset(reader, 0, sizeof *reader);
    reader->first = true;
    if (bytes.n < CHUNK_FIXED || bytes.n > WORKLOAD_CHUNK_MAX || memcmp(at, CHUNK_MAGIC, 3) != 0)
        return pv_fail(err, PV_E_INVALID, "these bytes are not a chunk of a workload");
    if (at[3] != CHUNK_VERSION)
        return pv_fail(err, PV_E_INVALID, "the chunk has version %u, known is %d", (unsigned)at[3],
                       (int)CHUNK_VERSION);
    rest = (struct column_cursor){at + 4, at + bytes.n};
    if (!column_take_fixed(&rest, 8, &checksum) || checksum != chunk_checksum(at, bytes.n))
        return damaged(err, "its checksum does not match");
    rest.at = at + CHUNK_FIXED;
    if (!take_encodings(reader, at + CHUNK_CHECKED_FROM) || !take_counts(reader, &rest) ||
        !take_columns(reader, &rest))
        return damaged(err, "its header");
    memcpy(reader->tasks, reader->header.tasks, sizeof reader->tasks);
    memcpy(reader->runs, reader->header.runs, sizeof reader->runs);
    return PV_OK;
}

/* --- an entry --- */

/* The next integer of a column; 0 where the column was left out. */
static bool
take_integer(struct workload_chunk_reader *reader, enum chunk_column column, uint64_t *value)
{
    *value = 0;
    return !reader->there[column] || column_take_integer(&reader->columns[column], value);
}

/* Likewise a time; *value stays where the column was left out. */
static bool
take_double(struct workload_chunk_reader *reader, enum chunk_column column, double *value)
{
    return !reader->there[column] || column_take_double(&reader->columns[column], value);
}

static bool take_arrival(struct workload_chunk_reader *reader, double *arrival_s)
{
    struct column_cursor *column = &reader->columns[CHUNK_ARRIVALS];
    unsigned scale = reader->scale[OF_ARRIVALS];
    if (reader->encoding[OF_ARRIVALS] != COLUMN_DECIMALS)
        return column_take_times(column, (enum column_encoding)reader->encoding[OF_ARRIVALS], scale,
                                 arrival_s, 1);
    uint64_t difference;
    if (!column_take_integer(column, &difference) ||
        __builtin_add_overflow(reader->arrival, column_unzigzag(difference), &reader->arrival) ||
        reader->arrival < 0 || (uint64_t)reader->arrival > BYTES_MOST)
        return false;
    *arrival_s = column_multiple((uint64_t)reader->arrival, scale);
    return true;
}

static bool take_name(struct workload_chunk_reader *reader, struct strview *name)
{
    struct column_cursor *column = &reader->columns[CHUNK_NAMES];
    uint64_t shared, more;
    if (!reader->there[CHUNK_NAMES])
        return true;
    if (!column_take_integer(column, &shared) || !column_take_integer(column, &more) ||
        shared > reader->name_bytes || more > WORKLOAD_NAME_MAX ||
        shared + more > WORKLOAD_NAME_MAX || more > (uint64_t)(column->end - column->at))
        return false;
    memcpy(reader->name + shared, column->at, more);
    column->at += more;
    reader->name_bytes = shared + more;
    if (reader->name_bytes > 0)
        *name = (struct strview){reader->name, reader->name_bytes};
    return strview_is_utf8(*name);
}

static bool take_job(struct workload_chunk_reader *reader, struct workload_job *job)
{
    uint64_t bytes, queue, class;
    if (!take_arrival(reader, &job->arrival_s) || !take_name(reader, &job->name) ||
        !take_integer(reader, CHUNK_INPUT_BYTES, &bytes) ||
        !take_double(reader, CHUNK_SHUFFLES, &job->shuffle_s) ||
        !take_double(reader, CHUNK_PREDICTED, &job->predicted_size_s) ||
        !take_integer(reader, CHUNK_QUEUES, &queue) || !take_integer(reader, CHUNK_CLASSES, &class))
        return false;
    job->input_bytes = bytes > 0 ? (double)(bytes - 1) : (double)NAN;
    job->queue = (uint32_t)queue;
    job->class = (enum workload_class) class;
    return job->arrival_s >= 0 && job->arrival_s <= TIME_MOST_S && job->shuffle_s >= 0 &&
           job->shuffle_s <= TIME_MOST_S && !(job->predicted_size_s <= 0) &&
           !isinf(job->predicted_size_s) && bytes <= BYTES_MOST && queue <= UINT32_MAX &&
           class <= WORKLOAD_LONG;
}

/* How many runs of a list there are, and whether they have lengths. */
static bool take_count(struct workload_chunk_reader *reader, unsigned list, size_t *n_runs)
{
    uint64_t count;
    if (!take_integer(reader, list == 0 ? CHUNK_TASK_COUNTS : CHUNK_REDUCE_COUNTS, &count) ||
        count >> 1 > reader->runs[list])
        return false;
    reader->runs[list] -= count >> 1;
    reader->packed[list] = (count & 1) != 0;
    reader->entry_runs[list] = *n_runs = count >> 1;
    return true;
}

enum pv_code workload_chunk_next(struct workload_chunk_reader *reader,
                                 struct workload_entry *entry,
                                 bool *more,
                                 struct pv_error *err)
{
    bool continues = reader->first && reader->header.continues;
    *more = reader->entries > 0;
    if (!*more)
        return reader->tasks[0] == 0 && reader->tasks[1] == 0 && reader->runs[0] == 0 &&
                       reader->runs[1] == 0
                   ? PV_OK
                   : damaged(err, "its counts do not add up");
    memset(entry, 0, sizeof *entry);
    entry->continues = continues;
    entry->job.input_bytes = (double)NAN;
    entry->job.predicted_size_s = (double)NAN;
    reader->first = false;
    reader->entries--;
    if (!continues && !take_job(reader, &entry->job))
        return damaged(err, "a job");
    for (unsigned l = 0; l < WORKLOAD_LISTS; l++) {
        if (!take_count(reader, l, &entry->job.n_runs[l]))
            return damaged(err, "a count of tasks");
    }
    if (entry->job.n_runs[WORKLOAD_TASKS] == 0 && entry->job.n_runs[WORKLOAD_REDUCES] == 0)
        return damaged(err, "a job without tasks");
    return PV_OK;
}

/* --- its runs --- */

enum { RUNS_AT_ONCE = 256 };

static bool
take_runs(struct workload_chunk_reader *reader, unsigned list, struct workload_run runs[], size_t n)
{
    double durations[RUNS_AT_ONCE];
    if (!column_take_times(&reader->columns[CHUNK_DURATIONS],
                           (enum column_encoding)reader->encoding[OF_DURATIONS],
                           reader->scale[OF_DURATIONS], durations, n))
        return false;
    for (size_t i = 0; i < n; i++) {
        uint64_t less = 0;
        if (!(durations[i] > 0 && durations[i] <= TIME_MOST_S) ||
            (reader->packed[list] &&
             !column_take_integer(&reader->columns[CHUNK_RUN_LENGTHS], &less)) ||
            less >= reader->tasks[list])
            return false;
        runs[i] = (struct workload_run){durations[i], less + 1};
        reader->tasks[list] -= less + 1;
    }
    return true;
}

enum pv_code workload_chunk_runs(struct workload_chunk_reader *reader,
                                 enum workload_list list,
                                 struct workload_run runs[],
                                 size_t n,
                                 struct pv_error *err)
{
    if (n > reader->entry_runs[list])
        return damaged(err, "fewer tasks than were asked for");
    reader->entry_runs[list] -= n;
    for (size_t done = 0; done < n;) {
        size_t part = n - done < RUNS_AT_ONCE ? n - done : RUNS_AT_ONCE;
        if (!take_runs(reader, list, runs + done, part))
            return damaged(err, "a duration");
        done += part;
    }
    return PV_OK;
}
