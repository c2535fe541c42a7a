/* A block map: storage as rows of small squares, each colored by its state or owner,
 * the new ones in a second color. */
#ifndef KVSTEP_VIZ_BLOCKS_H
#define KVSTEP_VIZ_BLOCKS_H

#include "viz/page.h"
#include <stdbool.h>

typedef struct {
    const char *panel; /* caption; NULL: none */
    size_t rows, columns;
    const unsigned char
        *state;           /* [rows][columns], index into states; 255: no block here */
    const VizKey *states; /* [state_count] name and color; named in a key above */
    size_t state_count;
    const char *const *labels; /* [rows][columns], drawn where they fit; NULL: none */
    const char *const *row_labels;    /* [rows]; NULL: none */
    const char *const *column_labels; /* [columns]; NULL: positions when `positions` */
    const char *const
        *row_notes; /* [rows] at the right end, such as bytes; NULL: none */
    bool positions; /* number the columns from 0 */
    bool user;      /* labels inside blocks and of columns are a user's */
    bool no_key;    /* several maps share one key drawn by viz_key */
    double largest; /* points a block at most; 0: 30 */
} VizBlocks;

/* Returns where the blocks are. */
VizRect viz_blocks(VizCanvas *canvas, VizRect rect, const VizBlocks *blocks);

#endif
