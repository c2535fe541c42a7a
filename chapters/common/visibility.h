/* The rule that the options ask for: which keys are seen and how rows are stored. */
#ifndef KVSTEP_CHAPTERS_VISIBILITY_H
#define KVSTEP_CHAPTERS_VISIBILITY_H

#include "chapters/common/options.h"
#include "core/kernels/rule.h"

/* --window, --max-cached with --evict and --sinks, --cache-type-k and -v, --rope; a layer
 * that has a narrower window of its own keeps it. Refuses a window together with a limit,
 * sinks that leave no room, a format that cannot store this shape's rows. */
bool visibility_rule(const Options *options, const Shape *shape, Rule *rule,
                     Error *err);

/* Whether the rule computes what the model means: nothing hidden that the model's own
 * windows show, every row stored as computed. */
bool visibility_is_full(const Rule *rule, const Shape *shape);

enum { VISIBILITY_TEXT = 120 };

/* The rule in words, such as "a window of 16, K and V in q8_0"; "the full rule". */
const char *visibility_words(const Options *options, char text[VISIBILITY_TEXT]);

#endif
