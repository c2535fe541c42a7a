/* The options of every command: one table, so that a word means the same everywhere.
 *
 * argv is first checked against the table: full names only, an unknown option is
 * refused with the nearest valid one, a missing value and a stray word are one line.
 * Then argp parses it, each value within its range, and prints --help from the same
 * table. Of an option given twice the last one counts. */
#ifndef KVSTEP_CHAPTERS_OPTIONS_H
#define KVSTEP_CHAPTERS_OPTIONS_H

#include "core/base/error.h"
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Texts belong to argv or to the table of options. */
typedef struct {
    const char *model;           /* --model NAME|FILE */
    const char *tokenizer;       /* --tokenizer FILE; NULL: none */
    const char *prompt;          /* --prompt TEXT */
    size_t tokens;               /* --tokens N: tokens to draw, 1 or more */
    uint64_t seed;               /* --seed S */
    float temperature;           /* --temperature T: 0 is greedy */
    float top_p;                 /* --top-p P: over 0, up to 1 */
    const char *kernels;         /* --kernels fast|naive */
    size_t threads;              /* --threads T; 0: all processors */
    bool dense;                  /* --scores causal|dense */
    bool logits_all;             /* --logits last|all */
    const char *cache;           /* --cache contiguous|growing|ring|paged */
    const char *growth;          /* --growth each|double|256: how growing grows */
    size_t block_size;           /* --block-size B: tokens of a block of paged */
    const char *type_k, *type_v; /* --cache-type-k/-v TYPE: how rows are stored */
    bool rope_before;            /* --rope after|before: keys stored before rotation */
    size_t window;        /* --window W: newest keys a query sees, itself too; 0: all */
    size_t max_cached;    /* --max-cached N: rows kept in all; 0: no limit */
    bool evict_sinks;     /* --evict oldest|sinks: what a limit drops */
    size_t sinks;         /* --sinks S: first tokens that --evict sinks keeps */
    size_t context;       /* --ctx N: rows to reserve; 0: the model's context */
    size_t chunk;         /* --chunk C: prompt tokens per pass; 0: the prompt at once */
    const char *trace;    /* --trace FILE; NULL: none */
    bool trace_attention; /* --trace-attention: attention weights in the trace, too */
    size_t layer, head;   /* --layer L, --head H: which one is opened up */
    bool no_mask;       /* --no-mask: every token sees all, to show what that breaks */
    size_t shift;       /* --shift S: all positions later by S */
    const char *out;    /* --out DIR: pictures and their data go there; NULL: none */
    const char *format; /* --format png|svg|pdf: of the pictures */
    bool page;          /* --page: index.html beside the pictures */
    bool ask;           /* --ask: one question before the numbers, on a terminal */
    bool json, quiet, digest;
    const char *file; /* the one word without --, where a command takes it */
} Options;

/* What a command tells the parser. */
typedef struct {
    const char *name;           /* "cache" */
    const char *summary;        /* one line, for the map */
    const char *help;           /* what it does; examples */
    const char *const *accepts; /* option names without "--", ended by NULL */
    const char *argument; /* the word without -- it takes: "FILE.so"; NULL: none */
    const char *prompt;   /* where <s> alone shows nothing; NULL: the table's */
} CommandInfo;

typedef enum { OPTIONS_RUN, OPTIONS_HELPED, OPTIONS_REFUSED } OptionsOutcome;

/* Defaults first, then argv[1..]. HELPED: --help was printed, status 0. REFUSED: err.
 */
OptionsOutcome options_parse(const CommandInfo *command, int argc, char **argv,
                             Options *options, Error *err);

/* What --help prints. */
void options_help(const CommandInfo *command, FILE *stream);

#endif
