/* Fuzz target: any bytes as a llama2.c checkpoint. They are refused with a reason, or
 * give tensors that lie inside the file; either way nothing is left allocated. */
#include "core/format/llama2c.h"
#include "tests/fuzz/fuzz.h"

static void demand_inside(const Tensors *tensors, const Tensor *tensor) {
    const unsigned char *begin = tensor->matrix.data;
    const unsigned char *end = begin + matrix_bytes(&tensor->matrix);
    fuzz_demand(begin >= tensors->file.data);
    fuzz_demand(end <= tensors->file.data + tensors->file.size);
    fuzz_demand(tensors_find(tensors, tensor->name) == tensor);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    Memory memory = {0};
    Tensors tensors;
    Error err = {0};
    Bytes file = fuzz_file(data, size, &memory);
    if (llama2c_parse("fuzzed", file, &tensors, &memory, &err)) {
        for (size_t i = 0; i < tensors.tensors; i++)
            demand_inside(&tensors, &tensors.tensor[i]);
        tensors_close(&tensors);
    } else {
        fuzz_demand(strncmp(err.text, "fuzzed: ", 8) == 0 && err.text[8] != '\0');
    }
    fuzz_demand(memory.live == 0);
    /* A header promises much; only what the file's length bears out is allocated. */
    fuzz_demand(memory.peak <= 16 * size + 1024);
    return 0;
}
