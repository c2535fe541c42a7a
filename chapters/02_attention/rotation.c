/* Where am I: what RoPE does to a pair, and that scores know distances only. */
#include "chapters/02_attention/matrix.h"
#include "chapters/02_attention/print.h"

enum { SHOWN_POSITIONS = 4 };

static void print_turn(const AttentionResult *r, size_t position, FILE *stream) {
    const float *fast = r->turn + 2 * position, *slow = r->slow_turn + 2 * position;
    fprintf(stream, "%8zu   %6.1f %6.3f %6.3f   %10.4f %6.3f %6.3f\n", position,
            r->angle * (double)position, (double)fast[0], (double)fast[1],
            r->slow_angle * (double)position, (double)slow[0], (double)slow[1]);
}

static void print_turns(const AttentionResult *r, FILE *stream) {
    const size_t n = r->n, first = n < SHOWN_POSITIONS ? n : SHOWN_POSITIONS;
    fprintf(stream,
            "\nwhere am I: RoPE turns each pair of numbers of q and k by an angle that "
            "grows\nwith the position; pair 0 turns fastest, pair %zu slowest "
            "(radians)\n",
            r->rot / 2 - 1);
    fprintf(stream, "%8s   %20s   %24s\n", "", "pair 0", "slowest pair");
    fprintf(stream, "%8s   %6s %6s %6s   %10s %6s %6s\n", "position", "angle", "cos",
            "sin", "angle", "cos", "sin");
    for (size_t p = 0; p < first; p++) print_turn(r, p, stream);
    if (first + 1 < n) fputs("      ..\n", stream);
    if (first < n) print_turn(r, n - 1, stream);
}

static void print_shift(const AttentionResult *r, FILE *stream) {
    fprintf(stream,
            "all positions later by %zu: the scores, from %.2f to %.2f, change by %.1e "
            "at\nmost; the logits, %.2f from lowest to highest, by %.1e: rounding\n",
            r->shift, (double)r->score_low, (double)r->score_high,
            (double)r->score_change, (double)r->logit_range, (double)r->logit_change);
    if (r->n > 1)
        fprintf(
            stream,
            "the newest token alone later by %zu: its scores change by up to %.3f\n",
            r->shift, (double)r->moved_change);
    /* Said only where the numbers above say it. */
    if (r->moved_change > 1000 * r->score_change)
        fputs("So a score depends on the distance of its two tokens, not on where they "
              "are.\n",
              stream);
}

void attention_print_rotation(const AttentionResult *r, FILE *stream) {
    if (r->rot == 0) {
        fputs("\nthis model turns nothing by its position (rot = 0)\n", stream);
        return;
    }
    print_turns(r, stream);
    if (r->shift > 0)
        print_shift(r, stream);
    else
        fputs("(--shift 100 moves all positions and compares the scores)\n", stream);
}
