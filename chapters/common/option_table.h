/* The table of options and what a value may be. */
#ifndef KVSTEP_CHAPTERS_OPTION_TABLE_H
#define KVSTEP_CHAPTERS_OPTION_TABLE_H

#include "chapters/common/options.h"

typedef enum {
    OPTION_HELP,   /* takes no value, has no field */
    OPTION_FLAG,   /* takes no value; bool field becomes true */
    OPTION_TEXT,   /* const char *; may be empty */
    OPTION_FILE,   /* const char *; not empty */
    OPTION_SIZE,   /* size_t, least to most */
    OPTION_NUMBER, /* uint64_t, least to most */
    OPTION_REAL,   /* float, low to high, or 0 if zero_too */
    OPTION_NAME,   /* const char *, one of choices */
    OPTION_SECOND, /* bool: the second of two choices */
} OptionKind;

typedef struct {
    const char *name;  /* without "--"; NULL ends the table */
    const char *value; /* what --help calls the value; NULL: takes none */
    OptionKind kind;
    bool zero_too;        /* a real number may be 0, too */
    size_t field;         /* where in Options it goes */
    const char *standard; /* the default, as a user would write it; NULL: none */
    const char *help;
    uint64_t least, most;
    double low, high;
    const char *const *choices; /* ended by NULL */
    const char *needs; /* the library without which it is refused; MINIMAL only */
} OptionRow;

extern const OptionRow option_table[];

/* The row of that name, of `length` bytes, or NULL. */
const OptionRow *option_find(const char *name, size_t length);

/* Checks the value and stores it; text NULL for options that take none. One line naming
 * the option, the value and what it may be. */
bool option_set(const OptionRow *row, const char *text, Options *options, Error *err);

#endif
