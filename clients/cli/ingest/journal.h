#ifndef CLI_INGEST_JOURNAL_H
#define CLI_INGEST_JOURNAL_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/failure.h"

/*
 * What was sent already: a file of lines, one for each log whose outcome will stay the same, written
 * through to the disk before the log is reported. A line that a crash cut off is dropped when the file
 * is opened. One process at a time has it. Of a log that came again with another content the last line
 * counts; the file is written anew when it has more than twice the lines that count. In memory a log
 * takes a few dozen bytes, whatever its name.
 *
 * Safe from any thread.
 */
struct journal;

/*
 * about: whose journal it is (the URL of the service); the file of another is refused, and so is a
 * file that is no journal. It is made, with its folder, where it does not exist.
 */
bool journal_open(const char *file,
                  const char *about,
                  struct journal **journal,
                  struct failure *failure);
void journal_close(struct journal *journal); /* NULL is allowed */

/* Was the log sent with this content? Never, where its identity is unknown (""). */
bool journal_has(struct journal *journal, const char *name, const char *identity);

/* Sent, with this outcome and run. false: the line could not be written; in memory it counts all the
 * same. */
bool journal_add(struct journal *journal,
                 const char *name,
                 const char *identity,
                 const char *outcome,
                 const char *run_id,
                 struct failure *failure);

/* As journal_add, for as long as the process lives. false: no memory. */
bool journal_remember(struct journal *journal, const char *name, const char *identity);

/* Lines of the file, its heading not counted. */
size_t journal_lines(struct journal *journal);

#endif
