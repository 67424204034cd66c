# SPDX-License-Identifier: MIT
# sxsprof. `make help` lists the targets; V=1 shows commands, O=DIR builds elsewhere, CC=clang or gcc,
# DEBUG=1 turns assertions on and warnings into errors, SAN=address,undefined or SAN=thread.

MAKEFLAGS += -rR --no-print-directory
VERSION := 0.1.0
comma   := ,
SAN     ?=
O       ?= build$(if $(SAN),/san-$(subst $(comma),-,$(SAN)))
V       ?= 0
Q       := $(if $(filter 1,$(V)),,@)
say      = @printf '  %-7s %s\n' '$(1)' '$(2)'

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
CFLAGS   ?= -O2 -g
override CFLAGS += -std=gnu11 $(WARNINGS) -fvisibility=hidden -fPIC -fno-omit-frame-pointer \
                   $(if $(DEBUG),-Werror) $(if $(SAN),-fsanitize=$(SAN) -DSXS_SANITIZED)
LDFLAGS  += -Wl,-z,now $(if $(SAN),-fsanitize=$(SAN))
# A sanitizer's runtime is found in the program, not in each library: no -z defs then.
SHARED   := -shared $(if $(SAN),,-Wl$(comma)-z$(comma)defs)

LIB_SRC     := $(wildcard manager/base/*.c manager/*.c record/*_write.c record/*_options.c \
                 tools/*.c instr/*.c config/*.c values/*.c callback/*.c stackwalk/*.c sampler/*.c calls/*.c rewrite/*.c events/*.c) $(filter-out signals/preload.c,$(wildcard signals/*.c))
IL_SRC      := $(wildcard instr/*.c)
CONFIG_SRC  := $(wildcard config/*.c)
PRELOAD_SRC := $(patsubst %,manager/base/%.c,log fork loader task proc descriptors thread) $(filter-out signals/local.c,$(wildcard signals/*.c))
READ_SRC    := $(wildcard record/*_read.c) record/calls_sums.c record/calls_remarks.c
CMD_SRC     := $(wildcard report/*.c report/profile/*.c report/calls/*.c report/events/*.c report/instrument/*.c) \
                 $(READ_SRC) $(wildcard record/*_options.c)
RUNSXS_SRC  := $(wildcard harness/*.c)
BRIDGE_SRC  := $(wildcard harness/bridge/*.c)
FAKE_SRC    := $(wildcard harness/fakeclr/*.c)
UNIT_SRC    := $(wildcard tests/unit/test_*.c)
GEN         := $(addprefix $(O)/gen/,sxs_abi.h sxs_abi.c sxs_events.h sxs_events.inc sxs_info.h \
                 sxs_info.c sxs_callback.inc sxs_fake_info.inc)
IL_GEN      := $(addprefix $(O)/gen/,sxs_il_opcodes.h sxs_il_opcodes.inc)
CONFIG_GEN  := $(O)/gen/config_schema.h

obj = $(patsubst %.c,$(O)/obj/%.o,$(1))
LIB_OBJ   := $(call obj,$(LIB_SRC)) $(O)/obj/callback/elt_x86_64.o $(O)/obj/gen/sxs_abi.o $(O)/obj/gen/sxs_info.o
UNIT_BIN  := $(patsubst tests/unit/%.c,$(O)/tests/%,$(UNIT_SRC))
FAKE_LIBS := $(patsubst %,$(O)/fakeclr/%/libcoreclr.so,$(FAKE_VERSIONS))

XML_CFLAGS := $(shell xml2-config --cflags 2>/dev/null || pkg-config --cflags libxml-2.0)

LIB_LIBS := -lunwind -ldw -ldl -lpthread
# libstdc++ for its demangler alone
CMD_LIBS := -ljansson -ldw -lelf -lz -lprotobuf-c -lstdc++

.PHONY: all help check check-run check-loop demo demo-run bench bench-run soak soak-run lint format \
        install clean setup abi-check unit hosts host-programs
.DELETE_ON_ERROR:
.SECONDARY:

all: $(O)/libsxsprof.so $(O)/libsxsprof-preload.so $(O)/libsxsil.a $(O)/sxsprof $(O)/runsxs $(O)/libsxsbridge.so \
     $(O)/libsxsplugin.so $(FAKE_LIBS) $(O)/obj/callback/elt_aarch64.o

help:
	@echo 'all (default)   the library, the command, the harness, the simulated runtimes, in $(O)/'
	@echo 'demo            three real CLRs in one process, profiled; sets everything up'
	@echo 'check           every test; sets everything up (JOBS=N at a time, TESTS=TEXT only some)'
	@echo 'check-loop      those of races, N=20 times'
	@echo 'SAN=... check   the same on simulated runtimes under address,undefined or thread'
	@echo 'bench           measurements into docs/bench.md'
	@echo 'soak            hundreds of runs of four runtimes, 500 edits, 30 min of sampling under unrest'
	@echo '                (RUNS=200 MINUTES=30)'
	@echo 'hosts           every host of tests/hosts/ with every tool, again and again (RUNS=50 HOSTS=*)'
	@echo 'lint, format    clang-tidy, cppcheck, layering, signal safety; clang-format'
	@echo 'install         PREFIX=$(PREFIX) DESTDIR=$(DESTDIR)'
	@echo 'clean           removes $(O)/ but for the runtimes in it'

# ---- generated -------------------------------------------------------------------------------

$(GEN) &: manager/abi/gen_abi.py $(wildcard manager/abi/*.tsv)
	$(call say,GEN,$(O)/gen)
	$(Q)python3 manager/abi/gen_abi.py manager/abi $(O)/gen

$(IL_GEN) &: instr/gen_opcodes.py instr/opcodes.tsv
	@mkdir -p $(@D)
	$(call say,GEN,$(O)/gen/sxs_il_opcodes.h)
	$(Q)python3 instr/gen_opcodes.py instr/opcodes.tsv $(O)/gen

$(CONFIG_GEN): config/embed_schema.py config/instrumentation.xsd
	@mkdir -p $(@D)
	$(call say,GEN,$@)
	$(Q)python3 $^ $@

$(O)/obj/config/schema.o: $(CONFIG_GEN)

PAGE    := $(wildcard report/profile/page*)
CMD_GEN := $(O)/gen/sxs_page.h $(O)/gen/profile.pb-c.h

$(O)/gen/sxs_page.h: report/profile/embed.py $(PAGE)
	@mkdir -p $(@D)
	$(call say,GEN,$@)
	$(Q)python3 report/profile/embed.py report/profile $@

$(O)/gen/profile.pb-c.c $(O)/gen/profile.pb-c.h &: report/profile/profile.proto
	@mkdir -p $(@D)
	$(call say,GEN,$@)
	$(Q)protoc-c --proto_path=report/profile --c_out=$(O)/gen $<

$(call obj,$(wildcard report/profile/*.c)): $(CMD_GEN)

# ---- objects ---------------------------------------------------------------------------------

$(O)/obj/gen/%.o: $(O)/gen/%.c $(GEN)
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c $< -o $@

$(O)/obj/%.o: %.c $(GEN) $(IL_GEN)
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c $< -o $@

$(call obj,$(CONFIG_SRC)): override CPPFLAGS += $(XML_CFLAGS)

# Hooks for the other processor: assembled, so that they stay good, and not linked.
$(O)/obj/callback/elt_aarch64.o: callback/elt_aarch64.S
	@mkdir -p $(@D)
	$(call say,AS,$<)
	$(Q)$(CC) -E $< | aarch64-linux-gnu-as -o $@ -

$(O)/obj/callback/elt_x86_64.o: callback/elt_x86_64.S calls/offsets.h
	@mkdir -p $(@D)
	$(call say,AS,$<)
	$(Q)$(CC) -I. -c $< -o $@

# Compiled code holds values in vector registers while hooks run; sanitizers know nothing of that.
$(O)/obj/calls/fast.o: override CFLAGS := $(filter-out -fsanitize=%,$(CFLAGS)) -mgeneral-regs-only

# The router lives inside signal handlers of others: no instrumentation there that calls out.
$(O)/obj/signals/%.o: override CFLAGS += -fno-optimize-sibling-calls

# ---- what is built ---------------------------------------------------------------------------

$(O)/libsxsprof.so: $(LIB_OBJ) callback/exports.map
	$(call say,LINK,$@)
	$(Q)$(CC) $(SHARED) $(LDFLAGS) -Wl,--version-script=callback/exports.map \
	    -Wl,-soname,libsxsprof.so -o $@ $(LIB_OBJ) $(LIB_LIBS)

# Preloaded, it is at work before a sanitizer is: never instrumented.
PRELOAD_OBJ := $(patsubst %.c,$(O)/obj/preload/%.o,$(PRELOAD_SRC))

$(O)/obj/preload/%.o: override CFLAGS := $(filter-out -fsanitize=% -DSXS_SANITIZED,$(CFLAGS)) \
                                         -fno-optimize-sibling-calls
$(O)/obj/preload/%.o: %.c $(GEN)
	@mkdir -p $(@D)
	$(call say,CC,$< (preload))
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c $< -o $@

$(O)/libsxsprof-preload.so: $(PRELOAD_OBJ) signals/exports.map
	$(call say,LINK,$@)
	$(Q)$(CC) -shared -Wl,-z,now,-z,defs -Wl,--version-script=signals/exports.map \
	    -Wl,-soname,libsxsprof-preload.so -o $@ $(PRELOAD_OBJ) -ldl -lpthread

$(O)/obj/gen/profile.pb-c.o: override CFLAGS += -Wno-cast-qual

# The IL library, for the command, the library and whoever else wants it.
$(O)/libsxsil.a: $(call obj,$(IL_SRC))
	$(call say,AR,$@)
	$(Q)rm -f $@ && $(AR) rcs $@ $^

$(O)/sxsprof: $(call obj,$(CMD_SRC)) $(O)/obj/gen/profile.pb-c.o \
             $(call obj,$(CONFIG_SRC)) $(O)/libsxsil.a
	$(call say,LINK,$@)
	$(Q)$(CC) $(LDFLAGS) -o $@ $^ $(CMD_LIBS)

# With libm, as the dotnet command has it: a library of 9.0 (System.IO.Compression) uses it without naming it.
$(O)/runsxs: $(call obj,$(RUNSXS_SRC))
	$(call say,LINK,$@)
	$(Q)$(CC) $(LDFLAGS) -rdynamic -o $@ $^ -ldl -lpthread -Wl,--no-as-needed -lm

$(O)/libsxsbridge.so: $(call obj,$(BRIDGE_SRC))
	$(call say,LINK,$@)
	$(Q)$(CC) $(SHARED) $(LDFLAGS) -Wl,-soname,libsxsbridge.so -o $@ $^ -ldl -lpthread

# Without frame pointers, so that its unwind table counts.
$(O)/libsxsplugin.so: harness/plugin/plugin.c
	$(call say,LINK,$@)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -fomit-frame-pointer $(SHARED) $(LDFLAGS) -Wl,--build-id \
	    -Wl,-soname,libsxsplugin.so -o $@ $<

# Preloaded by tests: one refuses memory, one finds allocations within hooks. Never instrumented.
$(O)/tests/libfailing.so: harness/failing/failing.c
$(O)/tests/libhook_memory.so: harness/hook_memory/hook_memory.c
$(O)/tests/libfailing.so $(O)/tests/libhook_memory.so:
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) $(CPPFLAGS) $(filter-out -fsanitize=%,$(CFLAGS)) -fno-builtin -shared -o $@ $<

# Preloaded by a test: the finalizer thread is slow to suspend the others.
$(O)/tests/libdelaying.so: harness/delaying/delaying.c
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) $(CPPFLAGS) $(filter-out -fsanitize=%,$(CFLAGS)) -shared -o $@ $<

$(O)/fakeclr/%/libcoreclr.so: $(FAKE_SRC) $(wildcard harness/fakeclr/*.h) $(GEN)
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) $(SHARED) $(LDFLAGS) -Wl,-Bsymbolic \
	    -DFAKECLR_VERSION='"$*"' $(FAKE_SRC) $(O)/gen/sxs_abi.c -o $@ -ldl -lpthread

READ_OBJ := $(call obj,$(READ_SRC))

$(O)/tests/%: tests/unit/%.c $(LIB_OBJ) $(READ_OBJ)
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP $(LDFLAGS) -rdynamic -o $@ $< $(LIB_OBJ) \
	    $(READ_OBJ) $(LIB_LIBS) -lcmocka

# The reports' own test program, and the fuzz drivers of the readers of samples, PDBs, calls and instrumented methods.
PROFILE_OBJ := $(call obj,$(wildcard report/profile/*.c) report/calls/load.c report/calls/replay.c \
                 report/calls/unseen.c report/calls/unseen_text.c report/instrument/load.c report/processes.c report/text.c report/words.c $(READ_SRC)) \
               $(O)/obj/gen/profile.pb-c.o

$(O)/tests/report_main: tests/profile/report_main.c $(PROFILE_OBJ)
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) $(LDFLAGS) -o $@ $< $(PROFILE_OBJ) $(CMD_LIBS)

$(O)/tests/fuzz_%: tests/fuzz/fuzz_%.c $(wildcard tests/fuzz/*.h tests/profile/*.h) $(PROFILE_OBJ)
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) $(LDFLAGS) -o $@ $< $(filter %.o,$^) $(CMD_LIBS)

$(O)/tests/fuzz_config: tests/fuzz/fuzz_config.c $(call obj,$(CONFIG_SRC) $(IL_SRC))
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) $(LDFLAGS) -o $@ $< $(filter %.o,$^) -ldl -lpthread

$(O)/tests/fuzz_calls: tests/profile/make_calls.c
$(O)/tests/fuzz_calls: $(filter-out $(PROFILE_OBJ),$(call obj,$(wildcard report/calls/*.c)))
$(O)/tests/fuzz_instrument: tests/profile/make_instrument.c tests/fuzz/fuzz.h
$(O)/tests/fuzz_instrument: $(filter-out $(PROFILE_OBJ),$(call obj,$(wildcard report/instrument/*.c) report/json_values.c))

# The driver of whole sessions runs the command's verbs. The makers of its session are linked in, each main() renamed.
MAKERS := $(addprefix $(O)/obj/tests/profile/make_,calls.o events.o instrument.o)

$(MAKERS): $(O)/obj/tests/profile/make_%.o: tests/profile/make_%.c $(wildcard tests/profile/*.h)
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -Wno-missing-prototypes -Dmain=make_$* -MMD -MP -c $< -o $@

$(O)/tests/fuzz_report: tests/fuzz/fuzz.h $(MAKERS) $(filter-out $(PROFILE_OBJ) %/main.o,$(call obj,$(CMD_SRC))) \
                        $(call obj,$(CONFIG_SRC)) $(O)/libsxsil.a
$(O)/tests/fuzz_report: CMD_LIBS := $(O)/libsxsil.a $(CMD_LIBS)

# The suite of hosts (docs/hosts.md): programs that host runtimes, what they share, and allocators to preload.
HOSTING_OBJ := $(call obj,tests/hosts/hosting.c tests/hosts/state.c harness/clr.c harness/library.c \
                 harness/properties.c harness/self.c)
# On their own, never sanitized: one faults on purpose, the other is an allocator.
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

# For hosts in other languages; its functions are visible there.
$(O)/hosts/libhosting.so: $(HOSTING_OBJ)
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) $(SHARED) $(LDFLAGS) -Wl,-soname,libhosting.so -o $@ $(HOSTING_OBJ) -ldl -lpthread -Wl,--no-as-needed -lm

# Native methods of the host in Java.
$(O)/hosts/libhost_jni.so: tests/hosts/jni.c $(HOSTING_OBJ)
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) $(SHARED) $(LDFLAGS) -o $@ $< $(HOSTING_OBJ) -ldl -lpthread -Wl,--no-as-needed -lm

# An allocator: the compiler must not turn its calls into others of malloc's family.
$(O)/hosts/libreserve.so: tests/hosts/reserve.c
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) $(CPPFLAGS) $(filter-out -fsanitize=%,$(CFLAGS)) -fno-builtin -Wno-missing-prototypes -shared -o $@ $< -lpthread

$(O)/obj/tests/hosts/%.o: override CFLAGS += -fvisibility=default

host-programs: $(HOSTING_BIN) $(HOSTING_ALONE) $(addprefix $(O)/hosts/,libhosting.so libreserve.so libhost_jni.so)

# What runs through whole assemblies, and the fuzz drivers of the IL library.
$(O)/tests/il_%: tests/instr/%.c tests/instr/tokens.c $(wildcard tests/instr/*.h) $(O)/libsxsil.a
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) $(LDFLAGS) -o $@ $(filter %.c %.a,$^) -lm

IL_FUZZ := $(addprefix $(O)/tests/,fuzz_il fuzz_signature fuzz_assemble fuzz_metadata)

$(IL_FUZZ): $(O)/tests/fuzz_%: tests/fuzz/fuzz_%.c tests/fuzz/fuzz.h $(wildcard tests/instr/*.h) $(O)/libsxsil.a
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) $(LDFLAGS) -o $@ $(filter %.c %.a,$^) -lm

# Everything that the tests run, besides what `all` makes.
TEST_PROGRAMS := $(UNIT_BIN) $(IL_FUZZ) \
    $(addprefix $(O)/tests/il_,bodies signatures texts) \
    $(addprefix $(O)/tests/fuzz_,samples pdb calls instrument report config) \
    $(addprefix $(O)/bench/,bench_walk bench_clock bench_hooks) \
    $(O)/tests/report_main \
    $(O)/tests/libfailing.so \
    $(O)/tests/libdelaying.so \
    $(O)/tests/libhook_memory.so

unit: $(TEST_PROGRAMS)

unit: host-programs

# ---- the two commands of README, and the rest ------------------------------------------------

setup:
	$(Q)sh setup/packages.sh
	$(Q)sh setup/runtimes.sh build/runtimes

# Without -j, every processor compiles.
check:
	$(Q)sh setup/packages.sh
	$(Q)$(if $(SAN),,sh setup/packages.sh hosts || echo "check: some packages are missing: their hosts are skipped")
	$(Q)$(MAKE) --no-print-directory $(if $(filter -j%,$(MAKEFLAGS)),,-j$(shell nproc)) all unit
	$(Q)$(MAKE) --no-print-directory check-run

check-run:
	$(Q)$(if $(SAN),,sh setup/runtimes.sh build/runtimes && sh setup/managed.sh build/managed && \
	    sh setup/ilasm.sh build/managed && sh setup/crossgen.sh build/managed && \
	    sh setup/native_aot.sh build/native_aot && sh setup/dotnet_trace.sh build/tools && sh setup/hosts.sh build/hosts &&) \
	    BUILD=$(O) SAN=$(SAN) sh tests/run.sh

check-loop: all unit
	$(Q)BUILD=$(O) SAN=$(SAN) N=$(or $(N),20) sh tests/loop.sh

demo:
	$(Q)sh setup/packages.sh
	$(Q)$(MAKE) --no-print-directory all
	$(Q)sh setup/runtimes.sh build/runtimes
	$(Q)sh setup/managed.sh build/managed
	$(Q)BUILD=$(O) sh tests/demo.sh

# These measure the library's own walkers, handler, file and clocks.
$(O)/bench/bench_walk $(O)/bench/bench_clock $(O)/bench/bench_hooks: $(O)/bench/%: tests/bench/%.c \
        $(wildcard tests/bench/*.h) $(LIB_OBJ)
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) $(CPPFLAGS) $(filter-out -fno-omit-frame-pointer,$(CFLAGS)) -fomit-frame-pointer \
	    $(LDFLAGS) -o $@ $< $(LIB_OBJ) $(LIB_LIBS)

$(O)/bench/bench_il: tests/bench/bench_il.c tests/instr/assembly.h $(O)/libsxsil.a
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) $(LDFLAGS) -o $@ $(filter %.c %.a,$^) -lm

bench: setup all $(O)/bench/bench_walk $(O)/bench/bench_clock $(O)/bench/bench_hooks $(O)/bench/bench_il
	$(Q)sh setup/packages.sh bench
	$(Q)sh setup/managed.sh build/managed
	$(Q)sh setup/dotnet_trace.sh build/tools
	$(Q)sh setup/cecil.sh build/tools
	$(Q)BUILD=$(O) sh tests/bench/run.sh

soak: setup all
	$(Q)sh setup/managed.sh build/managed
	$(Q)BUILD=$(O) sh tests/soak.sh

# RUNS=50 runs of each host with each tool, with and without preload; HOSTS=PATTERN for some hosts.
hosts: setup all host-programs
	$(Q)sh setup/packages.sh hosts || echo "hosts: some packages are missing: their hosts are skipped"
	$(Q)sh setup/managed.sh build/managed
	$(Q)sh setup/dotnet_trace.sh build/tools
	$(Q)sh setup/hosts.sh build/hosts
	$(Q)BUILD=$(O) python3 tests/hosts/matrix.py --soak "$(or $(RUNS),50)" $(if $(HOSTS),--hosts '$(HOSTS)')

lint: $(GEN) $(O)/libsxsprof.so $(O)/libsxsprof-preload.so
	$(Q)sh setup/packages.sh lint
	$(Q)BUILD=$(O) $(if $(NODES),NODES=$(NODES)) sh tests/lint/run.sh

format:
	$(Q)sh setup/packages.sh lint
	$(Q)git ls-files '*.c' '*.h' | xargs clang-format -i

install: all
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/lib/sxsprof \
	    $(DESTDIR)$(PREFIX)/include $(DESTDIR)$(PREFIX)/share/man/man1 $(DESTDIR)$(PREFIX)/share/sxsprof
	install -m 755 $(O)/sxsprof $(O)/runsxs $(DESTDIR)$(PREFIX)/bin
	install -m 755 $(O)/libsxsprof.so $(O)/libsxsprof-preload.so $(O)/libsxsbridge.so $(O)/libsxsplugin.so \
	    $(DESTDIR)$(PREFIX)/lib/sxsprof
	install -m 644 include/sxsprof.h harness/bridge/bridge.h instr/sxs_il.h $(O)/gen/sxs_il_opcodes.h \
	    $(DESTDIR)$(PREFIX)/include
	install -m 644 $(O)/libsxsil.a $(DESTDIR)$(PREFIX)/lib
	install -m 644 config/instrumentation.xsd $(DESTDIR)$(PREFIX)/share/sxsprof
	install -m 644 docs/man/*.1 $(DESTDIR)$(PREFIX)/share/man/man1

clean:
	$(Q)[ ! -d $(O) ] || find $(O) -mindepth 1 -maxdepth 1 ! -name runtimes -exec rm -rf {} +

-include $(shell find $(O)/obj $(O)/tests -name '*.d' 2>/dev/null)
