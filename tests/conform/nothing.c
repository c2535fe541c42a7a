/* A library that has no cache in it. */
int kvstep_cache_opened(void);

int kvstep_cache_opened(void) {
    return 1;
}
