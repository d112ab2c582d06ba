// The peer of bench_sparklog.py: a minimal extractor of what our reader takes from an event log,
// with simdjson On-Demand. Every line is parsed; of the events that tell of work these members are
// read and summed up, so that the compiler cannot drop them:
//
//   TaskEnd            Stage ID, Reason, Task Info (Index, Launch Time, Speculative, Finish Time),
//                      JVMHeapMemory, Task Metrics: run, CPU and GC time, peak memory, spill; bytes
//                      and records of shuffle read and write, input, output
//   TaskStart          Stage ID, Task Info (Index, Launch Time, Speculative, Finish Time)
//   StageSubmitted,    Stage Info: id, attempt, name, number of tasks, parents, submission and
//   StageCompleted     completion time, resource profile
//   JobStart           Job ID, Submission Time, of every Stage Info the same
//
// Others give only their name. What it does not do, and ours does: check damaged lines, keep
// durations by stage, build a run.
//
//     simdjson_log whole FILE    the file loaded into memory, as simdjson's examples do
//     simdjson_log pieces FILE   read in pieces of 1 MiB into a buffer that is used again
#include <fcntl.h>
#include <simdjson.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <initializer_list>
#include <string_view>
#include <vector>

using namespace simdjson;

namespace
{

struct Sums {
    uint64_t bytes = 0;
    uint64_t lines = 0;
    int64_t tasks = 0;
    int64_t task_ms = 0;
    int64_t other = 0;
};

int64_t number(simdjson_result<ondemand::value> value)
{
    int64_t n = 0;
    return value.get(n) == SUCCESS ? n : 0;
}

int64_t length(simdjson_result<ondemand::value> value)
{
    std::string_view text;
    return value.get(text) == SUCCESS ? (int64_t)text.size() : 0;
}

bool truth(simdjson_result<ondemand::value> value)
{
    bool b = false;
    return value.get(b) == SUCCESS && b;
}

void take_task_info(ondemand::object &info, bool succeeded, Sums &sums)
{
    sums.other += number(info["Index"]);
    int64_t launch = number(info["Launch Time"]);
    sums.other += truth(info["Speculative"]);
    int64_t finish = number(info["Finish Time"]);
    sums.tasks += succeeded;
    sums.task_ms += succeeded ? finish - launch : 0;
}

void take_numbers(ondemand::object &from, std::initializer_list<std::string_view> names, Sums &sums)
{
    for (std::string_view name : names)
        sums.other += number(from[name]);
}

void take_metrics(ondemand::object &metrics, Sums &sums)
{
    take_numbers(metrics,
                 {"Executor Run Time", "Executor CPU Time", "Peak Execution Memory", "JVM GC Time",
                  "Memory Bytes Spilled", "Disk Bytes Spilled"},
                 sums);
    ondemand::object inner;
    if (metrics["Shuffle Read Metrics"].get(inner) == SUCCESS)
        take_numbers(inner, {"Remote Bytes Read", "Local Bytes Read", "Total Records Read"}, sums);
    if (metrics["Shuffle Write Metrics"].get(inner) == SUCCESS)
        take_numbers(inner, {"Shuffle Bytes Written", "Shuffle Records Written"}, sums);
    if (metrics["Input Metrics"].get(inner) == SUCCESS)
        take_numbers(inner, {"Bytes Read", "Records Read"}, sums);
    if (metrics["Output Metrics"].get(inner) == SUCCESS)
        take_numbers(inner, {"Bytes Written", "Records Written"}, sums);
}

void take_end(ondemand::object &line, Sums &sums)
{
    sums.other += number(line["Stage ID"]);
    ondemand::object inner;
    std::string_view reason;
    if (line["Task End Reason"].get(inner) == SUCCESS)
        (void)inner["Reason"].get(reason);
    if (line["Task Info"].get(inner) == SUCCESS)
        take_task_info(inner, reason == "Success", sums);
    if (line["Task Executor Metrics"].get(inner) == SUCCESS)
        sums.other += number(inner["JVMHeapMemory"]);
    if (line["Task Metrics"].get(inner) == SUCCESS)
        take_metrics(inner, sums);
}

void take_start(ondemand::object &line, Sums &sums)
{
    sums.other += number(line["Stage ID"]);
    ondemand::object info;
    if (line["Task Info"].get(info) == SUCCESS)
        take_task_info(info, false, sums);
}

void take_info(ondemand::object &info, Sums &sums)
{
    sums.other += number(info["Stage ID"]) + number(info["Stage Attempt ID"]);
    sums.other += length(info["Stage Name"]) + number(info["Number of Tasks"]);
    ondemand::array parents;
    if (info["Parent IDs"].get(parents) == SUCCESS)
        for (auto id : parents)
            sums.other += number(id);
    take_numbers(info, {"Submission Time", "Completion Time", "Resource Profile Id"}, sums);
}

void take_stage(ondemand::object &line, Sums &sums)
{
    ondemand::object info;
    if (line["Stage Info"].get(info) == SUCCESS)
        take_info(info, sums);
}

void take_job(ondemand::object &line, Sums &sums)
{
    sums.other += number(line["Job ID"]) + number(line["Submission Time"]);
    ondemand::array infos;
    if (line["Stage Infos"].get(infos) != SUCCESS)
        return;
    for (auto element : infos) {
        ondemand::object info;
        if (element.get(info) == SUCCESS)
            take_info(info, sums);
    }
}

void take_line(ondemand::parser &parser, const char *at, size_t n, size_t room, Sums &sums)
{
    ondemand::document document;
    ondemand::object line;
    std::string_view event;
    if (parser.iterate(at, n, room).get(document) != SUCCESS ||
        document.get_object().get(line) != SUCCESS || line["Event"].get(event) != SUCCESS)
        return;
    if (event == "SparkListenerTaskEnd")
        take_end(line, sums);
    else if (event == "SparkListenerTaskStart")
        take_start(line, sums);
    else if (event == "SparkListenerStageSubmitted" || event == "SparkListenerStageCompleted")
        take_stage(line, sums);
    else if (event == "SparkListenerJobStart")
        take_job(line, sums);
}

// Whole lines in [at, end); room bytes may be read behind end. Returns where the rest begins.
const char *take_lines(
    ondemand::parser &parser, const char *at, const char *end, size_t room, Sums &sums)
{
    while (at < end) {
        auto newline = (const char *)std::memchr(at, '\n', (size_t)(end - at));
        if (newline == nullptr)
            break;
        take_line(parser, at, (size_t)(newline - at), (size_t)(end - at) + room, sums);
        sums.lines++;
        at = newline + 1;
    }
    return at;
}

bool read_whole(const char *path, Sums &sums)
{
    padded_string text;
    if (padded_string::load(path).get(text) != SUCCESS)
        return false;
    ondemand::parser parser;
    sums.bytes = text.size();
    take_lines(parser, text.data(), text.data() + text.size(), SIMDJSON_PADDING, sums);
    return true;
}

bool read_pieces(const char *path, Sums &sums)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return false;
    ondemand::parser parser;
    std::vector<char> buffer((1 << 20) + SIMDJSON_PADDING);
    size_t held = 0;
    for (;;) {
        if (held + SIMDJSON_PADDING == buffer.size())
            buffer.resize(2 * buffer.size());
        ssize_t n = read(file, buffer.data() + held, buffer.size() - SIMDJSON_PADDING - held);
        if (n <= 0)
            break;
        sums.bytes += (uint64_t)n;
        const char *end = buffer.data() + held + n;
        const char *rest = take_lines(parser, buffer.data(), end, SIMDJSON_PADDING, sums);
        held = (size_t)(end - rest);
        std::memmove(buffer.data(), rest, held);
    }
    (void)close(file);
    return true;
}

} // namespace

int main(int argc, char **argv)
{
    Sums sums;
    bool whole = argc == 3 && std::strcmp(argv[1], "whole") == 0;
    if (argc != 3 || !(whole ? read_whole(argv[2], sums) : read_pieces(argv[2], sums)))
        return 1;
    struct rusage used;
    (void)getrusage(RUSAGE_SELF, &used);
    std::printf("{\"bytes\": %llu, \"lines\": %llu, \"tasks\": %lld, \"task_ms\": %lld, "
                "\"peak_kb\": %ld, \"other\": %lld}\n",
                (unsigned long long)sums.bytes, (unsigned long long)sums.lines,
                (long long)sums.tasks, (long long)sums.task_ms, used.ru_maxrss,
                (long long)sums.other);
    return 0;
}
