#include "codec/advice/advice_memory.h"

static void write_sizes(struct writer *w, const struct memory_sizes *sizes)
{
    writer_member_integer(w, "executor_memory_bytes", sizes->heap);
    writer_member_integer(w, "overhead_bytes", sizes->overhead);
    writer_member_integer(w, "off_heap_bytes", sizes->off_heap);
    writer_member_integer(w, "pyspark_memory_bytes", sizes->pyspark);
    writer_member_integer(w, "container_bytes", memory_sizes_total(sizes));
}

static void write_change(struct writer *w, const struct memory_advice *memory)
{
    if (memory->change_bytes == MEMORY_NO_CHANGE)
        writer_member_null(w, "change_bytes");
    else
        writer_member_integer(w, "change_bytes", memory->change_bytes);
    writer_member_number(w, "change_cost", memory->change_cost);
}

void codec_advice_memory_encode(struct writer *w, const struct advice_answer *answer)
{
    const struct memory_advice *memory = &answer->memory;
    const struct memory_plan *plan = &memory->plan;
    int64_t bytes = memory_sizes_total(&plan->sizes), cores = memory->cores_per_executor;
    if (!writer_member_object_or_null(w, "memory", plan->known))
        return;
    write_sizes(w, &plan->sizes);
    writer_member_string(w, "basis", memory_basis_name(plan->basis));
    if (cores >= 1)
        writer_member_integer(w, "container_bytes_per_core", bytes / cores);
    else
        writer_member_null(w, "container_bytes_per_core");
    writer_member_string(w, "machine_class", memory_machine_class(bytes, cores));
    writer_member_object(w, "ran_with");
    write_sizes(w, &plan->ran);
    writer_end_object(w);
    write_change(w, memory);
    writer_member_object(w, "properties");
    for (size_t i = 0; i < plan->n_properties; i++)
        writer_member_string(w, plan->properties[i].key, plan->properties[i].value);
    writer_end_object(w);
    writer_member_boolean(w, "applied",
                          plan->applied && (answer->has_spark || plan->n_properties == 0));
    writer_end_object(w);
}
