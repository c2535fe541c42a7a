/* index.html of `kvstep cache --out DIR --page`. */
#ifndef KVSTEP_CHAPTERS_CACHE_PAGE_H
#define KVSTEP_CHAPTERS_CACHE_PAGE_H

#include "chapters/03_cache/run.h"
#include "chapters/common/gallery.h"

/* The verdict, the pictures of the gallery, the table, what to type next. */
bool cache_write_page(const CacheResult *result, const Gallery *gallery, Error *err);

#endif
