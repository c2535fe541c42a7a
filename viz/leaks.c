/* Nothing but a word to the leak checker, in builds that have one: fontconfig keeps its
 * pointers as offsets, which the checker cannot follow, so what it still holds at the
 * end looks lost. Weak, so that a program with words of its own for the checker wins.
 */
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define LEAKS_ARE_CHECKED
#endif
#endif
#ifdef __SANITIZE_ADDRESS__
#define LEAKS_ARE_CHECKED
#endif

#ifdef LEAKS_ARE_CHECKED
const char *__lsan_default_suppressions(void);
const char *__lsan_default_options(void);

__attribute__((weak)) const char *__lsan_default_suppressions(void) {
    return "leak:libfontconfig.so\n";
}

__attribute__((weak)) const char *__lsan_default_options(void) {
    return "print_suppressions=0";
}
#else
typedef int viz_no_leak_checker; /* a file may not be empty */
#endif
