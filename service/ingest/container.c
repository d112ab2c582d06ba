#include "ingest/container.h"

void container_close(struct container *container)
{
    if (container != NULL)
        container->kind->destroy(container);
}

enum pv_code container_list(struct container *container, struct parts *parts, struct pv_error *err)
{
    return container->kind->list(container, parts, err);
}

enum pv_code
container_open_part(struct container *container, const struct part *part, struct pv_error *err)
{
    return container->kind->open(container, part, err);
}

enum pv_code container_read(
    struct container *container, char *bytes, size_t room, size_t *n, struct pv_error *err)
{
    return container->kind->read(container, bytes, room, n, err);
}
