/* The pictures of `kvstep cache`, made from CacheResult and nothing else. Each figure
 * is a VizDraw of a CacheFigures. Not in the MINIMAL build. */
#ifndef KVSTEP_CHAPTERS_CACHE_FIGURES_H
#define KVSTEP_CHAPTERS_CACHE_FIGURES_H

#include "chapters/03_cache/run.h"
#include "chapters/common/attended.h"
#include "chapters/common/figures_heads.h"
#include "chapters/common/labels.h"
#include "viz/figure.h"

/* The arrays behind the pictures. */
typedef struct {
    const CacheResult *result;
    Rule rule;
    bool dense;
    size_t capacity;           /* tokens the cache has room for */
    double *total;             /* [steps] of cached, all parts together */
    double *flops[2];          /* [steps][PARTS] recompute, cached */
    double *context, *ratio;   /* [steps] N; recompute / cached */
    const char **context_name; /* [steps] N as words */
    char (*context_text)[24];  /* [steps] */
    size_t n;                  /* N of the last step; tokens that got a row */
    size_t block;              /* tokens behind a cell of the triangles */
    size_t side;               /* cells a side */
    double *times[2];          /* [side][side] how often a pair was computed */
    unsigned char *unseen[2];  /* [side][side] 1: never computed */
    uint64_t pairs[2];         /* computed in all, of one head and layer */
    Attended attended;
    Labels labels; /* of the tokens in `attended` */
    HeadMaps heads;
    Memory *memory;
} CacheFigures;

/* The result must outlive it. Runs the text's tokens once more for the attention
 * weights of options->layer. */
bool cache_figures_open(CacheFigures *figures, const CacheResult *result,
                        const Options *options, Memory *memory, Error *err);
void cache_figures_close(CacheFigures *figures);

void cache_figure_growth(VizCanvas *canvas, const void *figures);
void cache_figure_cost(VizCanvas *canvas, const void *figures);
void cache_figure_recomputed(VizCanvas *canvas, const void *figures);
/* The upper half of cache_figure_cost, for a small picture. */
void cache_figure_main_job(VizCanvas *canvas, const void *figures);
/* and figure_heads of &figures->heads */

/* Writes all pictures, and index.html under --page, into options->out, which exists,
 * and prints their names. */
bool cache_draw(const CacheResult *result, const Options *options, Error *err);

#endif
