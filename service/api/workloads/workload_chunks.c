#include "api/workloads/workload_chunks.h"

#include <stdlib.h>
#include <unistd.h>

#include "core/workload/workload_chunk.h"
#include "store/workloads/workload.h"

enum pv_code workload_chunks_open(struct workload_chunks *chunks,
                                  struct api *api,
                                  const char *team_id,
                                  struct pv_error *err)
{
    if (!resources_open(api->resources, RESOURCE_SPOOL, team_id, &chunks->disk))
        return pv_no_memory(err);
    spool_place_init(&chunks->place, api->config, chunks->disk.share);
    return spool_open(&chunks->place, &chunks->spool, err);
}

void workload_chunks_close(struct workload_chunks *chunks, struct api *api)
{
    spool_close(chunks->spool);
    resources_close(api->resources, &chunks->disk);
    free(chunks->lengths.items);
}

static enum pv_code take_chunk(void *context, struct strview bytes, struct pv_error *err)
{
    struct workload_chunks *chunks = context;
    size_t *length = vector_add(NULL, &chunks->lengths);
    if (length == NULL)
        return pv_no_memory(err);
    *length = bytes.n;
    return spool_write(chunks->spool, bytes.at, bytes.n, err);
}

struct workload_sink workload_chunks_sink(struct workload_chunks *chunks)
{
    return (struct workload_sink){.chunk = take_chunk, .context = chunks};
}

/* The next n bytes of the file. */
static enum pv_code
read_back(const struct spool *spool, uint64_t at, char *bytes, size_t n, struct pv_error *err)
{
    while (n > 0) {
        ssize_t got = pread(spool_file(spool), bytes, n, (off_t)at);
        if (got <= 0)
            return pv_fail(err, PV_E_INTERNAL, "a spool cannot be read back");
        bytes += got;
        at += (uint64_t)got;
        n -= (size_t)got;
    }
    return PV_OK;
}

static enum pv_code store_all(const struct workload_chunks *chunks,
                              struct store_tx *tx,
                              const char id[37],
                              char *buffer,
                              struct pv_error *err)
{
    uint64_t at = 0;
    for (size_t i = 0; i < chunks->lengths.n; i++) {
        struct strview content = {buffer, chunks->lengths.items[i]};
        PV_TRY(read_back(chunks->spool, at, buffer, content.n, err));
        PV_TRY(store_workload_append(tx, id, (int64_t)i, content, err));
        at += content.n;
    }
    return PV_OK;
}

enum pv_code workload_chunks_store(const struct workload_chunks *chunks,
                                   struct store_tx *tx,
                                   const char id[37],
                                   struct pv_error *err)
{
    char *buffer = malloc(WORKLOAD_CHUNK_MAX);
    if (buffer == NULL)
        return pv_no_memory(err);
    enum pv_code code = store_all(chunks, tx, id, buffer, err);
    free(buffer);
    return code;
}
