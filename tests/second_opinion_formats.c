/* What stored bytes mean, decoded here once more, and whether they can be what became of
 * a row. Written from the description of the formats; of core it uses their names. */
#include "tests/second_opinion.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A row at work. */
typedef struct {
    const unsigned char *stored;
    const double *own; /* [count] before it was stored */
    size_t count;
    double *read;    /* [count] what the bytes say */
    double *allowed; /* [count] how far rounding may take a value */
    double odd;      /* the most by which a scale is not what it should be, in values */
} Row;

static unsigned two_bytes(const unsigned char *from) {
    return from[0] + 256u * from[1];
}

/* sign, exponent, `mantissa` bits; the exponent that means 1 is `bias`. */
static double small_float(unsigned code, unsigned mantissa, unsigned exponent,
                          int bias) {
    const double part = code % (1u << mantissa) / (double)(1u << mantissa);
    const int e = (int)(code >> mantissa) % (1 << exponent);
    const double size = e == 0 ? ldexp(part, 1 - bias) : ldexp(1 + part, e - bias);
    return code >> (mantissa + exponent) ? -size : size;
}

static double largest(const double *x, size_t count) {
    double most = 0;
    for (size_t i = 0; i < count; i++) most = fmax(most, fabs(x[i]));
    return most;
}

static void note_odd(Row *row, double values) {
    if (!(values <= row->odd)) row->odd = values; /* NaN is kept, too */
}

static void read_f32(Row *row) {
    for (size_t i = 0; i < row->count; i++) {
        float value;
        memcpy(&value, row->stored + 4 * i, 4);
        row->read[i] = (double)value;
    }
}

/* Half a unit of the last place, relative; or of the smallest number. */
static void read_16_bits(Row *row, unsigned mantissa, unsigned exponent, int bias) {
    const double least = ldexp(0.5, 1 - bias - (int)mantissa);
    for (size_t i = 0; i < row->count; i++) {
        row->read[i] =
            small_float(two_bytes(row->stored + 2 * i), mantissa, exponent, bias);
        row->allowed[i] = fmax(ldexp(fabs(row->own[i]), -(int)mantissa - 1), least);
    }
}

static void read_fp8(Row *row, size_t heads) {
    const size_t size = row->count / heads;
    for (size_t h = 0; h < heads; h++) {
        const unsigned char *head = row->stored + h * (4 + size);
        const double amax = largest(row->own + h * size, size);
        float scale;
        memcpy(&scale, head, 4);
        note_odd(row, fabs((double)scale * 448 - amax));
        for (size_t i = h * size; i < (h + 1) * size; i++) {
            row->read[i] = (double)scale * small_float(head[4 + i - h * size], 3, 4, 7);
            row->allowed[i] = fmax(fabs(row->own[i]) / 16, ldexp(amax / 448, -10));
        }
    }
}

/* How far f16 may take a scale. */
static double scale_room(double d) {
    return fmax(ldexp(d, -11), ldexp(1, -25));
}

static void read_q8_0(Row *row) {
    for (size_t b = 0; b < row->count / 32; b++) {
        const unsigned char *block = row->stored + 34 * b;
        const double *own = row->own + 32 * b;
        const double d = largest(own, 32) / 127;
        const double stored = small_float(two_bytes(block), 10, 5, 15);
        note_odd(row, 127 * (fabs(d - stored) - scale_room(d)));
        for (size_t i = 0; i < 32; i++) {
            const int code = block[2 + i] < 128 ? block[2 + i] : block[2 + i] - 256;
            row->read[32 * b + i] = stored * code;
            row->allowed[32 * b + i] = d / 2 + 127 * fabs(d - stored);
        }
    }
}

/* The scale's sign says on which side the extreme was: there the largest must stand. */
static void read_q4_0(Row *row) {
    for (size_t b = 0; b < row->count / 32; b++) {
        const unsigned char *block = row->stored + 18 * b;
        const double *own = row->own + 32 * b, d = largest(own, 32) / 8;
        const double stored = small_float(two_bytes(block), 10, 5, 15);
        const double off = fabs(d - fabs(stored));
        double extreme = 0;
        note_odd(row, 8 * (off - scale_room(d)));
        for (size_t i = 0; i < 32; i++) {
            const unsigned code = i < 16 ? block[2 + i] % 16 : block[2 + i - 16] / 16;
            const bool same_side = stored < 0 ? own[i] > 0 : own[i] < 0;
            row->read[32 * b + i] = stored * ((int)code - 8);
            row->allowed[32 * b + i] = same_side ? d / 2 + 8 * off : d + 7 * off;
            if (same_side) extreme = fmax(extreme, fabs(own[i]));
        }
        note_odd(row, 8 * d - extreme);
    }
}

double second_opinion_row(const Format *format, const void *stored, size_t heads,
                          size_t size, double *own) {
    const size_t count = heads * size;
    double read[count], allowed[count];
    Row row = {stored, own, count, read, allowed, 0};
    for (size_t i = 0; i < count; i++) allowed[i] = 0;
    if (strcmp(format->name, "f32") == 0)
        read_f32(&row);
    else if (strcmp(format->name, "f16") == 0)
        read_16_bits(&row, 10, 5, 15);
    else if (strcmp(format->name, "bf16") == 0)
        read_16_bits(&row, 7, 8, 127);
    else if (strcmp(format->name, "fp8") == 0)
        read_fp8(&row, heads);
    else if (strcmp(format->name, "q8_0") == 0)
        read_q8_0(&row);
    else if (strcmp(format->name, "q4_0") == 0)
        read_q4_0(&row);
    else
        abort(); /* a format that nobody decodes here is no format yet */
    double far = row.odd;
    for (size_t i = 0; i < count && far - far == 0; i++) {
        const double excess = fabs(read[i] - own[i]) - allowed[i];
        if (!(excess <= far)) far = excess;
    }
    far /= fmax(largest(own, count), 1e-6);
    if (!(far <= SECOND_OPINION_BOUND)) return far == far ? far : INFINITY;
    for (size_t i = 0; i < count; i++)
        own[i] = format == &format_f32 ? (double)(float)own[i] : read[i];
    return far;
}
