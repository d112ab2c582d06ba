#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "cli/input/document.h"

TestSuite(cli_document, .timeout = 10);

static void expect(const char *text, const char *file, const char *json)
{
    struct failure failure = {.status = EXIT_DONE};
    json_t *value = document_read(text, strlen(text), file, &failure);
    cr_assert_not_null(value, "%s: %s", text, failure.what);
    char *written = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
    cr_assert_str_eq(written, json);
    free(written);
    json_decref(value);
}

static void refuse(const char *text, const char *file, const char *said)
{
    struct failure failure = {.status = EXIT_DONE};
    cr_assert_null(document_read(text, strlen(text), file, &failure), "%s", text);
    cr_assert_eq(failure.status, EXIT_USAGE);
    cr_assert_not_null(strstr(failure.what, said), "%s", failure.what);
}

Test(cli_document, json_and_yaml_say_the_same)
{
    expect(" {\"a\": [1, 2.5, null, true]}", "x.json", "{\"a\":[1,2.5,null,true]}");
    expect("a: [1, 2.5, ~, true]\n", "x.yaml", "{\"a\":[1,2.5,null,true]}");
    expect("a:\n- 1\n- 2.5\n-\n- True\n", "-", "{\"a\":[1,2.5,null,true]}");
    expect("{a: 1}", "-", "{\"a\":1}");
    expect("{a: 1}", "x.yml", "{\"a\":1}");
    expect("--- # remark\na: {b: {}, c: []}\n...\n", "x", "{\"a\":{\"b\":{},\"c\":[]}}");
}

Test(cli_document, plain_words_are_numbers_truths_or_text)
{
    expect("[-5, +5, 1e3, 0x10, 1_000, 1.2.3, 2026-01-05, .5, 5., -]", "x.yaml",
           "[-5,5,1000.0,\"0x10\",\"1_000\",\"1.2.3\",\"2026-01-05\",0.5,5.0,\"-\"]");
    expect("[yes, no, on, off, .inf, .nan, inf, nan]", "x.yaml",
           "[\"yes\",\"no\",\"on\",\"off\",\".inf\",\".nan\",\"inf\",\"nan\"]");
    expect("['5', \"true\", !!str 7, null, Null, '']", "x.yaml",
           "[\"5\",\"true\",\"7\",null,null,\"\"]");
    expect("[99999999999999999999, 1e999]", "x.yaml", "[\"99999999999999999999\",\"1e999\"]");
}

Test(cli_document, faults_name_file_and_line)
{
    refuse("{\n\"a\": }\n", "x.json", "x.json, line 2: no valid JSON");
    refuse("{\"a\": 1,\n \"a\": 2}", "x.json", "line 2");
    refuse("a: 1\nb: [1\n", "x.yaml", "x.yaml, line 3: no valid YAML");
    refuse("a: 1\nb: 2\na: 3\n", "x.yaml", "x.yaml, line 3: the key a is there twice");
    refuse("a: &n 1\nb: *n\n", "x.yaml", "line 2: aliases");
    refuse("a: 1\n---\nb: 2\n", "x.yaml", "line 2: a second document");
    refuse("? [1, 2]\n: 3\n", "x.yaml", "line 1: a key has to be text");
    refuse("{\"a\": [1, 2}\n", "-", "no valid JSON");
}

Test(cli_document, nothing_is_no_document)
{
    refuse("", "x", "x is empty");
    refuse(" \n\t\n", "x", "x is empty");
    refuse("# remark\n", "x.yaml", "x.yaml is empty");
}

Test(cli_document, nesting_has_an_end)
{
    char text[256] = "";
    memset(text, '[', 70);
    refuse(text, "x.yaml", "nested too deeply");
    memset(text + 60, ']', 60);
    text[120] = '\0';
    struct failure failure = {.status = EXIT_DONE};
    json_t *value = document_read(text, strlen(text), "x.yaml", &failure);
    cr_assert_not_null(value, "%s", failure.what);
    json_decref(value);
}
