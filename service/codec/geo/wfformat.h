#ifndef CODEC_GEO_WFFORMAT_H
#define CODEC_GEO_WFFORMAT_H

#include "base/json_writer.h"
#include "codec/json/reader.h"
#include "core/geosim/recording.h"

/*
 * Recorded executions of workflows in WfFormat, the JSON format of WfCommons that Pegasus,
 * Nextflow, Makeflow and others can be converted to: schemas 1.5 and 1.6, which differ in summaries
 * only.
 */
struct codec_operations {
    struct strview *names; /* room for `most` */
    size_t n;
    size_t most;
};

/*
 * The node is a document. Its operations are added to the list, each once: the program a task ran,
 * or, where none is recorded, its name without a number at the end (mProject_ID0000001: mProject).
 * A task waits for its parents, for those that have it among their children, and for the tasks
 * whose files it reads. Members that the simulation does not need are passed over.
 *
 * Faults: another schema; more than `tasks_max` tasks; an id twice; unknown parents, children or
 * files; a file that two tasks write; a negative size or time; more operations than `most`; a task
 * that has no execution; tasks that wait for each other in a circle. The recording lives in the
 * reader's arena and is complete only when codec_result says PV_OK.
 */
void codec_wfformat_decode(const struct codec_node *node,
                           size_t tasks_max,
                           struct codec_operations *operations,
                           struct geosim_recording *recording);

/* A sound document without the members that are not read: who recorded it, machines, arguments. */
void codec_wfformat_copy(struct writer *w, const struct json_value *document);

#endif
