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

static void copy_scalar(struct writer *w, const struct json_value *json)
{
    if (json_value_is_text(json))
        writer_text(w, json_value_view(json));
    else if (json_value_is_integer(json))
        writer_integer(w, json->integer);
    else if (json_value_is_number(json))
        writer_number(w, json->real);
    else
        writer_null(w);
}

static void copy(struct writer *w, const struct json_value *json, const struct kept *inside)
{
    if (json_value_is_array(json)) {
        writer_begin_array(w);
        for (size_t i = 0; i < json_value_items(json); i++)
            if (inside == NULL)
                copy_scalar(w, json_value_item(json, i));
            else
                copy(w, json_value_item(json, i), inside);
        writer_end_array(w);
    } else if (inside != NULL && json_value_is_object(json)) {
        writer_begin_object(w);
        for (const struct kept *k = inside; k->key != NULL; k++)
            if (json_value_member(json, k->key) != NULL) {
                writer_key(w, k->key);
                copy(w, json_value_member(json, k->key), k->inside);
            }
        writer_end_object(w);
    } else {
        copy_scalar(w, json);
    }
}

void codec_wfformat_copy(struct writer *w, const struct json_value *document)
{
    copy(w, document, in_document);
}
