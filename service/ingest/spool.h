#ifndef INGEST_SPOOL_H
#define INGEST_SPOOL_H

#include <stdint.h>

#include "base/error.h"
#include "base/ledger.h"
#include "config/config.h"

/*
 * Archives wait on the disk until they are whole: the parts of a log need not lie in their order,
 * and the list of a zip stands at its end. A spool is a file without a name, so the disk is free
 * again as soon as the process lets go of it, in whatever way it ends.
 */
struct spool_place {
    const char *directory;      /* borrowed */
    uint64_t bytes_max;         /* of one spool */
    struct ledger_share *share; /* its owner's, of the disk that all spools take; NULL: no bound */
};

/* As the settings state; share may be NULL. Borrows both. */
void spool_place_init(struct spool_place *place,
                      const struct config *config,
                      struct ledger_share *share);

struct spool;

/* PV_E_UNAVAILABLE: no file can be made in the directory; PV_E_MEMORY. The place is the caller's to
 * keep until spool_close. */
enum pv_code spool_open(const struct spool_place *place,
                        struct spool **spool,
                        struct pv_error *err) PV_MUSTCHECK;

/* Gives the disk and the share back. Accepts NULL. */
void spool_close(struct spool *spool);

/*
 * Append n bytes.
 * PV_E_TOO_LARGE: over bytes_max; PV_E_QUOTA: over the share, and others hold some, too;
 * PV_E_UNAVAILABLE: no more for anybody, or the disk is full.
 */
enum pv_code
spool_write(struct spool *spool, const char *bytes, size_t n, struct pv_error *err) PV_MUSTCHECK;

/* The file, for reading; the spool's own. */
int spool_file(const struct spool *spool);
uint64_t spool_bytes(const struct spool *spool);

#endif
