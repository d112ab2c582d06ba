#include "codec/geo/wfformat.h"

/* A member that is kept, and what is kept of the object, or of each item, that it holds. */
struct kept {
    const char *key;           /* NULL: the end */
    const struct kept *inside; /* NULL: a scalar, or a list of them */
};

static const struct kept in_task[] = {
    {"name", NULL},       {"id", NULL},          {"parents", NULL}, {"children", NULL},
    {"inputFiles", NULL}, {"outputFiles", NULL}, {NULL, NULL}};
static const struct kept in_file[] = {{"id", NULL}, {"sizeInBytes", NULL}, {NULL, NULL}};
static const struct kept in_specification[] = {
    {"tasks", in_task}, {"files", in_file}, {NULL, NULL}};
static const struct kept in_command[] = {{"program", NULL}, {NULL, NULL}};
static const struct kept in_run[] = {
    {"id", NULL}, {"runtimeInSeconds", NULL}, {"command", in_command}, {NULL, NULL}};
static const struct kept in_execution[] = {{"tasks", in_run}, {NULL, NULL}};
static const struct kept in_workflow[] = {
    {"specification", in_specification}, {"execution", in_execution}, {NULL, NULL}};
static const struct kept in_document[] = {
    {"name", NULL}, {"schemaVersion", NULL}, {"workflow", in_workflow}, {NULL, NULL}};

static void copy_scalar(struct writer *w, const json_t *json)
{
    if (json_is_string(json))
        writer_text(w, (struct strview){json_string_value(json), json_string_length(json)});
    else if (json_is_integer(json))
        writer_integer(w, json_integer_value(json));
    else if (json_is_real(json))
        writer_number(w, json_real_value(json));
    else
        writer_null(w);
}

static void copy(struct writer *w, const json_t *json, const struct kept *inside)
{
    if (json_is_array(json)) {
        writer_begin_array(w);
        for (size_t i = 0; i < json_array_size(json); i++)
            if (inside == NULL)
                copy_scalar(w, json_array_get(json, i));
            else
                copy(w, json_array_get(json, i), inside);
        writer_end_array(w);
    } else if (inside != NULL && json_is_object(json)) {
        writer_begin_object(w);
        for (const struct kept *k = inside; k->key != NULL; k++)
            if (json_object_get(json, k->key) != NULL) {
                writer_key(w, k->key);
                copy(w, json_object_get(json, k->key), k->inside);
            }
        writer_end_object(w);
    } else {
        copy_scalar(w, json);
    }
}

void codec_wfformat_copy(struct writer *w, const json_t *document)
{
    copy(w, document, in_document);
}
