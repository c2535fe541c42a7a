# kvstep. `make help` lists the targets; the options are CC=, ARCH=, CFLAGS=, WERROR=1,
# MINIMAL=yes, V=1 and BUILD= (the folder of everything that is made).
#
# Files are found by their place, so a new one needs no line here:
#   core/<room>/*.c    -> build/libkvstep-core.a (needs libc and libm alone, see digests)
#   chapters/, viz/    -> build/kvstep; chapters/<x>/rung_*.c once per kernel target
#   tests/test_<x>.c   -> build/tests/test_<x>, one Check program each
#   tests/*.c, others  -> linked into every test program; digests.c stands alone
#   tests/*.sh         -> run by `make test` with KVSTEP=build/kvstep
#   tests/fuzz/fuzz_<x>.c, corpus/<x>/ -> `make fuzz`

BUILD_PACKAGES      := libjansson-dev libxxhash-dev libcairo2-dev libpango1.0-dev pkg-config
TEST_PACKAGES       := check
MAINTAINER_PACKAGES := clang lld libclang-rt-dev clang-format clang-tidy cppcheck \
                       libomp-dev gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user-static \
                       wasi-libc libclang-rt-dev-wasm32 nodejs

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.SUFFIXES:
MAKEFLAGS += --no-builtin-rules --no-print-directory
ifeq ($(MAKELEVEL),0)
MAKEFLAGS += -j$(shell nproc)# a -j on the command line wins
endif

BUILD   ?= build
PREFIX  ?= /usr/local
SECONDS ?= 60
GOALS   := $(or $(MAKECMDGOALS),all)
Q       := $(if $(V),,@)
say      = $(if $(V)$(findstring s,$(firstword -$(MAKEFLAGS))),:,echo "$1 $(or $2,$@)")

# ---- What is missing is found and installed before anything is compiled ----------------
# The included file holds the flags of the libraries and depends on every header of
# theirs: while all are there nothing is asked again, when one goes the probe runs again.
# CORE_ONLY=yes (the cross builds of `make targets`) has no libraries to look for.

UNBUILT := help clean deps format format-check uninstall
ifneq ($(filter-out $(UNBUILT),$(GOALS)),)
ifneq ($(filter yes,$(MINIMAL) $(CORE_ONLY)),yes)
TIER     := $(if $(filter test% lint check-all $(BUILD)/tests/%,$(GOALS)),test,build)
PACKAGES := $(BUILD)/packages-$(TIER).mk
include $(PACKAGES)
endif
endif
export BUILD_PACKAGES TEST_PACKAGES MAINTAINER_PACKAGES YES
# Asked of make itself: with -j most commands do not get its standard input.
terminal = TERMINAL=$(shell test -t 0 && echo yes)

$(BUILD)/packages-%.mk: .setup/probe.sh
	@CC="$(CC)" $(terminal) .setup/probe.sh $* $@

# ---- Flags -------------------------------------------------------------------------------
# CFLAGS and CPPFLAGS are yours and come late; those that fix the bits come last.

MACHINE := $(shell $(CC) -dumpmachine)
BITS    := -fno-fast-math -ffp-contract=off -fno-math-errno
WARN    := -Wall -Wextra -Wshadow -Wconversion $(if $(filter 1 yes,$(WERROR)),-Werror)
FLAGS    = -std=gnu17 -g $(OPTIMIZE) $(if $(ARCH),-march=$(ARCH)) $(WARN) -I. \
           $(if $(filter yes,$(MINIMAL)),-DKVSTEP_MINIMAL) $(CPPFLAGS) $(CFLAGS) $(BITS)
OPTIMIZE = $(or $(OPT),-O2)
LINK     = $(Q)mkdir -p $(@D) && $(call say,ld) && $(CC) $(CFLAGS) $(LDFLAGS) -o $@

# Only core/kernels/threads.c starts threads. MINIMAL and the cross builds have one.
OPENMP ?= $(HAVE_OPENMP)

# Kernel files are compiled once for each of these; select.c picks at run time.
KERNEL_TARGETS      ?= base $(if $(filter x86_64%,$(MACHINE)),fma avx512)
KERNEL_FLAGS_fma    := -mavx2 -mfma -mf16c
KERNEL_FLAGS_avx512 := -mavx512f -mavx512vl -mavx512bw -mavx512dq -mfma -mf16c -mprefer-vector-width=512
SELECT_FLAGS     := $(if $(filter fma,$(KERNEL_TARGETS)),-DKERNELS_HAVE_FMA)

# ---- Files -------------------------------------------------------------------------------

O        := $(BUILD)/obj
CHECKING := $(BUILD)/checking# a second compile of core, with poison and self-checks

KERNELS  := $(wildcard core/kernels/naive_*.c core/kernels/fast_*.c)
kernels_of = $(if $(filter avx512,$1),$(filter core/kernels/fast_%,$(KERNELS)),$(KERNELS))
CORE     := $(filter-out $(KERNELS),$(wildcard core/*/*.c))
ifeq ($(CORE_ONLY),yes)
CORE     := $(filter-out core/conform/% $(shell grep -l '<jansson.h>' $(CORE)),$(CORE))
endif
RUNGS    := $(wildcard chapters/*/rung_*.c)
CHAPTERS := $(filter-out $(RUNGS),$(wildcard chapters/*.c chapters/*/*.c chapters/*/*/*.c))
ifeq ($(MINIMAL),yes)# what draws is called figures*.c, gallery.c or page.c
CHAPTERS := $(foreach f,$(CHAPTERS),$(if $(filter figures% gallery.c page.c,$(notdir $f)),,$f))
endif
VIZ      := $(if $(filter yes,$(MINIMAL)),,$(wildcard viz/*.c viz/*/*.c))
SUITES   := $(wildcard tests/test_*.c)
SUPPORT  := $(filter-out $(SUITES) tests/digests.c,$(wildcard tests/*.c))

core_objects   = $(CORE:%.c=$1/%.o) $(foreach t,$(KERNEL_TARGETS),$(patsubst %.c,$1/%.$t.o,$(call kernels_of,$t)))
CORE_OBJECTS  := $(call core_objects,$O)
CHECK_OBJECTS := $(call core_objects,$(CHECKING))
UPPER         := $(patsubst %.c,$O/%.o,$(filter-out chapters/main.c,$(CHAPTERS)) $(VIZ)) \
                 $(foreach t,$(KERNEL_TARGETS),$(RUNGS:%.c=$O/%.$t.o))
LIBRARIES      = $(if $(filter yes,$(MINIMAL)),,$(JSON_LIBS) $(VIZ_LIBS)) $(OPENMP) -ldl -lm

# These two files change when the flags or the list of sources do, and then only.
ifneq ($(if $(PACKAGES),$(wildcard $(PACKAGES)),$(filter-out $(UNBUILT),$(GOALS))),)
FLAGS_NOW   := $(strip $(CC) $(MACHINE) $(FLAGS) $(OPT) $(OPENMP) $(KERNEL_TARGETS) $(VIZ_CFLAGS) $(LDFLAGS))
SOURCES_NOW := $(strip $(CORE) $(KERNELS) $(CHAPTERS) $(RUNGS) $(VIZ) $(SUPPORT))
$(shell mkdir -p $(BUILD))
ifneq ($(strip $(file <$(BUILD)/flags)),$(FLAGS_NOW))
$(file >$(BUILD)/flags,$(FLAGS_NOW))
endif
ifneq ($(strip $(file <$(BUILD)/sources)),$(SOURCES_NOW))
$(file >$(BUILD)/sources,$(SOURCES_NOW))
endif
endif

# ---- Compiling ---------------------------------------------------------------------------

compile = $(Q)mkdir -p $(@D) && $(call say,cc) && \
          $(CC) $(FLAGS) $(ROOM_FLAGS) -MMD -MP -c $< -o $@

$O/%.o: %.c $(BUILD)/flags
	$(compile)
$(CHECKING)/%.o: %.c $(BUILD)/flags
	$(compile) -DKVSTEP_CHECKING

define kernel_target
$O/%.$1.o: %.c $(BUILD)/flags
	$$(compile) -DKERNEL_TARGET=$1 $$(KERNEL_FLAGS_$1)
$(CHECKING)/%.$1.o: %.c $(BUILD)/flags
	$$(compile) -DKVSTEP_CHECKING -DKERNEL_TARGET=$1 $$(KERNEL_FLAGS_$1)
endef
$(foreach t,$(KERNEL_TARGETS),$(eval $(call kernel_target,$t)))

$O/core/kernels/% $(CHECKING)/core/kernels/%: OPTIMIZE = $(or $(OPT),-O3)
$O/chapters/05_kernels/rung_%: OPTIMIZE = $(or $(OPT),-O3)
$O/core/kernels/threads.o $(CHECKING)/core/kernels/threads.o: ROOM_FLAGS = $(OPENMP)
$O/core/kernels/select.o $(CHECKING)/core/kernels/select.o: ROOM_FLAGS = $(SELECT_FLAGS)
$O/core/format/% $(CHECKING)/core/format/%: ROOM_FLAGS = $(JSON_CFLAGS)
$O/viz/%: ROOM_FLAGS = $(VIZ_CFLAGS)
$O/chapters/% $O/book/%: ROOM_FLAGS = $(JSON_CFLAGS) $(VIZ_CFLAGS)
$O/tests/%: ROOM_FLAGS = -DKVSTEP_CHECKING $(JSON_CFLAGS) $(VIZ_CFLAGS) $(CHECK_CFLAGS)
$O/tests/digests.o: ROOM_FLAGS =
$O/viz/fontdata.o: $(wildcard viz/fonts/*.ttf)

-include $(shell find $(BUILD)/obj $(BUILD)/checking $(BUILD)/counting -name '*.d' 2>/dev/null)

# ---- The program -------------------------------------------------------------------------

all: $(BUILD)/kvstep ## build the program: build/kvstep (what plain `make` does)

DEMO := --ask $(if $(filter yes,$(MINIMAL)),,--out out/demo --page)

demo: $(BUILD)/kvstep ## build, then run the main job, with pictures in out/demo/index.html
	@$(BUILD)/kvstep cache $(DEMO)
	@printf '\nnext, type one of these:\n  %s\n  %s\n  %s\n' \
	    '$(BUILD)/kvstep forward' '$(BUILD)/kvstep attention --shift 100' \
	    '$(BUILD)/kvstep cache --tokens 128 --scores dense'

FRONT := book/pictures/main-job.png

front-picture: $(BUILD)/main_job ## draw the picture of the README anew: book/pictures/main-job.png
	@$(BUILD)/main_job $(BUILD)/main-job && cp $(BUILD)/main-job.png $(FRONT)

$(BUILD)/main_job: $O/book/pictures/main_job.o $(UPPER) $(BUILD)/libkvstep-core.a
	$(LINK) $^ $(LIBRARIES)

$(BUILD)/libkvstep-core.a: $(CORE_OBJECTS) $(BUILD)/sources
	$(Q)rm -f $@ && $(call say,ar) && $(AR) rcs $@ $(CORE_OBJECTS)
$(BUILD)/libkvstep-core-checking.a: $(CHECK_OBJECTS) $(BUILD)/sources
	$(Q)rm -f $@ && $(call say,ar) && $(AR) rcs $@ $(CHECK_OBJECTS)

# -rdynamic: a cache that `kvstep conform` loads calls the core's functions.
$(BUILD)/kvstep: $O/chapters/main.o $(UPPER) $(BUILD)/libkvstep-core.a
	$(LINK) -rdynamic $^ $(LIBRARIES)

# The same with poison in dead cells: for `kvstep-checking conform FILE.so`.
$(BUILD)/kvstep-checking: $O/chapters/main.o $(UPPER) $(BUILD)/libkvstep-core-checking.a
	$(LINK) -rdynamic $^ $(LIBRARIES)

install: $(BUILD)/kvstep ## install the program and its licence below PREFIX (DESTDIR is honoured)
	install -D -m 755 $(BUILD)/kvstep "$(DESTDIR)$(PREFIX)/bin/kvstep"
	install -D -m 644 LICENSE "$(DESTDIR)$(PREFIX)/share/doc/kvstep/LICENSE"
	install -D -m 644 viz/fonts/LICENSE "$(DESTDIR)$(PREFIX)/share/doc/kvstep/LICENSE.fonts"

uninstall: ## remove what install put there
	rm -f "$(DESTDIR)$(PREFIX)/bin/kvstep"
	rm -rf "$(DESTDIR)$(PREFIX)/share/doc/kvstep"

deps: ## show the packages of every tier with megabytes, ask, install what is missing
	@$(terminal) .setup/deps.sh --list build test maintainer

clean: ## remove everything that was built
	rm -rf $(BUILD)

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-14s %s\n", $$1, $$2 }' Makefile
	@sed -n '1,2s/^# //p' Makefile

# ---- Tests -------------------------------------------------------------------------------

TESTS := $(SUITES:tests/%.c=$(BUILD)/tests/%)
ifeq ($(filter yes,$(MINIMAL))$(filter test%,$(GOALS)),yestest)
$(error the tests need every library: make test, without MINIMAL=yes)
endif

# The proof of the counters (below) needs gcc without sanitizers.
ifeq ($(TIER)$(findstring clang,$(shell $(CC) --version))$(findstring -fsanitize,$(CFLAGS)),test)
COUNTING := $(patsubst tests/counting/%.c,$(BUILD)/tests/%,$(wildcard tests/counting/test_counting.c))
endif

test: $(TESTS) $(COUNTING) $(BUILD)/kvstep ## build and run every test (KVSTEP_MODELS=folder adds those on real weights)
	@KVSTEP=$(BUILD)/kvstep KVSTEP_OBJECTS=$O .setup/run-tests.sh $(BUILD)/tests/log $(COUNTING) $(TESTS) $(wildcard tests/*.sh)

# An archive, so that each program takes only the helpers it calls.
$(BUILD)/libtests.a: $(SUPPORT:%.c=$O/%.o) $(BUILD)/sources
	$(Q)rm -f $@ && $(call say,ar) && $(AR) rcs $@ $(filter %.o,$^)

$(TESTS): $(BUILD)/tests/%: $O/tests/%.o $(BUILD)/libtests.a $(UPPER) $(BUILD)/libkvstep-core-checking.a
	$(LINK) $^ $(CHECK_LIBS) $(LIBRARIES)

test-asan: ## every test under gcc's address and undefined-behaviour sanitizers
	@ASAN_OPTIONS=allocator_may_return_null=1 UBSAN_OPTIONS=print_stacktrace=1 \
	$(MAKE) test BUILD=$(BUILD)/asan CC=gcc \
	    CFLAGS="-fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer"

test-clang: | maintainer-tools ## every test, built by clang
	@$(MAKE) test BUILD=$(BUILD)/clang CC=clang

# The proof of the counters: the naive kernels, unchanged, with a sum.h in front that counts
# multiply-adds, and with every load reported (-fsanitize=thread) to functions of the test's
# own: nothing links libtsan.
COUNTED       := $(filter core/kernels/naive_%,$(KERNELS)) core/kernels/format.c \
                 $(foreach f,f32 f16 bf16 q8_0 q4_0 fp8,core/kernels/$f.c)
COUNTING_TEST := $(patsubst %.c,$O/%.o,$(wildcard tests/counting/*.c))
COUNTING_CORE := $(filter-out core/kernels/select.c $(COUNTED),$(CORE))
COUNTING_OBJECTS := $(COUNTED:%.c=$(BUILD)/counting/%.o) $(BUILD)/counting/select.o \
                    $(patsubst %.c,$(CHECKING)/%.base.o,$(filter core/kernels/fast_%,$(KERNELS))) \
                    $(COUNTING_CORE:%.c=$(CHECKING)/%.o)

$(BUILD)/tests/test_counting: $(COUNTING_TEST) $(BUILD)/libtests.a $(COUNTING_OBJECTS)
	$(LINK) $^ $(CHECK_LIBS) $(JSON_LIBS) $(OPENMP) -lm
$(BUILD)/counting/core/%.o: core/%.c $(BUILD)/flags
	$(compile) -DKERNEL_TARGET=base -O1 -fno-tree-loop-distribute-patterns \
	    -fsanitize=thread -include tests/counting/sum.h
$(BUILD)/counting/select.o: core/kernels/select.c $(BUILD)/flags
	$(compile)

digests: $(BUILD)/digests ## compare the bits of the fixed runs with tests/golden/digests.txt
	@$(BUILD)/digests | diff -u tests/golden/digests.txt - && echo "digests: all equal"

# Core alone: this link is what proves that it needs no library.
$(BUILD)/digests: $O/tests/digests.o $(CORE_OBJECTS)
	$(LINK) $^ $(OPENMP) -lm

targets: | maintainer-tools ## the same bits from every compiler, level and machine we can run
	@.setup/targets.sh $(BUILD)/targets

fuzz: | maintainer-tools ## feed the readers broken files for SECONDS=60 each
	@$(MAKE) fuzzers BUILD=$(BUILD)/fuzz CC=clang \
	    CFLAGS="-fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all"
	@.setup/fuzz.sh $(BUILD)/fuzz "$(SECONDS)"

FUZZERS := $(patsubst tests/fuzz/%.c,$(BUILD)/%,$(wildcard tests/fuzz/fuzz_*.c))
fuzzers: $(FUZZERS)
$(FUZZERS): $(BUILD)/%: $O/tests/fuzz/%.o $(BUILD)/libkvstep-core-checking.a
	$(LINK) -fsanitize=fuzzer $^ $(JSON_LIBS) $(OPENMP) -lm

check-all: ## everything, the long tests too (about an hour)
	@LONG=1 $(MAKE) test
	@$(MAKE) test-clang
	@$(MAKE) test-asan
	@$(MAKE) digests
	@$(MAKE) targets
	@$(MAKE) lint
	@$(MAKE) fuzz

# ---- The look of the code ----------------------------------------------------------------

CODE = $(shell find core chapters viz tests exercises -name '*.[ch]' | sort)

format: | maintainer-tools ## put every source into the house's format
	@clang-format -i $(CODE)

format-check: | maintainer-tools ## say which sources are not in the house's format
	@clang-format --dry-run -Werror $(CODE) 2>&1 | \
	    awk -F : '/error:/ && !seen[$$1]++ { print $$1 ": not in format; run make format" } END { exit !!NR }'

lint: format-check ## format-check, clang-tidy, cppcheck: all must be clean
	@.setup/lint.sh $(BUILD)/lint -std=gnu17 -I. -DKVSTEP_CHECKING $(JSON_CFLAGS) $(VIZ_CFLAGS) $(CHECK_CFLAGS)

maintainer-tools:
	@$(terminal) .setup/deps.sh maintainer

.PHONY: all demo front-picture install uninstall deps clean help test test-asan test-clang digests targets \
        fuzz fuzzers check-all format format-check lint maintainer-tools
