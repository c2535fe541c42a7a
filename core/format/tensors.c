#include "core/format/tensors.h"

#include <string.h>

const Tensor *tensors_find(const Tensors *tensors, const char *name) {
    for (size_t i = 0; i < tensors->tensors; i++)
        if (strcmp(tensors->tensor[i].name, name) == 0) return &tensors->tensor[i];
    return NULL;
}

const double *tensors_number(const Tensors *tensors, const char *name) {
    for (size_t i = 0; i < tensors->numbers; i++)
        if (strcmp(tensors->number[i].name, name) == 0)
            return &tensors->number[i].value;
    return NULL;
}

void tensors_close(Tensors *tensors) {
    memory_free(tensors->memory, tensors->tensor);
    memory_free(tensors->memory, tensors->number);
    memory_free(tensors->memory, tensors->file.data);
    *tensors = (Tensors){0};
}
