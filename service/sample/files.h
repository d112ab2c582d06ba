#ifndef SAMPLE_FILES_H
#define SAMPLE_FILES_H

#include "sample/simulate.h"

struct sample_counts {
    unsigned applications;
    unsigned logs;
    uint64_t bytes;
};

/*
 * Write the whole catalogue below `directory` (made when missing, with its parents existing): one
 * folder an application, named after it, one event log a run, named after its application id. The
 * same seed writes the same bytes.
 * PV_E_UNAVAILABLE: something cannot be written (err->detail says what); PV_E_MEMORY.
 */
enum pv_code sample_write_files(const char *directory,
                                uint64_t seed,
                                struct sample_counts *counts,
                                struct pv_error *err) PV_MUSTCHECK;

#endif
