#include "core/workload/chunk_encoder.h"

#include <math.h>
#include <string.h>

#include "core/workload/column.h"

enum {
    DURATION_MOST =
        5, /* bytes of a duration: what decimals take on average, or they are not used */
    DURATIONS_MOST = WORKLOAD_CHUNK_MAX / COLUMN_DIGITS_BYTES,
    /* The header; an entry without its runs. */
    HEADER_MOST = CHUNK_FIXED + (5 + CHUNK_COLUMNS) * COLUMN_INTEGER_MAX,
    ENTRY_MOST = WORKLOAD_NAME_MAX + 3 * COLUMN_DOUBLE_BYTES + 7 * COLUMN_INTEGER_MAX,
    RUNS_ROOM = 64 /* an entry is not begun where fewer bytes are left for its runs */
};

enum pv_code chunk_encoder_init(struct chunk_encoder *encoder,
                                const struct workload_sink *sink,
                                struct arena *arena,
                                struct pv_error *err)
{
    encoder->sink = *sink;
    encoder->arrivals =
        arena_array(arena, WORKLOAD_CHUNK_MAX / COLUMN_DOUBLE_BYTES, sizeof(double));
    encoder->durations = arena_array(arena, DURATIONS_MOST, sizeof(double));
    encoder->out = arena_alloc(arena, WORKLOAD_CHUNK_MAX);
    bool have = encoder->arrivals != NULL && encoder->durations != NULL && encoder->out != NULL;
    for (unsigned c = 0; c < CHUNK_COLUMNS && have; c++) {
        encoder->columns[c] = arena_alloc(arena, WORKLOAD_CHUNK_MAX);
        have = encoder->columns[c] != NULL;
    }
    return have ? PV_OK : pv_no_memory(err);
}

/* --- which encoding --- */

struct choice {
    enum column_encoding encoding;
    unsigned scale;
    size_t bytes;
};

/* The least scale at which all values are decimals. false: there is none. */
static bool find_scale(const double values[], size_t n, unsigned *scale)
{
    uint64_t multiple;
    *scale = 0;
    for (size_t i = 0; i < n; i++) {
        while (!column_decimal(values[i], *scale, &multiple)) {
            if (++*scale > COLUMN_SCALE_MAX)
                return false;
        }
    }
    /* A large value that was a decimal before the scale grew may be none at it. */
    for (size_t i = 0; i < n; i++) {
        if (!column_decimal(values[i], *scale, &multiple))
            return false;
    }
    return true;
}

static bool all_digits(const double values[], size_t n)
{
    uint32_t bits;
    for (size_t i = 0; i < n; i++) {
        if (!column_digits(values[i], &bits))
            return false;
    }
    return true;
}

/* How a value is written as a decimal: by itself or, where *before is given, by its difference from
 * the one before. */
static uint64_t decimal_of(double value, unsigned scale, int64_t *before)
{
    uint64_t multiple = 0;
    (void)column_decimal(value, scale, &multiple);
    if (before == NULL)
        return multiple;
    int64_t difference = (int64_t)multiple - *before;
    *before = (int64_t)multiple;
    return column_zigzag(difference);
}

/* Times as decimals or digits, whichever takes less; `otherwise` where neither holds them, or both
 * take more than `most` bytes each. */
static struct choice
choose(const double values[], size_t n, bool differences, size_t most, struct choice otherwise)
{
    struct choice best = otherwise;
    unsigned scale;
    best.bytes = SIZE_MAX;
    if (find_scale(values, n, &scale)) {
        int64_t before = 0;
        size_t bytes = 0;
        for (size_t i = 0; i < n; i++)
            bytes +=
                column_integer_bytes(decimal_of(values[i], scale, differences ? &before : NULL));
        if (bytes <= n * most)
            best = (struct choice){COLUMN_DECIMALS, scale, bytes};
    }
    if (n * COLUMN_DIGITS_BYTES < best.bytes && all_digits(values, n))
        best = (struct choice){COLUMN_DIGITS, 0, n * COLUMN_DIGITS_BYTES};
    return best.bytes == SIZE_MAX ? otherwise : best;
}

static unsigned char *put_times(unsigned char *to,
                                const double values[],
                                size_t n,
                                const struct choice *choice,
                                bool differences)
{
    int64_t before = 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t bits = 0;
        switch (choice->encoding) {
        case COLUMN_DOUBLES:
            to = column_put_double(to, values[i]);
            break;
        case COLUMN_DECIMALS:
            to = column_put_integer(
                to, decimal_of(values[i], choice->scale, differences ? &before : NULL));
            break;
        case COLUMN_DIGITS:
            (void)column_digits(values[i], &bits);
            to = column_put_fixed(to, bits, COLUMN_DIGITS_BYTES);
            break;
        case COLUMN_SINGLES:
            to = column_put_single(to, values[i]);
            break;
        }
    }
    return to;
}

static bool any_rounded(const double values[], size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if ((double)(float)values[i] != values[i])
            return true;
    }
    return false;
}

/* --- a chunk is written --- */

static unsigned char *put_header(struct chunk_encoder *encoder,
                                 const struct choice *arrivals,
                                 const struct choice *durations,
                                 bool rounded)
{
    unsigned char *to = encoder->out + CHUNK_CHECKED_FROM;
    memcpy(encoder->out, CHUNK_MAGIC, 3);
    encoder->out[3] = CHUNK_VERSION;
    *to++ =
        (unsigned char)((encoder->continues ? CHUNK_CONTINUES : 0) | (rounded ? CHUNK_ROUNDED : 0));
    *to++ = (unsigned char)arrivals->encoding;
    *to++ = (unsigned char)arrivals->scale;
    *to++ = (unsigned char)durations->encoding;
    *to++ = (unsigned char)durations->scale;
    to = column_put_integer(to, encoder->n_arrivals);
    for (unsigned l = 0; l < WORKLOAD_LISTS; l++) {
        to = column_put_integer(to, encoder->tasks[l]);
        to = column_put_integer(to, encoder->runs[l]);
    }
    for (unsigned c = 0; c < CHUNK_COLUMNS; c++)
        to = column_put_integer(to, encoder->given[c] ? encoder->bytes[c] : 0);
    return to;
}

static void empty(struct chunk_encoder *encoder)
{
    memset(encoder->bytes, 0, sizeof encoder->bytes);
    memset(encoder->given, 0, sizeof encoder->given);
    memset(encoder->tasks, 0, sizeof encoder->tasks);
    memset(encoder->runs, 0, sizeof encoder->runs);
    encoder->n_arrivals = 0;
    encoder->n_durations = 0;
    encoder->continues = false;
    encoder->last_name.n = 0;
}

static enum pv_code flush(struct chunk_encoder *encoder, struct pv_error *err)
{
    static const struct choice doubles = {.encoding = COLUMN_DOUBLES, .bytes = COLUMN_DOUBLE_BYTES};
    static const struct choice singles = {.encoding = COLUMN_SINGLES, .bytes = COLUMN_SINGLE_BYTES};
    size_t n = encoder->n_durations;
    struct choice arrivals =
        choose(encoder->arrivals, encoder->n_arrivals, true, COLUMN_DOUBLE_BYTES, doubles);
    struct choice durations = choose(encoder->durations, n, false, DURATION_MOST, singles);
    bool rounded = durations.encoding == COLUMN_SINGLES && any_rounded(encoder->durations, n);
    unsigned char *end = put_times(encoder->columns[CHUNK_ARRIVALS], encoder->arrivals,
                                   encoder->n_arrivals, &arrivals, true);
    encoder->bytes[CHUNK_ARRIVALS] = (size_t)(end - encoder->columns[CHUNK_ARRIVALS]);
    end = put_times(encoder->columns[CHUNK_DURATIONS], encoder->durations, n, &durations, false);
    encoder->bytes[CHUNK_DURATIONS] = (size_t)(end - encoder->columns[CHUNK_DURATIONS]);
    encoder->given[CHUNK_ARRIVALS] = encoder->given[CHUNK_DURATIONS] = true;
    end = put_header(encoder, &arrivals, &durations, rounded);
    for (unsigned c = 0; c < CHUNK_COLUMNS; c++) {
        if (encoder->given[c]) {
            memcpy(end, encoder->columns[c], encoder->bytes[c]);
            end += encoder->bytes[c];
        }
    }
    size_t bytes = (size_t)(end - encoder->out);
    (void)column_put_fixed(encoder->out + 4, chunk_checksum(encoder->out, bytes), 8);
    encoder->chunks++;
    encoder->encoded_bytes += bytes;
    for (unsigned l = 0; l < WORKLOAD_LISTS; l++) {
        encoder->all_runs[l] += encoder->runs[l];
        encoder->rounded_tasks += rounded ? encoder->tasks[l] : 0;
    }
    empty(encoder);
    struct strview chunk = {(const char *)encoder->out, bytes};
    return encoder->sink.chunk(encoder->sink.context, chunk, err);
}

/* --- a job is added --- */

/* Bytes that are left whatever encodings are chosen; negative where there are too many. */
static ptrdiff_t room(const struct chunk_encoder *encoder)
{
    size_t taken = HEADER_MOST + encoder->n_arrivals * COLUMN_DOUBLE_BYTES +
                   encoder->n_durations * DURATION_MOST;
    for (unsigned c = 0; c < CHUNK_COLUMNS; c++)
        taken += encoder->given[c] ? encoder->bytes[c] : 0;
    return (ptrdiff_t)WORKLOAD_CHUNK_MAX - (ptrdiff_t)taken;
}

static void put_integer(struct chunk_encoder *encoder, enum chunk_column column, uint64_t value)
{
    unsigned char *at = encoder->columns[column] + encoder->bytes[column];
    encoder->bytes[column] += (size_t)(column_put_integer(at, value) - at);
}

static void put_double(struct chunk_encoder *encoder, enum chunk_column column, double value)
{
    (void)column_put_double(encoder->columns[column] + encoder->bytes[column], value);
    encoder->bytes[column] += COLUMN_DOUBLE_BYTES;
}

static void put_name(struct chunk_encoder *encoder, struct strview name)
{
    size_t shared = 0;
    while (shared < name.n && shared < encoder->last_name.n &&
           name.at[shared] == encoder->last_name.text[shared])
        shared++;
    put_integer(encoder, CHUNK_NAMES, shared);
    put_integer(encoder, CHUNK_NAMES, name.n - shared);
    if (name.n > shared)
        memcpy(encoder->columns[CHUNK_NAMES] + encoder->bytes[CHUNK_NAMES], name.at + shared,
               name.n - shared);
    encoder->bytes[CHUNK_NAMES] += name.n - shared;
    if (name.n > 0)
        memcpy(encoder->last_name.text, name.at, name.n);
    encoder->last_name.n = name.n;
}

/* From this job on the columns are there that it has a value for. */
static void give(struct chunk_encoder *encoder, const struct workload_job *job)
{
    encoder->given[CHUNK_TASK_COUNTS] = true;
    encoder->given[CHUNK_REDUCE_COUNTS] |= job->n_runs[WORKLOAD_REDUCES] > 0;
    encoder->given[CHUNK_NAMES] |= job->name.n > 0;
    encoder->given[CHUNK_INPUT_BYTES] |= !isnan(job->input_bytes);
    encoder->given[CHUNK_SHUFFLES] |= job->shuffle_s > 0;
    encoder->given[CHUNK_PREDICTED] |= !isnan(job->predicted_size_s);
    encoder->given[CHUNK_QUEUES] |= job->queue > 0;
    encoder->given[CHUNK_CLASSES] |= job->class != WORKLOAD_UNCLASSED;
}

static void put_job(struct chunk_encoder *encoder, const struct workload_job *job)
{
    encoder->arrivals[encoder->n_arrivals++] = job->arrival_s;
    put_name(encoder, job->name);
    put_integer(encoder, CHUNK_INPUT_BYTES,
                isnan(job->input_bytes) ? 0 : (uint64_t)job->input_bytes + 1);
    put_double(encoder, CHUNK_SHUFFLES, job->shuffle_s);
    put_double(encoder, CHUNK_PREDICTED, job->predicted_size_s);
    put_integer(encoder, CHUNK_QUEUES, job->queue);
    put_integer(encoder, CHUNK_CLASSES, (uint64_t)job->class);
}

/* What of a list is not written yet. */
struct list_rest {
    const struct workload_run *runs;
    size_t n;
    uint64_t written; /* tasks of the first run */
    bool packed;      /* with run lengths */
};

static struct list_rest list_of(const struct workload_job *job, enum workload_list list)
{
    struct list_rest rest = {.runs = job->runs[list], .n = job->n_runs[list]};
    size_t lengths = 0;
    uint64_t tasks = 0;
    for (size_t i = 0; i < rest.n; i++) {
        lengths += column_integer_bytes(rest.runs[i].count - 1);
        tasks += rest.runs[i].count;
    }
    rest.packed = (tasks - rest.n) * COLUMN_DIGITS_BYTES > lengths;
    return rest;
}

static void add_duration(struct chunk_encoder *encoder, enum workload_list list, double duration_s)
{
    encoder->durations[encoder->n_durations++] = duration_s;
    encoder->runs[list]++;
}

/* As much of a list as there is room for. Returns the count for its column. */
static uint64_t
put_list(struct chunk_encoder *encoder, enum workload_list list, struct list_rest *rest)
{
    size_t most = rest->packed ? DURATION_MOST + COLUMN_INTEGER_MAX : DURATION_MOST;
    ptrdiff_t bytes = room(encoder) - WORKLOAD_LISTS * COLUMN_INTEGER_MAX; /* but for the counts */
    size_t fits = bytes > 0 ? (size_t)bytes / most : 0;
    uint64_t n = 0;
    while (rest->n > 0 && n < fits) {
        uint64_t left = rest->runs->count - rest->written;
        uint64_t taken = rest->packed ? left : 1;
        add_duration(encoder, list, rest->runs->duration_s);
        if (rest->packed)
            put_integer(encoder, CHUNK_RUN_LENGTHS, left - 1);
        encoder->tasks[list] += taken;
        rest->written += taken;
        n++;
        if (taken == left) {
            rest->runs++;
            rest->n--;
            rest->written = 0;
        }
    }
    encoder->given[CHUNK_RUN_LENGTHS] |= rest->packed && n > 0;
    return n << 1 | rest->packed;
}

/* An entry with all the runs that fit. */
static void put_lists(struct chunk_encoder *encoder, struct list_rest rests[WORKLOAD_LISTS])
{
    static const enum chunk_column columns[WORKLOAD_LISTS] = {CHUNK_TASK_COUNTS,
                                                              CHUNK_REDUCE_COUNTS};
    bool before = true; /* the list before is complete */
    for (unsigned l = 0; l < WORKLOAD_LISTS; l++) {
        uint64_t count = before ? put_list(encoder, (enum workload_list)l, &rests[l]) : 0;
        put_integer(encoder, columns[l], count);
        before = before && rests[l].n == 0;
    }
}

enum pv_code chunk_encoder_add(struct chunk_encoder *encoder,
                               const struct workload_job *job,
                               struct pv_error *err)
{
    struct list_rest rests[WORKLOAD_LISTS];
    bool given[CHUNK_COLUMNS];
    for (unsigned l = 0; l < WORKLOAD_LISTS; l++)
        rests[l] = list_of(job, (enum workload_list)l);
    memcpy(given, encoder->given, sizeof given);
    give(encoder, job);
    if (room(encoder) < ENTRY_MOST + RUNS_ROOM) {
        memcpy(encoder->given, given, sizeof given);
        PV_TRY(flush(encoder, err));
        give(encoder, job);
    }
    put_job(encoder, job);
    put_lists(encoder, rests);
    while (rests[WORKLOAD_TASKS].n > 0 || rests[WORKLOAD_REDUCES].n > 0) {
        PV_TRY(flush(encoder, err));
        encoder->continues = true;
        encoder->given[CHUNK_TASK_COUNTS] = true;
        encoder->given[CHUNK_REDUCE_COUNTS] = job->n_runs[WORKLOAD_REDUCES] > 0;
        put_lists(encoder, rests);
    }
    return PV_OK;
}

enum pv_code chunk_encoder_finish(struct chunk_encoder *encoder, struct pv_error *err)
{
    return encoder->n_arrivals > 0 || encoder->continues ? flush(encoder, err) : PV_OK;
}
