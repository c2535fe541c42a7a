#include "chapters/common/options.h"
#include "chapters/common/nearest.h"
#include "chapters/common/option_table.h"

#include <argp.h>
#include <errno.h>
#include <string.h>

enum {
    MOST_OPTIONS = 64,
    FIRST_KEY = 256, /* above every character, so that argp makes no short options */
    HELP_TEXT = 240,
};

static bool accepts(const CommandInfo *command, const OptionRow *row) {
    if (row->kind == OPTION_HELP) return true;
    for (const char *const *name = command->accepts; *name; name++)
        if (strcmp(*name, row->name) == 0) return true;
    return false;
}

/* The row of a word "--name" or "--name=value", or NULL. */
static const OptionRow *row_of(const CommandInfo *command, const char *word) {
    if (strncmp(word, "--", 2) != 0) return NULL;
    const OptionRow *row = option_find(word + 2, strcspn(word + 2, "="));
    return row && accepts(command, row) ? row : NULL;
}

static bool refuse_unknown(const CommandInfo *command, const char *word, Error *err) {
    if (word[0] != '-')
        return error_set(err,
                         "'%.60s' is not an option; options begin with --, a text with "
                         "blanks stands in quotes",
                         word);
    const char *names[MOST_OPTIONS + 1];
    size_t count = 0;
    for (const OptionRow *row = option_table; row->name; row++)
        if (accepts(command, row)) names[count++] = row->name;
    names[count] = NULL;
    char name[NEAREST_LETTERS + 2];
    const char *begin = word + strspn(word, "-");
    snprintf(name, sizeof name, "%.*s", (int)strcspn(begin, "="), begin);
    const char *near = nearest_name(name, names);
    if (near)
        return error_set(err, "unknown option '%.60s'; did you mean --%s?", word, near);
    return error_set(err, "unknown option '%.60s'; kvstep %s --help lists them all",
                     word, command->name);
}

/* What argp would let pass, or say in more than one line. */
static bool check_words(const CommandInfo *command, int argc, char **argv, bool *help,
                        Error *err) {
    const char *argument = NULL;
    *help = false;
    for (int i = 1; i < argc; i++) {
        const char *word = argv[i];
        const OptionRow *row = row_of(command, word);
        const bool joined = strchr(word, '=');
        if (!row && word[0] != '-' && command->argument && !argument) {
            argument = word;
            continue;
        }
        if (!row) return refuse_unknown(command, word, err);
        if (row->needs)
            return error_set(err, "--%s needs %s; this is the MINIMAL build", row->name,
                             row->needs);
        if (row->kind == OPTION_HELP) *help = true;
        if (!row->value && joined)
            return error_set(err, "--%s takes no value", row->name);
        if (!row->value || joined) continue;
        if (i + 1 == argc)
            return error_set(err, "--%s needs a value: --%s %s", row->name, row->name,
                             row->value);
        if (row_of(command, argv[++i]))
            return error_set(
                err, "--%s needs a value; if '%.60s' is meant, write --%s=%.60s",
                row->name, argv[i], row->name, argv[i]);
    }
    return true;
}

typedef struct {
    Options *options;
    Error *err;
} Parsing;

static error_t parse_one(int key, char *text, struct argp_state *state) {
    const Parsing *parsing = state->input;
    if (key == ARGP_KEY_ARG) {
        parsing->options->file = text;
        return 0;
    }
    if (key < FIRST_KEY || key >= FIRST_KEY + MOST_OPTIONS) return ARGP_ERR_UNKNOWN;
    const OptionRow *row = &option_table[key - FIRST_KEY];
    return option_set(row, text, parsing->options, parsing->err) ? 0 : EINVAL;
}

/* The default of an option, as a user of this command would write it; NULL: none. */
static const char *standard_of(const CommandInfo *command, const OptionRow *row) {
    const bool prompt = row->field == offsetof(Options, prompt) && row->value;
    return prompt && command->prompt ? command->prompt : row->standard;
}

/* The table as argp wants it; help [MOST_OPTIONS] holds the texts with defaults. */
static void table_for_argp(const CommandInfo *command, struct argp_option *options,
                           char (*help)[HELP_TEXT]) {
    size_t count = 0;
    for (const OptionRow *row = option_table; row->name && count < MOST_OPTIONS;
         row++) {
        if (!accepts(command, row)) continue;
        /* A long default would break the lines; its help says what it is. */
        const char *value = standard_of(command, row);
        bool standard = value && *value && strlen(value) < 32;
        snprintf(help[count], HELP_TEXT, "%s%s%s%s", row->help,
                 standard ? " (default: " : "", standard ? value : "",
                 standard ? ")" : "");
        for (const char *const *c = row->choices; c && *c; c++) {
            const size_t used = strlen(help[count]);
            snprintf(help[count] + used, HELP_TEXT - used, "%s%s",
                     c == row->choices ? "; one of: " : ", ", *c);
        }
        options[count] = (struct argp_option){
            .name = row->name,
            .key = FIRST_KEY + (int)(row - option_table),
            .arg = row->value,
            .doc = help[count],
            .group = (int)count + 1, /* argp sorts by name within a group */
        };
        count++;
    }
    options[count] = (struct argp_option){0};
}

void options_help(const CommandInfo *command, FILE *stream) {
    struct argp_option table[MOST_OPTIONS + 1];
    char help[MOST_OPTIONS][HELP_TEXT], name[64], text[2000];
    table_for_argp(command, table, help);
    snprintf(name, sizeof name, "kvstep %s", command->name);
    snprintf(text, sizeof text, "%s\v%s", command->summary, command->help);
    const struct argp argp = {
        .options = table, .args_doc = command->argument, .doc = text};
    argp_help(&argp, stream, ARGP_HELP_SHORT_USAGE | ARGP_HELP_LONG | ARGP_HELP_DOC,
              name);
}

static void set_defaults(const CommandInfo *command, Options *options) {
    *options = (Options){0};
    for (const OptionRow *row = option_table; row->name; row++)
        if (row->standard) option_set(row, standard_of(command, row), options, NULL);
}

static bool parse_words(const CommandInfo *command, int argc, char **argv,
                        Options *options, Error *err) {
    struct argp_option table[MOST_OPTIONS + 1];
    char help[MOST_OPTIONS][HELP_TEXT];
    table_for_argp(command, table, help);
    const struct argp argp = {.options = table, .parser = parse_one};
    const unsigned flags = ARGP_NO_HELP | ARGP_NO_ERRS | ARGP_NO_EXIT;
    Parsing parsing = {options, err};
    int status = argp_parse(&argp, argc, argv, flags, NULL, &parsing);
    if (status == 0) return true;
    if (err && !*err->text) error_set(err, "options: %s", strerror(status));
    return false;
}

OptionsOutcome options_parse(const CommandInfo *command, int argc, char **argv,
                             Options *options, Error *err) {
    bool help;
    set_defaults(command, options);
    if (!check_words(command, argc, argv, &help, err)) return OPTIONS_REFUSED;
    if (help) {
        options_help(command, stdout);
        return OPTIONS_HELPED;
    }
    if (!parse_words(command, argc, argv, options, err)) return OPTIONS_REFUSED;
    if (options->trace_attention && !options->trace) {
        error_set(err, "--trace-attention needs --trace FILE");
        return OPTIONS_REFUSED;
    }
    if (options->page && !options->out) {
        error_set(err, "--page needs --out DIR");
        return OPTIONS_REFUSED;
    }
    return OPTIONS_RUN;
}
