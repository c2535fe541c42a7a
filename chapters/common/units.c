#include "chapters/common/units.h"
#include "chapters/common/quantity.h"

const Units units[UNITS] = {
    {1, 1, "FLOPs", "bytes"},
    {1000, 1024, "kFLOPs", "KiB"},
    {1000000, 1024, "MFLOPs", "KiB"},
    {1000000000, 1048576, "GFLOPs", "MiB"},
};

void units_add(Table *table, uint64_t count, uint64_t unit) {
    char text[QUANTITY_TEXT];
    table_add(table,
              quantity_count(count / unit + (count % unit >= unit - unit / 2), text));
}

unsigned units_percent(uint64_t part, uint64_t whole) {
    if (whole == 0 || part == 0) return 0;
    if (part >= whole) return 100;
    double percent = (double)part / (double)whole * 100 + 0.5;
    return percent < 1 ? 1 : percent >= 100 ? 99 : (unsigned)percent;
}

void units_add_share(Table *table, uint64_t part, uint64_t whole) {
    char text[16];
    snprintf(text, sizeof text, "%u%%", units_percent(part, whole));
    table_add(table, whole ? text : "-");
}
