/* Where two engines part: stored rows of one layer and sequence, compared bit by bit.
 */
#ifndef KVSTEP_CONFORM_COMPARE_H
#define KVSTEP_CONFORM_COMPARE_H

#include "core/kernels/rule.h"
#include "core/kernels/span.h"

/* Looks at the rows that the next query will see under the rule, from position 0 on.
 * True if a K or V row differs, or if one side has fewer rows: *position is the first
 * such.
 */
bool compare_rows(const Rows *a, const Rows *b, const LayerShape *shape,
                  const LayerRule *rule, size_t *position);

#endif
