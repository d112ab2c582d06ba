#ifndef CLI_SOURCES_SOURCE_H
#define CLI_SOURCES_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/failure.h"

/*
 * Where event logs lie: an object store, a Spark History Server, HDFS, a folder. A source lists what
 * there is and reads it, in order and once; whatever is made of the names (which files are one rolling
 * log, what is a log at all) is the business of whoever lists.
 *
 * Sources are opened by source_s3_open (s3.h), source_history_open (history_server.h) and
 * source_webhdfs_open (webhdfs.h); another kind is a struct source_kind (source_internal.h).
 *
 * Threads: a source may be used by several at a time, to list and to open streams; it is closed after
 * all of its streams. A stream is used by one thread at a time.
 */
struct source_object {
    const char *name;     /* as printed: s3://bucket/key; one object of a source has one name */
    const char *folder;   /* the folder it lies in, as printed, without the last '/' */
    const char *file;     /* its name in there */
    const char *identity; /* another when the content is: ETag, time and length; "": unknown */
    int64_t bytes;        /* -1: unknown */
    int64_t modified_us;  /* since 1970-01-01 UTC; INSTANT_UNKNOWN */
    bool unfinished;      /* the source knows, or the name says, that it is being written */
};

/* The name says that Spark is still writing it. */
bool source_name_unfinished(const char *file);

struct source;
struct source_stream;

/*
 * Called with each object; its strings and the object live during the call only. false ends the
 * listing early, which is no failure of it: the context remembers why. It may open and read objects.
 */
typedef bool source_found(void *context, const struct source_object *object);

/*
 * List everything under what the source was opened with, page by page: memory does not grow with
 * the number of objects. false: the listing failed, after any number of objects; what went wrong
 * names the place and what to do.
 */
bool source_list(struct source *source,
                 source_found *found,
                 void *context,
                 struct failure *failure);

/*
 * Begin to read an object that was listed. Of the object, name, identity, bytes and unfinished are
 * needed, and none of it after the call: it may be a copy. *stream is written on success only.
 *
 * Where the source can tell (its identity is an ETag, say), it reads the content that was listed and
 * no other: an object that is another by now, or becomes another while it is read, fails with
 * EXIT_FAILED and a message that says so.
 */
bool source_read_open(struct source *source,
                      const struct source_object *object,
                      struct source_stream **stream,
                      struct failure *failure);

/*
 * Up to n bytes (n > 0) into `bytes`; *got is 0 at the end of the object and only there. Waits for
 * the first of them. A connection that is cut is taken up again behind the last byte where the source
 * can do that. After a failure the stream can only be closed; the object may be opened anew.
 * May be called in a callback of another transfer of libcurl.
 */
bool source_read(
    struct source_stream *stream, void *bytes, size_t n, size_t *got, struct failure *failure);

/* At any time; NULL is allowed in both. */
void source_read_close(struct source_stream *stream);
void source_close(struct source *source);

#endif
