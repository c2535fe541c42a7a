/* The end of every test program: `return check_run(suite);` from main. */
#ifndef KVSTEP_TESTS_CHECK_MAIN_H
#define KVSTEP_TESTS_CHECK_MAIN_H

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

/* Runs the suite, each test in a process of its own (CK_FORK=no: in this one, for a
 * debugger), and frees it. Check's closing line says how many ran; a failure, or not a
 * single check (which Check itself calls 100%), gives EXIT_FAILURE. */
static inline int check_run(Suite *suite) {
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int checks = srunner_ntests_run(runner);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    if (checks == 0) fprintf(stderr, "not a single check ran\n");
    return checks > 0 && failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

#endif
