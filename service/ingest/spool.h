#ifndef INGEST_SPOOL_H
#define INGEST_SPOOL_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/error.h"
#include "config/config.h"

/*
 * Archives wait on the disk until they are whole: the parts of a log need not lie in their order,
 * and the list of a zip stands at its end. A spool is a file without a name, so the disk is free
 * again as soon as the process lets go of it, in whatever way it ends.
 *
 * The quota is shared by all spools of the process; its functions are safe from any thread.
 */
struct spool_quota {
    char directory[1024];
    uint64_t bytes_max;       /* of one spool */
    uint64_t total_bytes_max; /* of all at once */
    atomic_uint_least64_t used;
};

void spool_quota_init(struct spool_quota *quota, const struct config *config);

struct spool;

/* PV_E_UNAVAILABLE: no file can be made in the directory; PV_E_MEMORY. */
enum pv_code
spool_open(struct spool_quota *quota, struct spool **spool, struct pv_error *err) PV_MUSTCHECK;

/* Gives the disk and the quota back. Accepts NULL. */
void spool_close(struct spool *spool);

/*
 * Append n bytes.
 * PV_E_TOO_LARGE: over bytes_max; PV_E_UNAVAILABLE: over total_bytes_max, or the disk is full.
 */
enum pv_code
spool_write(struct spool *spool, const char *bytes, size_t n, struct pv_error *err) PV_MUSTCHECK;

/* The file, for reading; the spool's own. */
int spool_file(const struct spool *spool);
uint64_t spool_bytes(const struct spool *spool);

#endif
