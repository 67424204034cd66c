# SPDX-License-Identifier: MIT
# Makefile of sxsprof. `make help` lists the targets. V=1 shows commands, O=DIR builds elsewhere,
# CC=clang or gcc chooses the compiler, DEBUG=1 enables assertions and turns warnings into errors,
# SAN=address,undefined or SAN=thread builds with sanitizers.

MAKEFLAGS += -rR --no-print-directory
VERSION := 0.1.0
comma   := ,
SAN     ?=
O       ?= build$(if $(SAN),/san-$(subst $(comma),-,$(SAN)))
V       ?= 0
Q       := $(if $(filter 1,$(V)),,@)
say      = @printf '  %-7s %s\n' '$(1)' '$(2)'

# The processor that is compiled for: its folder in arch/.
ARCH    ?= $(shell uname -m)

PREFIX  ?= /usr/local
DESTDIR ?=

FAKE_VERSIONS := 2.0 4.0 3.1 5.0 6.0 7.0 8.0 9.0 10.0

ifeq ($(origin CC),default)
CC := cc
endif
CC       ?= cc
ifeq ($(origin AR),default)
AR := ar
endif
AR       ?= ar
WARNINGS := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wcast-qual -Wvla
CPPFLAGS += -D_GNU_SOURCE -I. -I$(O)/gen -DSXS_VERSION='"$(VERSION)"' $(if $(DEBUG),,-DNDEBUG)
CFLAGS   ?= $(if $(SAN),-O1 -g1,-O2 -g)
override CFLAGS += -std=gnu11 $(WARNINGS) -fvisibility=hidden -fPIC -fno-omit-frame-pointer \
                   $(if $(DEBUG),-Werror) $(if $(SAN),-fsanitize=$(SAN) -DSXS_SANITIZED)
LDFLAGS  += -Wl,-z,now $(if $(SAN),-fsanitize=$(SAN))
# With sanitizers no -z defs, because their runtime is linked into the program, not into libraries.
SHARED   := -shared $(if $(SAN),,-Wl$(comma)-z$(comma)defs)

# folders.tsv lists what each folder is linked into. $(call linked,library): sources of the library.
linked = $(foreach d,$(shell awk -F'\t' '$$2 ~ /(^|,)$(1)(,|$$)/ { print $$1 }' folders.tsv),$(wildcard $(d)/*.c))

OTHER_ARCH  := $(filter-out arch/$(ARCH)/%,$(wildcard arch/*/*/*.c))
LIB_SRC     := $(filter-out $(OTHER_ARCH),$(call linked,library))
LIB_ASM     := $(filter-out arch/$(ARCH)/clrie/%,$(wildcard arch/$(ARCH)/*/*.S)) clrie/link/needs.S
IL_SRC      := $(call linked,il) base/displayed.c
PRELOAD_SRC := $(call linked,preload)
MALLOC_SRC  := $(call linked,malloc)
ENGINE_SRC  := $(call linked,clrie)
CMD_SRC     := $(filter-out base/%,$(call linked,command))
CONFIG_SRC  := $(wildcard instr/config/*.c)
READ_SRC    := $(wildcard session/read/*.c)
FORMAT_SRC  := $(wildcard session/format/*.c)
FACTS_SRC   := $(wildcard runtime_facts/*.c)
RUNSXS_SRC  := $(wildcard harness/*.c)
BRIDGE_SRC  := $(wildcard harness/bridge/*.c)
FAKE_SRC    := $(wildcard tests/fake/*.c)
UNIT_SRC    := $(wildcard tests/unit/test_*.c)
GEN         := $(addprefix $(O)/gen/,sxs_abi.h sxs_abi.c sxs_events.h sxs_events.inc sxs_info.h \
                 sxs_info.c sxs_callback.inc sxs_fake_info.inc sxs_guest_events.inc \
                 sxs_guest_info.inc sxs_profiler.h sxs_profiler.inc \
                 sxs_guest_test.inc)
IL_GEN      := $(addprefix $(O)/gen/,sxs_il_opcodes.h sxs_il_opcodes.inc)
CONFIG_GEN  := $(O)/gen/config_schema.h
GUESTS_GEN  := $(O)/gen/guests_schema.h
CLRIE_SRC   := $(wildcard clrie/*.c clrie/*/*.c)
CLRIE_GEN   := $(O)/gen/sxs_clrie.h $(O)/gen/sxs_clrie.inc

obj = $(patsubst %.c,$(O)/obj/%.o,$(1))
LIB_OBJ   := $(call obj,$(LIB_SRC)) $(patsubst %.S,$(O)/obj/%.o,$(LIB_ASM)) $(O)/obj/gen/sxs_abi.o $(O)/obj/gen/sxs_info.o
ENGINE_OBJ := $(call obj,$(ENGINE_SRC))
# What is constant is linked into both libraries: clrie/link/needs.h has functions only.
ENGINE_CONSTANTS := $(O)/obj/gen/sxs_abi.o $(O)/obj/instr/il/opcode.o
# Unit tests contain the library, and the engine without its export.
TESTED_OBJ := $(filter-out %/clrie/link/link.o,$(LIB_OBJ)) $(filter-out %/clrie/entry/entry.o,$(ENGINE_OBJ)) $(O)/obj/tests/unit/clrie_linked.o
UNIT_BIN  := $(patsubst tests/unit/%.c,$(O)/tests/%,$(UNIT_SRC))
COMPLETION := $(O)/completion/sxsprof $(O)/completion/_sxsprof
FAKE_LIBS := $(patsubst %,$(O)/fakeclr/%/libcoreclr.so,$(FAKE_VERSIONS))

XML_CFLAGS := $(shell xml2-config --cflags 2>/dev/null || pkg-config --cflags libxml-2.0)

# libunwind and libxml2 are opened with dlopen(); see base/own_library.h.
LIB_LIBS := -ldl -lpthread
# libarchive is linked statically, without the parts that the command does not use: they would bring libxml2 and ICU.
# liblzma and libbz2 are libraries of libdw, which those parts of libarchive name, too.
# libseccomp is linked statically, so that the filter of system calls never lacks its library.
# libstdc++ only for its demangler, which is plain C: linked statically, it needs nothing else.
CMD_LIBS := -Wl,--gc-sections -Wl,-Bstatic -larchive -lseccomp -Wl,-Bdynamic -l:libzstd.so.1 -l:liblzma.so.5 -l:libbz2.so.1.0 -ljansson -ldw -lelf -lz -lprotobuf-c -lm \
            -Wl,-Bstatic -lstdc++ -Wl,-Bdynamic

.PHONY: all help sessions check check-run check-loop check-attach check-threads demo demo-run demo-fleet bench-fleet bench bench-run soak soak-run lint format \
        install uninstall tarball deb make-tarball make-deb check-packages clean setup present abi-check unit hosts host-programs
.PHONY: FORCE
.DELETE_ON_ERROR:
.SECONDARY:

all: $(O)/libsxsprof.so $(O)/libsxsprof-clrie.so $(O)/libInstrumentationEngine.so $(O)/libsxsprof-preload.so $(O)/libsxsprof-malloc.so $(O)/libsxsil.a $(O)/sxsprof $(O)/runsxs $(O)/libsxsbridge.so \
     $(O)/libsxsplugin.so $(FAKE_LIBS) $(COMPLETION)

help:
	@echo 'all (default)   the library, the command, the harness, the simulated runtimes, in $(O)/'
	@echo 'setup           installs Debian packages (with sudo if necessary), then gets runtimes, apps and tools into build/'
	@echo '                GROUPS="lint hosts ...": more groups of setup/packages.txt; GROUPS=all. No other target installs'
	@echo 'demo            three real CLRs in one process, profiled'
	@echo 'check           every test'
	@echo '                JOBS=N at a time (default: one per processor)'
	@echo '                TESTS=TEXT: test programs whose path contains it, such as TESTS=integration/hops.sh'
	@echo '                SHARD=1/4: the first of four parts, which take about the same time'
	@echo '                CASE=TEXT: cases whose name contains it; of a script, which runs whole, the results'
	@echo 'check-run       the same without building: make check-run TESTS=test_elf CASE=damaged'
	@echo 'check-packages  installs the packages and the tarball on bare Debian roots (as root; Debian mirror)'
	@echo 'check-attach    attaches in every way, many times, to each runtime'
	@echo 'check-threads   on simulated runtimes under the thread sanitizer'
	@echo 'check-loop      those of races, N=20 times'
	@echo 'SAN=... check   the same on simulated runtimes under address,undefined or thread'
	@echo 'demo-fleet      a hundred simulated machines in ClickHouse, and one flame graph of them'
	@echo 'bench-fleet     ClickHouse with 10^9 samples of 1,000 simulated machines (ROWS=1e8 SAMPLES=1e9)'
	@echo 'bench           measurements into docs/internals/bench.md'
	@echo 'soak            hundreds of runs of four runtimes, 500 edits, 30 min of sampling under stress'
	@echo '                (RUNS=200 MINUTES=30)'
	@echo 'sessions        200 sessions of every tool: what they leave in a process (N=190 MODES="start attach ring")'
	@echo 'hosts           every host of tests/hosts/ with every tool, again and again (RUNS=50 HOSTS=*)'
	@echo 'lint, format    clang-tidy, cppcheck, layering, signal safety; clang-format'
	@echo 'install         PREFIX=$(PREFIX) DESTDIR=$(DESTDIR) LIB=$(LIB) (of libsxsil.a, below PREFIX)'
	@echo 'uninstall       removes what install put there; the same variables'
	@echo 'deb, tarball    Debian packages into $(O)/deb/; a folder that runs anywhere into $(O)/ (no root needed)'
	@echo 'clean           removes $(O)/, except the runtimes in it'

# ---- generated -------------------------------------------------------------------------------

$(GEN) &: manager/abi/gen_abi.py $(wildcard manager/abi/*.tsv)
	$(call say,GEN,$(O)/gen)
	$(Q)python3 manager/abi/gen_abi.py manager/abi $(O)/gen

$(IL_GEN) &: instr/il/gen_opcodes.py instr/il/opcodes.tsv
	@mkdir -p $(@D)
	$(call say,GEN,$(O)/gen/sxs_il_opcodes.h)
	$(Q)python3 instr/il/gen_opcodes.py instr/il/opcodes.tsv $(O)/gen

# The generator looks up which functions of the slots are written.
$(CLRIE_GEN) &: clrie/object/gen_classes.py clrie/object/classes.tsv clrie/object/optional.tsv manager/abi/interfaces.tsv $(CLRIE_SRC)
	@mkdir -p $(@D)
	$(call say,GEN,$(O)/gen/sxs_clrie.h)
	$(Q)python3 clrie/object/gen_classes.py manager/abi clrie/object/classes.tsv $(O)/gen $(CLRIE_SRC)

$(call obj,$(CLRIE_SRC) tests/unit/clrie_linked.c): $(CLRIE_GEN)

# Calls of every slot, for the tests.
$(O)/gen/sxs_clrie_test.inc: clrie/object/gen_slots.py clrie/object/gen_classes.py clrie/object/classes.tsv manager/abi/interfaces.tsv
	@mkdir -p $(@D)
	$(call say,GEN,$@)
	$(Q)python3 clrie/object/gen_slots.py manager/abi clrie/object/classes.tsv $@

$(O)/tests/test_clrie_slots: $(O)/gen/sxs_clrie_test.inc

$(CONFIG_GEN): instr/config/embed_schema.py instr/config/instrumentation.xsd
$(GUESTS_GEN): instr/config/embed_schema.py guests/config/guests.xsd
$(CONFIG_GEN) $(GUESTS_GEN):
	@mkdir -p $(@D)
	$(call say,GEN,$@)
	$(Q)python3 $^ $@

$(O)/obj/instr/config/schema.o: $(CONFIG_GEN)
$(O)/obj/guests/config/file.o: $(GUESTS_GEN)

SONAMES := $(O)/gen/sxs_sonames.h

$(SONAMES): base/gen_sonames.sh
	@mkdir -p $(@D)
	$(call say,GEN,$@)
	$(Q)CC='$(CC)' sh $< >$@

$(O)/obj/instr/config/libxml.o $(O)/obj/stackwalk/fast/unwind_library.o $(O)/obj/cmd/doctor_library.o $(O)/obj/sampling/handler.o $(O)/obj/cmd/serve/microhttpd.o: $(SONAMES)

PAGE_GEN := $(addprefix $(O)/gen/sxs_,page.h heap_page.h list_page.h)
CMD_GEN := $(PAGE_GEN) $(addprefix $(O)/gen/,profile.pb-c.h names.pb-c.h otlp.pb-c.h)

# The pages: modules and style sheets in one script and one style each, made small by esbuild. Browsers of 2021 and later.
ESBUILD ?= esbuild
ESBUILD_FLAGS := --bundle --minify --charset=utf8 --target=chrome92,firefox91,safari15 --log-level=warning --log-limit=0

$(O)/gen/page/%.js $(O)/gen/page/%.css &: cmd/page/%.js cmd/page/%.css $(wildcard cmd/page/*.js cmd/page/*.css)
	@mkdir -p $(@D)
	@command -v $(ESBUILD) >/dev/null || { echo 'esbuild is missing (make setup installs it; Debian: esbuild)' >&2; exit 1; }
	$(call say,BUNDLE,$@)
	$(Q)$(ESBUILD) $(ESBUILD_FLAGS) cmd/page/$*.js cmd/page/$*.css --outdir=$(@D)

$(O)/gen/sxs_page.h: PAGE := page
$(O)/gen/sxs_heap_page.h: PAGE := heap
$(O)/gen/sxs_list_page.h: PAGE := list
$(O)/gen/sxs_page.h: $(O)/gen/page/page.js $(O)/gen/page/page.css
$(O)/gen/sxs_heap_page.h: $(O)/gen/page/heap.js $(O)/gen/page/heap.css
$(O)/gen/sxs_list_page.h: $(O)/gen/page/list.js $(O)/gen/page/list.css

$(PAGE_GEN): $(O)/gen/sxs_%.h: cmd/page/embed.py $(wildcard cmd/page/*.html)
	$(call say,GEN,$@)
	$(Q)python3 cmd/page/embed.py cmd/page/begin.html cmd/page/$(PAGE).html cmd/page/end.html $(O)/gen/page/$(PAGE).js $(O)/gen/page/$(PAGE).css $* $@

$(O)/gen/%.pb-c.c $(O)/gen/%.pb-c.h: cmd/report/%.proto
	@mkdir -p $(@D)
	$(call say,GEN,$@)
	$(Q)protoc-c --proto_path=$(<D) --c_out=$(O)/gen $<

$(O)/gen/%.pb-c.c $(O)/gen/%.pb-c.h: cmd/symbols/%.proto
	@mkdir -p $(@D)
	$(call say,GEN,$@)
	$(Q)protoc-c --proto_path=$(<D) --c_out=$(O)/gen $<

$(O)/gen/%.pb-c.c $(O)/gen/%.pb-c.h: cmd/push/%.proto
	@mkdir -p $(@D)
	$(call say,GEN,$@)
	$(Q)protoc-c --proto_path=$(<D) --c_out=$(O)/gen $<

$(call obj,$(wildcard cmd/report/*.c cmd/symbols/*.c cmd/heap/*.c cmd/serve/*.c cmd/push/*.c)): $(CMD_GEN)

# The header is written only when the commit has changed.
$(O)/gen/sxs_commit.h: FORCE
	@mkdir -p $(@D)
	$(Q)sh cmd/commit.sh $@

$(O)/obj/cmd/options.o: $(O)/gen/sxs_commit.h

# ---- objects ---------------------------------------------------------------------------------

# Objects are made again when the flags have changed: a folder never holds a mixture.
BUILT_WITH := $(CC) $(CPPFLAGS) $(CFLAGS) $(LDFLAGS)

$(O)/gen/flags: FORCE
	@mkdir -p $(@D)
	@printf '%s\n' '$(subst ','\'',$(BUILT_WITH))' | cmp -s - $@ || printf '%s\n' '$(subst ','\'',$(BUILT_WITH))' >$@

$(O)/obj/gen/%.o: $(O)/gen/%.c $(GEN) $(O)/gen/flags
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c $< -o $@

$(O)/obj/%.o: %.c $(GEN) $(IL_GEN) $(O)/gen/flags
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c $< -o $@

$(call obj,$(CONFIG_SRC) guests/config/file.c clrie/config/file.c clrie/config/nodes.c clrie/config/attach.c): override CPPFLAGS += $(XML_CFLAGS)

$(O)/obj/%.o: %.S $(O)/gen/flags
	@mkdir -p $(@D)
	$(call say,AS,$<)
	$(Q)$(CC) -I. -MMD -MP -c $< -o $@

# Compiled code may hold values in vector registers while a hook runs, so fast.c must not use them,
# and no sanitizer may add code that does.
$(O)/obj/tools/calls/fast.o: override CFLAGS := $(filter-out -fsanitize=%,$(CFLAGS)) -mgeneral-regs-only

# No sibling calls: interposed functions identify their callers by return address.
$(O)/obj/signals/%.o: override CFLAGS += -fno-optimize-sibling-calls

# ---- libraries and programs ------------------------------------------------------------------

$(O)/libsxsprof.so: $(LIB_OBJ) callback/exports.map
	$(call say,LINK,$@)
	$(Q)$(CC) $(SHARED) $(LDFLAGS) -Wl,--version-script=callback/exports.map \
	    -Wl,-soname,libsxsprof.so -Wl,-rpath,'$$ORIGIN' -o $@ $(LIB_OBJ) $(LIB_LIBS)

# The engine for plug-ins, which the library loads when they are wanted (clrie/link/link.h).
$(O)/libsxsprof-clrie.so: $(ENGINE_OBJ) $(ENGINE_CONSTANTS) $(O)/obj/arch/$(ARCH)/clrie/stubs.o clrie/entry/exports.map
	$(call say,LINK,$@)
	$(Q)$(CC) $(SHARED) $(LDFLAGS) -Wl,--version-script=clrie/entry/exports.map -Wl,-soname,libsxsprof-clrie.so -o $@ \
	    $(filter %.o,$^) -ldl -lpthread

# The name of the CLR Instrumentation Engine, by which its plug-ins look for it; see
# callback/engine_entry.h for the link and for the run path.
$(O)/libInstrumentationEngine.so: $(O)/libsxsprof.so
	$(call say,LINK,$@)
	$(Q)ln -sfn libsxsprof.so $@

# The preloaded library runs before a sanitizer is initialized, so it is never instrumented.
PRELOAD_OBJ := $(patsubst %.c,$(O)/obj/preload/%.o,$(PRELOAD_SRC))

$(O)/obj/preload/%.o: override CFLAGS := $(filter-out -fsanitize=% -DSXS_SANITIZED,$(CFLAGS)) \
                                         -fno-optimize-sibling-calls
$(O)/obj/preload/%.o: %.c $(GEN) $(O)/gen/flags
	@mkdir -p $(@D)
	$(call say,CC,$< (preload))
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c $< -o $@

$(O)/libbase-preload.a: $(filter $(O)/obj/preload/base/%,$(PRELOAD_OBJ))
	$(call say,AR,$@)
	$(Q)rm -f $@ && $(AR) rcs $@ $^

$(O)/libsxsprof-preload.so: $(filter-out $(O)/obj/preload/base/%,$(PRELOAD_OBJ)) $(O)/libbase-preload.a signals/preload/exports.map
	$(call say,LINK,$@)
	$(Q)$(CC) -shared -Wl,-z,now,-z,defs -Wl,--version-script=signals/preload/exports.map \
	    -Wl,-soname,libsxsprof-preload.so -o $@ $(filter %.o %.a,$^) -ldl -lpthread

# The preloaded allocator runs in every program, before anything else is initialized: it is never
# instrumented. Its functions call the next ones by jumps, without a frame. The C library's names for
# memory have no meaning of their own for the compiler here.
MALLOC_OBJ := $(call obj,$(MALLOC_SRC))

$(MALLOC_OBJ): override CFLAGS := $(filter-out -fsanitize=% -DSXS_SANITIZED -fno-omit-frame-pointer,$(CFLAGS)) \
                                  -O2 -fomit-frame-pointer -fno-builtin

$(O)/libsxsprof-malloc.so: $(MALLOC_OBJ) allocator/exports.map
	$(call say,LINK,$@)
	$(Q)$(CC) -shared -Wl,-z,now,-z,defs -Wl,-Bsymbolic -Wl,--version-script=allocator/exports.map \
	    -Wl,-soname,libsxsprof-malloc.so -o $@ $(MALLOC_OBJ) -ldl

$(O)/obj/gen/profile.pb-c.o $(O)/obj/gen/names.pb-c.o $(O)/obj/gen/otlp.pb-c.o: override CFLAGS += -Wno-cast-qual

# The IL library, also for other programs.
$(O)/libsxsil.a: $(call obj,$(IL_SRC))
	$(call say,AR,$@)
	$(Q)rm -f $@ && $(AR) rcs $@ $^

# The command links from base/ only what it uses.
$(O)/libbase.a: $(call obj,$(filter base/%,$(call linked,command)))
	$(call say,AR,$@)
	$(Q)rm -f $@ && $(AR) rcs $@ $^

$(O)/sxsprof: $(call obj,$(CMD_SRC)) $(O)/obj/gen/profile.pb-c.o $(O)/obj/gen/names.pb-c.o $(O)/obj/gen/otlp.pb-c.o $(O)/libbase.a
	$(call say,LINK,$@)
	$(Q)$(CC) $(LDFLAGS) -o $@ $^ $(CMD_LIBS)

# Completion for shells, from the command's own tables of options.
$(COMPLETION): $(O)/sxsprof
	@mkdir -p $(@D)
	$(call say,GEN,$@)
	$(Q)$< --completion $(if $(filter _%,$(@F)),zsh,bash) >$@

# With libm, like the dotnet command, because a library of .NET 9.0 (System.IO.Compression) uses
# libm without naming it as needed.
$(O)/runsxs: $(call obj,$(RUNSXS_SRC))
	$(call say,LINK,$@)
	$(Q)$(CC) $(LDFLAGS) -rdynamic -o $@ $^ -ldl -lpthread -Wl,--no-as-needed -lm

$(O)/libsxsbridge.so: $(call obj,$(BRIDGE_SRC))
	$(call say,LINK,$@)
	$(Q)$(CC) $(SHARED) $(LDFLAGS) -Wl,-soname,libsxsbridge.so -o $@ $^ -ldl -lpthread

# Without frame pointers, so that walkers need its unwind table.
$(O)/libsxsplugin.so: harness/plugin/plugin.c
	$(call say,LINK,$@)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -fomit-frame-pointer $(SHARED) $(LDFLAGS) -Wl,--build-id \
	    -Wl,-soname,libsxsplugin.so -o $@ $<

# Libraries that tests preload: libfailing.so lets allocations fail, libhook_memory.so finds
# allocations in hooks. Never instrumented.
$(O)/tests/libfailing.so: harness/failing/failing.c
$(O)/tests/libhook_memory.so: harness/hook_memory/hook_memory.c
$(O)/tests/libfailing.so $(O)/tests/libhook_memory.so:
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) $(CPPFLAGS) $(filter-out -fsanitize=%,$(CFLAGS)) -fno-builtin -shared -o $@ $<

# A library that a test preloads: it makes the finalizer thread suspend the other threads slowly.
$(O)/tests/libdelaying.so: harness/delaying/delaying.c
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) $(CPPFLAGS) $(filter-out -fsanitize=%,$(CFLAGS)) -shared -o $@ $<

# A plug-in library whose classes are in the test program.
$(O)/tests/librelay.so: tests/unit/relay/relay.c $(GEN)
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) $(CPPFLAGS) $(filter-out -fsanitize=%,$(CFLAGS)) -shared -o $@ $<

$(O)/tests/test_clrie_engine: $(O)/tests/librelay.so

# Profilers that tests run directly and as guests: profiler.c, which they share, and one file each.
$(O)/guests/lib%.so: tests/guests/%.c tests/guests/profiler.c $(wildcard tests/guests/*.h) $(GEN)
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) $(SHARED) $(LDFLAGS) -Wl,-Bsymbolic -o $@ $< tests/guests/profiler.c \
	    $(O)/gen/sxs_abi.c -ldl -lpthread

# Instrumentation methods that tests run: plugin.c, which they share, and one file each, with a
# configuration file.
$(O)/clrie/lib%.so: tests/clrie/%.c tests/clrie/plugin.c $(wildcard tests/clrie/*.h) $(GEN)
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) $(SHARED) $(LDFLAGS) -Wl,-soname,lib$*.so -o $@ $< \
	    tests/clrie/plugin.c $(O)/gen/sxs_abi.c -ldl -lpthread

$(O)/fakeclr/%/libcoreclr.so: $(FAKE_SRC) $(wildcard tests/fake/*.h) $(GEN)
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) $(SHARED) $(LDFLAGS) -Wl,-Bsymbolic \
	    -DFAKECLR_VERSION='"$*"' $(FAKE_SRC) $(O)/gen/sxs_abi.c -o $@ -ldl -lpthread

READ_OBJ := $(call obj,$(READ_SRC))

CASE_OBJ := $(call obj,tests/unit/case_filter.c)

$(O)/tests/%: tests/unit/%.c $(CASE_OBJ) $(TESTED_OBJ) $(READ_OBJ)
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP $(LDFLAGS) -rdynamic -o $@ $< $(CASE_OBJ) $(TESTED_OBJ) \
	    $(READ_OBJ) $(LIB_LIBS) -lunwind -lcmocka -lm

# The library's half of the pair of libraries: it looks for the other one in the folder of this program.
$(O)/tests/libsxsprof-clrie.so: $(O)/libsxsprof-clrie.so
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)ln -sfn ../libsxsprof-clrie.so $@

$(O)/tests/test_clrie_link: tests/unit/test_clrie_link.c $(CASE_OBJ) $(LIB_OBJ) $(O)/tests/libsxsprof-clrie.so
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP $(LDFLAGS) -o $@ $(filter %.c %.o,$^) $(LIB_LIBS) -lcmocka

# The test program of reports, and fuzz drivers of the readers of samples, PDBs, calls and
# instrumented methods.
PROFILE_OBJ := $(call obj,$(wildcard cmd/live/*.c cmd/report/*.c cmd/symbols/*.c cmd/confined/*.c cmd/processes/*.c control/message/*.c cmd/heap/*.c cmd/costs/*.c cmd/traces/*.c) cmd/calls/load.c cmd/calls/replay.c \
                 cmd/calls/coverage_gaps.c cmd/calls/coverage_gaps_text.c cmd/instrument/load.c cmd/output/missing.c cmd/output/opened.c cmd/output/processes.c cmd/output/runtime_pairs.c cmd/output/thread_list.c cmd/output/segments.c cmd/output/joined.c cmd/output/output_file.c cmd/output/temporary.c cmd/output/text.c cmd/output/print.c cmd/output/names_of_values.c cmd/output/strings.c cmd/output/table_hash.c cmd/output/shown.c cmd/output/json_values.c cmd/output/json_stream.c cmd/output/json_document.c tools/options/calls_options.c tools/options/tool_options.c $(READ_SRC) $(FORMAT_SRC) $(FACTS_SRC)) \
               $(addprefix $(O)/obj/gen/,profile.pb-c.o names.pb-c.o otlp.pb-c.o)

# Unit tests of the preloaded allocator: of its parts, and of the library, which the test program
# links with as the first of its libraries.
ALLOCATOR_OBJ := $(call obj,$(addprefix allocator/,sampling.c live.c mappings.c pace.c))

$(O)/tests/test_allocator_sampling: tests/unit/test_allocator_sampling.c $(CASE_OBJ) $(ALLOCATOR_OBJ)
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP $(LDFLAGS) -o $@ $(filter %.c %.o,$^) -lcmocka -lpthread -lm

$(O)/tests/test_allocator: tests/unit/test_allocator.c $(CASE_OBJ) $(O)/libsxsprof-malloc.so
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -fno-builtin -MMD -MP $(LDFLAGS) -o $@ $(filter %.c %.o,$^) \
	    -Wl,--no-as-needed,-rpath,'$$ORIGIN/..' $(O)/libsxsprof-malloc.so -lcmocka -lpthread -lm

# The control socket without the sessions and the ring, which the test program stands in for.
CONTROL_OBJ := $(filter-out %/runtimes.o $(call obj,$(wildcard control/ring*.c)),$(call obj,$(wildcard control/*.c control/message/*.c))) $(call obj,$(filter base/% signals/%,$(LIB_SRC)))

$(O)/tests/test_control: tests/unit/test_control.c tests/unit/sessions_stub.h $(CASE_OBJ) $(CONTROL_OBJ)
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -Wno-missing-prototypes -MMD -MP $(LDFLAGS) -o $@ $(filter %.c %.o,$^) -lcmocka -lpthread -ldl

# The ring without sessions, runtimes and their thread, which the test program stands in for.
RING_OBJ := $(call obj,$(wildcard control/ring*.c control/duration_env.c control/ring/*.c control/keep/*.c control/message/*.c) manager/watch.c \
              $(filter base/% signals/% tools/options/% session/write/% session/format/% runtime_facts/%,$(LIB_SRC)))

$(O)/tests/test_ring: tests/unit/test_ring.c $(CASE_OBJ) $(RING_OBJ)
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -Wno-missing-prototypes -MMD -MP $(LDFLAGS) -o $@ $(filter %.c %.o,$^) -lcmocka -lpthread -ldl

$(O)/tests/fuzz_control: tests/fuzz/fuzz_control.c tests/fuzz/fuzz.h tests/unit/sessions_stub.h $(CONTROL_OBJ)
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -Wno-missing-prototypes $(LDFLAGS) -o $@ $(filter %.c %.o,$^) -lpthread -ldl

# Unit tests of the command's own folders.
CMD_UNIT := $(addprefix $(O)/tests/,test_names_table test_heap_graph test_cost_sums test_cost_intervals test_wait_class \
              test_own test_diff_versions test_live test_push test_clickhouse \
              test_fleet_select test_fleet_functions test_condition test_segments test_symbol_worker test_table_hash test_numbers)

$(O)/tests/test_cost_intervals: $(call obj,tools/alloc/events.c)
$(O)/tests/test_push: $(call obj,$(wildcard cmd/push/*.c cmd/http/*.c))

$(O)/tests/test_serve_request: tests/unit/test_serve_request.c $(CASE_OBJ) $(O)/obj/cmd/serve/request.o
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP $(LDFLAGS) -o $@ $(filter %.c %.o,$^) -lcmocka

$(CMD_UNIT): $(O)/tests/%: tests/unit/%.c $(PROFILE_OBJ) $(O)/libsxsil.a $(O)/libbase.a
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP $(LDFLAGS) -o $@ $(filter %.c %.o,$^) $(filter %.a,$^) $(CMD_LIBS) -lcmocka

$(O)/tests/test_confined: tests/unit/test_confined.c $(CASE_OBJ) $(call obj,$(wildcard cmd/confined/*.c)) $(O)/libbase.a
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP $(LDFLAGS) -o $@ $(filter %.c %.o,$^) $(filter %.a,$^) -lseccomp -lcmocka -lpthread

# Unit tests of cmd/processes.
PROCESSES_OBJ := $(call obj,$(wildcard cmd/processes/*.c cmd/confined/*.c control/message/*.c))

$(O)/tests/test_processes: tests/unit/test_processes.c $(CASE_OBJ) $(PROCESSES_OBJ) $(PROFILE_OBJ) $(O)/libsxsil.a $(O)/libbase.a
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP $(LDFLAGS) -o $@ $(filter %.c %.o %.a,$^) $(CMD_LIBS) -lcmocka

$(O)/tests/report_main: tests/profile/report_main.c $(PROFILE_OBJ) $(O)/libsxsil.a $(O)/libbase.a
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) $(LDFLAGS) -o $@ $(filter %.c %.o %.a,$^) $(CMD_LIBS)

$(O)/tests/test_clickhouse $(O)/tests/test_fleet_select $(O)/tests/test_fleet_functions: $(call obj,$(wildcard cmd/clickhouse/*.c cmd/http/*.c) cmd/fleet/functions.c cmd/fleet/rows.c cmd/fleet/select.c cmd/fleet/when.c cmd/fleet/server.c)

# Loads sessions into ClickHouse, one or as many simulated machines.
$(O)/tests/fleet_load: tests/fleet/load.c $(call obj,cmd/push/batches.c cmd/push/labels.c cmd/push/out.c cmd/fleet/target.c cmd/fleet/joining.c $(wildcard cmd/clickhouse/*.c cmd/http/*.c)) \
        $(PROFILE_OBJ) $(O)/libsxsil.a $(O)/libbase.a
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) $(LDFLAGS) -o $@ $(filter %.c %.o %.a,$^) $(CMD_LIBS)

$(O)/tests/fuzz_%: tests/fuzz/fuzz_%.c $(wildcard tests/fuzz/*.h tests/profile/*.h) $(PROFILE_OBJ) \
        $(O)/libsxsil.a $(O)/libbase.a
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) $(LDFLAGS) -o $@ $< $(filter %.o,$^) $(O)/libsxsil.a $(O)/libbase.a $(CMD_LIBS)

# The fuzz driver of answers stands for the processes that give them.
$(O)/tests/fuzz_worker: tests/fuzz/fuzz_worker.c tests/fuzz/fuzz.h $(PROFILE_OBJ) $(O)/libsxsil.a $(O)/libbase.a
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) $(LDFLAGS) -o $@ $< $(filter-out %/worker_process.o,$(filter %.o,$^)) \
	    $(O)/libsxsil.a $(O)/libbase.a $(CMD_LIBS)

$(O)/tests/fuzz_config: tests/fuzz/fuzz_config.c $(call obj,$(CONFIG_SRC) $(IL_SRC))
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) $(LDFLAGS) -o $@ $< $(filter %.o,$^) -ldl -lpthread

$(O)/tests/fuzz_serve: tests/fuzz/fuzz_serve.c tests/fuzz/fuzz.h $(O)/obj/cmd/serve/request.o
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) $(LDFLAGS) -o $@ $(filter %.c %.o,$^)

CLRIE_CONFIG_OBJ := $(call obj,$(wildcard clrie/config/*.c))

$(O)/tests/fuzz_clrie: tests/fuzz/fuzz_clrie.c tests/fuzz/fuzz.h $(CLRIE_CONFIG_OBJ) $(call obj,$(CONFIG_SRC)) $(O)/libsxsil.a $(O)/libbase.a
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) $(LDFLAGS) -o $@ $< $(filter %.o,$^) $(O)/libsxsil.a $(O)/libbase.a -ldl -lpthread

$(O)/tests/fuzz_message: tests/fuzz/fuzz_message.c tests/fuzz/fuzz.h $(call obj,$(wildcard control/message/*.c))
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) $(LDFLAGS) -o $@ $< $(filter %.o,$^)

$(O)/tests/fuzz_calls: tests/profile/make_calls.c
$(O)/tests/fuzz_calls: $(filter-out $(PROFILE_OBJ),$(call obj,$(wildcard cmd/calls/*.c)))
$(O)/tests/fuzz_heap: tests/profile/make_heap.c
$(O)/tests/fuzz_pack: $(call obj,$(wildcard cmd/pack/*.c))
$(addprefix $(O)/tests/fuzz_,answer diagnostics proc names): $(filter-out $(PROFILE_OBJ),$(PROCESSES_OBJ))
$(O)/tests/fuzz_instrument: tests/profile/make_instrument.c tests/fuzz/fuzz.h
$(O)/tests/fuzz_instrument: $(filter-out $(PROFILE_OBJ),$(call obj,$(wildcard cmd/instrument/*.c) cmd/output/json_values.c cmd/output/json_stream.c))

# The fuzz driver of whole sessions runs the command's verbs. The programs that make its session are
# linked in, each with its main() renamed.
MAKERS := $(addprefix $(O)/obj/tests/profile/make_,calls.o events.o instrument.o guests.o)

$(MAKERS): $(O)/obj/tests/profile/make_%.o: tests/profile/make_%.c $(wildcard tests/profile/*.h)
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -Wno-missing-prototypes -Dmain=make_$* -MMD -MP -c $< -o $@

$(O)/tests/fuzz_report: tests/fuzz/fuzz.h $(MAKERS) $(filter-out $(PROFILE_OBJ) %/main.o,$(call obj,$(CMD_SRC)))

# The suite of hosts (docs/internals/hosts.md): programs that host runtimes, code that they share, and
# allocators to preload.
HOSTING_OBJ := $(call obj,tests/hosts/hosting.c tests/hosts/state.c harness/clr.c harness/library.c \
                 harness/properties.c harness/self.c)
# Linked without the shared code and never sanitized: one faults on purpose, the other is an
# allocator.
HOSTING_ALONE := $(addprefix $(O)/hosts/,gone_stacks reserving)
HOSTING_BIN := $(filter-out $(HOSTING_ALONE),$(patsubst tests/hosts/programs/%.c,$(O)/hosts/%,$(wildcard tests/hosts/programs/*.c)))

$(HOSTING_BIN): $(O)/hosts/%: tests/hosts/programs/%.c $(HOSTING_OBJ)
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) $(LDFLAGS) -rdynamic -o $@ $< $(HOSTING_OBJ) -ldl -lpthread -Wl,--no-as-needed -lm

$(HOSTING_ALONE): $(O)/hosts/%: tests/hosts/programs/%.c tests/hosts/one_clr.h
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) $(CPPFLAGS) $(filter-out -fsanitize=%,$(CFLAGS)) -fno-builtin -Wno-missing-prototypes -o $@ $< -ldl -lpthread

# The shared code as a library, for hosts in other languages; its functions are exported.
$(O)/hosts/libhosting.so: $(HOSTING_OBJ)
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) $(SHARED) $(LDFLAGS) -Wl,-soname,libhosting.so -o $@ $(HOSTING_OBJ) -ldl -lpthread -Wl,--no-as-needed -lm

# The native methods of the host written in Java.
$(O)/hosts/libhost_jni.so: tests/hosts/jni.c $(HOSTING_OBJ)
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) $(SHARED) $(LDFLAGS) -o $@ $< $(HOSTING_OBJ) -ldl -lpthread -Wl,--no-as-needed -lm

# An allocator: with -fno-builtin the compiler does not replace calls of malloc() and the like.
$(O)/hosts/libreserve.so: tests/hosts/reserve.c
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) $(CPPFLAGS) $(filter-out -fsanitize=%,$(CFLAGS)) -fno-builtin -Wno-missing-prototypes -shared -o $@ $< -lpthread

$(O)/obj/tests/hosts/%.o: override CFLAGS += -fvisibility=default

host-programs: $(HOSTING_BIN) $(HOSTING_ALONE) $(addprefix $(O)/hosts/,libhosting.so libreserve.so libhost_jni.so)

# Programs that process whole assemblies, and the fuzz drivers of the IL library.
$(O)/tests/il_%: tests/instr/%.c tests/instr/tokens.c $(wildcard tests/instr/*.h) $(O)/libsxsil.a
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) $(LDFLAGS) -o $@ $(filter %.c %.a,$^) -lm

IL_FUZZ := $(addprefix $(O)/tests/,fuzz_il fuzz_signature fuzz_assemble fuzz_metadata)

$(IL_FUZZ): $(O)/tests/fuzz_%: tests/fuzz/fuzz_%.c tests/fuzz/fuzz.h $(wildcard tests/instr/*.h) $(O)/libsxsil.a
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) $(LDFLAGS) -o $@ $(filter %.c %.a,$^) -lm

# All programs and libraries that the tests need besides those of `all`.
TEST_PROGRAMS := $(UNIT_BIN) $(IL_FUZZ) \
    $(addprefix $(O)/tests/il_,bodies signatures texts) \
    $(addprefix $(O)/tests/fuzz_,heap samples pdb pack calls instrument report config clrie message control serve \
        answer diagnostics proc names elf worker) \
    $(addprefix $(O)/bench/,bench_walk bench_clock bench_hooks bench_graph) \
    $(O)/tests/report_main $(O)/tests/fleet_load \
    $(O)/tests/libfailing.so \
    $(O)/tests/libdelaying.so \
    $(O)/tests/libhook_memory.so

unit: $(TEST_PROGRAMS)

unit: host-programs
unit: $(patsubst tests/clrie/%.c,$(O)/clrie/lib%.so,$(filter-out tests/clrie/plugin.c,$(wildcard tests/clrie/*.c)))
unit: $(patsubst tests/guests/%.c,$(O)/guests/lib%.so,$(filter-out tests/guests/profiler.c,$(wildcard tests/guests/*.c)))

# ---- check, demo and other targets -----------------------------------------------------------

# The only target that installs packages or fetches anything. The others say in one line what is missing.
setup:
	$(Q)sh setup/setup.sh $(GROUPS)

# Builds the apps and hosts of the tests whose sources have changed, from what setup has fetched.
present:
	$(Q)sh setup/setup.sh --present

# Without -j, one compiler per processor runs. Without the packages of the group "hosts", some hosts are skipped.
check:
	$(Q)sh setup/packages.sh --missing
	$(Q)$(if $(SAN),,sh setup/packages.sh --missing hosts || :)
	$(Q)$(MAKE) --no-print-directory $(if $(filter -j%,$(MAKEFLAGS)),,-j$(shell nproc)) all unit
	$(Q)$(MAKE) --no-print-directory check-run

check-run:
	$(Q)$(if $(SAN),,sh setup/setup.sh --present &&) BUILD=$(O) SAN=$(SAN) sh tests/run.sh

check-loop: all unit
	$(Q)BUILD=$(O) SAN=$(SAN) N=$(or $(N),20) sh tests/loop.sh

# Races: all tests on simulated runtimes under the thread sanitizer. Every tool, a guest and a plug-in are among them.
check-threads:
	$(Q)$(MAKE) --no-print-directory SAN=thread check

check-attach: all
	$(Q)BUILD=$(O) RUNS=20 STEP=50 MOST=1500 ONLY="$(notdir $(wildcard $(O)/runtimes/*))" bash tests/integration/attach_matrix.sh
	$(Q)BUILD=$(O) bash tests/integration/attach_library.sh

demo:
	$(Q)sh setup/packages.sh --missing
	$(Q)$(MAKE) --no-print-directory all
	$(Q)sh setup/setup.sh --present
	$(Q)BUILD=$(O) sh tests/demo.sh

# Benchmarks of the library's walkers, signal handler, session file and clocks.
$(O)/bench/bench_walk $(O)/bench/bench_clock $(O)/bench/bench_hooks $(O)/bench/bench_graph: $(O)/bench/%: tests/bench/%.c \
        $(wildcard tests/bench/*.h) $(TESTED_OBJ)
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) $(CPPFLAGS) $(filter-out -fno-omit-frame-pointer,$(CFLAGS)) -fomit-frame-pointer \
	    $(LDFLAGS) -o $@ $< $(TESTED_OBJ) $(LIB_LIBS) -lunwind

$(O)/bench/bench_il: tests/bench/bench_il.c tests/instr/assembly.h $(O)/libsxsil.a
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) $(LDFLAGS) -o $@ $(filter %.c %.a,$^) -lm

# A hundred simulated machines in a ClickHouse server of its own, and one flame graph of all of them.
demo-fleet:
	$(Q)sh setup/packages.sh --missing build fleet
	$(Q)$(MAKE) --no-print-directory all $(O)/tests/fleet_load
	$(Q)sh setup/setup.sh --present
	$(Q)BUILD=$(O) sh tests/fleet/demo.sh

# ROWS, SAMPLES, DAYS, MACHINES: tests/bench/fleet.py. 10^9 rows need 15 GB of disk and hours.
bench-fleet: present all $(O)/tests/fleet_load
	$(Q)sh setup/packages.sh --missing fleet
	$(Q)BUILD=$(O) sh tests/fleet/bench.sh

bench: all $(addprefix $(O)/bench/bench_,walk clock hooks il graph) $(O)/clrie/libcost.so
	$(Q)sh setup/packages.sh --missing bench
	$(Q)sh setup/setup.sh --present bench
	$(Q)BUILD=$(O) sh tests/bench/run.sh

# 200 sessions of every tool, on every version, begun and ended in each way (N=190 TOOLS="..." MODES="start attach ring").
sessions: present all
	$(Q)BUILD=$(O) N=$(or $(N),190) MODES="$(or $(MODES),start attach ring)" bash tests/integration/sessions_left.sh

soak: present all
	$(Q)BUILD=$(O) sh tests/soak.sh

# Runs each host RUNS (50) times with each tool, with and without the preloaded library.
# HOSTS=PATTERN selects hosts.
hosts: all host-programs
	$(Q)sh setup/packages.sh --missing hosts || :
	$(Q)sh setup/setup.sh --present
	$(Q)BUILD=$(O) python3 tests/hosts/matrix.py --soak "$(or $(RUNS),50)" $(if $(HOSTS),--hosts '$(HOSTS)')

lint: $(GEN) $(O)/gen/sxs_commit.h $(O)/libsxsprof.so $(O)/libsxsprof-clrie.so $(O)/libsxsprof-preload.so $(O)/libsxsprof-malloc.so
	$(Q)sh setup/packages.sh --missing lint || :
	$(Q)BUILD=$(O) $(if $(NODES),NODES=$(NODES)) sh tests/lint/run.sh

format:
	@command -v clang-format >/dev/null || { echo 'format: clang-format is missing; get it by: make setup GROUPS=lint' >&2; exit 1; }
	$(Q)git ls-files '*.c' '*.h' | xargs clang-format -i

# ---- installation ----------------------------------------------------------------------------

# LIB: folder of libsxsil.a below PREFIX
LIB ?= lib

install: all
	$(Q)BUILD=$(O) VERSION=$(VERSION) sh packaging/files.sh install $(DESTDIR)$(PREFIX) $(LIB)

uninstall:
	$(Q)BUILD=$(O) sh packaging/files.sh uninstall $(DESTDIR)$(PREFIX) $(LIB)

# The packages are built without root; `setup` is not needed when their tools are there.
# What is missing is said before anything is compiled.
tarball deb:
	$(Q)sh setup/packages.sh --missing build archives
	$(Q)$(MAKE) --no-print-directory $(if $(filter -j%,$(MAKEFLAGS)),,-j$(shell nproc)) all
	$(Q)$(MAKE) --no-print-directory -o all make-$@

make-tarball: all
	$(Q)BUILD=$(O) VERSION=$(VERSION) CC='$(CC)' sh packaging/tarball.sh

check-packages: all
	$(Q)sh setup/packages.sh --missing archives packages
	$(Q)$(MAKE) --no-print-directory -o all make-deb make-tarball
	$(Q)BUILD=$(O) bash tests/packages/run.sh

make-deb: all
	$(Q)BUILD=$(O) VERSION=$(VERSION) CC='$(CC)' sh packaging/deb.sh

clean:
	$(Q)[ ! -d $(O) ] || find $(O) -mindepth 1 -maxdepth 1 ! -name runtimes -exec rm -rf {} +

-include $(shell find $(O)/obj $(O)/tests -name '*.d' 2>/dev/null)
