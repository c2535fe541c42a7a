/* `kvstep conform FILE.so`: holds a cache that somebody else wrote against
 * core/cache/cache.h to the contract, property by property. */
#ifndef KVSTEP_CHAPTERS_CONFORM_H
#define KVSTEP_CHAPTERS_CONFORM_H

#include "chapters/common/command.h"

extern const Command conform_command;

#endif
