#ifndef INGEST_CONTAINER_H
#define INGEST_CONTAINER_H

#include "ingest/members.h"
#include "ingest/reader_settings.h"

/*
 * Something that holds files: a tar (libarchive), a zip (libzip), a folder on disk. Only regular
 * files count; nothing is ever written under a name out of a container. A kind is a row of
 * functions; the functions below dispatch to it. One container belongs to one thread at a time.
 */
struct container;

struct container_kind {
    enum pv_code (*list)(struct container *container,
                         struct members *members,
                         struct pv_error *err);
    enum pv_code (*open)(struct container *container,
                         const struct member *member,
                         struct pv_error *err);
    enum pv_code (*read)(
        struct container *container, char *bytes, size_t room, size_t *n, struct pv_error *err);
    void (*destroy)(struct container *container);
};

/* What every kind begins with. */
struct container {
    const struct container_kind *kind;
};

/*
 * fd is the file of the archive and stays the caller's; `bytes` its length. Errors: PV_E_SYNTAX
 * damaged, PV_E_LIMIT a list of files that is too long, PV_E_MEMORY.
 */
enum pv_code container_open_tar(int fd,
                                uint64_t bytes,
                                struct container **container,
                                struct pv_error *err) PV_MUSTCHECK;
enum pv_code container_open_zip(int fd,
                                uint64_t bytes,
                                const struct ingest_limits *limits,
                                struct container **container,
                                struct pv_error *err) PV_MUSTCHECK;
/* fd is the folder, and the container's from now on, also on failure. */
enum pv_code
container_open_folder(int fd, struct container **container, struct pv_error *err) PV_MUSTCHECK;

/* Accepts NULL. */
static inline void container_close(struct container *container)
{
    if (container != NULL)
        container->kind->destroy(container);
}

/* Add every file. As members_add; PV_E_SYNTAX when the container is damaged. */
static inline enum pv_code
container_list(struct container *container, struct members *members, struct pv_error *err)
{
    return container->kind->list(container, members, err);
}

/* Begin to read a file that was listed; ends the one before. PV_E_SYNTAX, PV_E_MEDIA_TYPE (packed
 * or encrypted in a way that is not supported), PV_E_MEMORY. */
static inline enum pv_code container_open_member(struct container *container,
                                                 const struct member *member,
                                                 struct pv_error *err)
{
    return container->kind->open(container, member, err);
}

/* The next bytes of the file; *n == 0 at its end. PV_E_SYNTAX, PV_E_MEMORY. */
static inline enum pv_code container_read(
    struct container *container, char *bytes, size_t room, size_t *n, struct pv_error *err)
{
    return container->kind->read(container, bytes, room, n, err);
}

#endif
