# SPDX-License-Identifier: GPL-2.0-only
#
# smcr: SMC-R (RFC 7609) sockets for Linux. `make help` lists the targets.
#
# The module itself is described by Kbuild; this file is for people and CI.

# The kernel to build for: its build folder, or one of 6.1 6.12 7.2 umdbg um umsmp.
# Without either: the running kernel's headers where they are installed, else
# Debian's stock 6.1, whose headers are fetched into the cache; `make modules`
# says so, and `make install` then refuses.
KERNEL	?=
KDIR	?=
ifneq ($(and $(KERNEL),$(KDIR)),)
$(error KERNEL and KDIR exclude each other)
endif
RUNNING	:= $(shell uname -r)
CHOSEN	:= $(or $(KERNEL),$(abspath $(KDIR)))
TARGET	:= $(or $(CHOSEN),$(wildcard /lib/modules/$(RUNNING)/build),6.1)
# Headers that are there need little else: their compiler came with them.
GROUP	:= $(if $(filter /%,$(TARGET)),module,build)
no-headers = no headers for the running kernel $(RUNNING) (apt install linux-headers-$(RUNNING))

PREFIX	?= /usr/local
DESTDIR	?=
Q	:= $(if $(V),,@)

# Passed on to Kbuild when given: make modules W=1 C=1 V=1
KVARS	:= $(foreach v,W C V GCOV SMCR_TCPOPT SMCR_RACE,$(if $($(v)),$(v)=$($(v))))

.PHONY: all modules tools progs unit fuzz-replay static check check-cost check-sim mutants check-full hooks \
	conformance demo bench lab-capture lab-report install uninstall clean distclean help deps
.NOTPARALLEL:

all: modules tools

help:
	@echo 'make                 what make install installs: the module (smcr.ko) and smcctl'
	@echo 'make modules         only the module; KDIR=/path/to/kernel/build or'
	@echo '                     KERNEL=6.1|6.12|7.2|kcsan|umdbg|um|umsmp; W=1 C=1 V=1'
	@echo 'make tools           only smcctl'
	@echo 'make progs           only the test programs, those of the RDMA lab among them'
	@echo 'make unit            unit tests of the core, the harness and smcctl: no root, no network'
	@echo 'make fuzz-replay     all fuzzers over their stored inputs'
	@echo 'make static          checkpatch, sparse, W=1 on all kernels, kernel-doc ...'
	@echo 'make check           those three, and a smoke test in two guests with the stock kernel'
	@echo 'make check-sim       all cases that can be simulated, in virtual time; random worlds'
	@echo 'make check-full      all cases in all places: hours'
	@echo 'make mutants         six wrong changes that tests have to notice, five minutes at most'
	@echo 'make check-cost      instructions per operation, against the committed figures'
	@echo 'make conformance     which entries of the RFC catalogue have been shown'
	@echo 'make demo            two guests, a file over RDMA, and the proof; SIZE=1G FILE=...'
	@echo 'make lab-capture     two guests, a session on the wire, captured and explained;'
	@echo '                     KERNEL=6.12 ARGS=--help'
	@echo 'make bench           against TCP, the in-tree module and raw verbs; ARGS=--help'
	@echo '                     ARGS=--exact: cost in instructions, the same however busy this'
	@echo '                     machine is; --compare=REV, --gate, --profile'
	@echo 'make lab-report      RDMA WRITE, AF_SMC and TCP compared, as a page; SIZE=1G KERNEL=6.1'
	@echo '                     ARGS=--help'
	@echo 'make install         the module, smcctl, man pages (KDIR, KERNEL, DESTDIR, PREFIX);'
	@echo '                     uninstall: all of them away again'
	@echo 'make deps            the Debian packages for all of this (root)'
	@echo 'make hooks           git runs quick checks before each commit (CONTRIBUTING.md)'
	@echo 'make clean           what was built here; distclean: the cache as well'
	@echo
	@echo 'One test case:       selftests/run -k NAME        (selftests/run --help)'
	@echo 'A shell in a guest:  selftests/run --shell        (Documentation/rdma-lab/)'
	@echo 'What a capture says: lab/lab-explain FILE         (lab/lab-explain --help)'

deps:
	@scripts/deps

hooks:
	@git config core.hooksPath scripts/hooks && echo '  git runs scripts/hooks before each commit'

modules:
ifeq ($(TARGET)$(CHOSEN),6.1)
	@echo "$(no-headers): building for Debian's 6.1" >&2
endif
	@scripts/deps $(GROUP)
	$(Q)ko=$$(scripts/build-module $(TARGET) $(KVARS)) && cp "$$ko" smcr.ko && \
		echo "  smcr.ko  for $$(modinfo -F vermagic smcr.ko | cut -d' ' -f1)"

tools:
	@scripts/deps tools
	$(Q)$(MAKE) $(if $(V),,-s) -C tools/smcctl

progs:
	@scripts/deps progs
	$(Q)$(MAKE) $(if $(V),,-s) -C selftests/prog
	$(Q)$(MAKE) $(if $(V),,-s) -C lab

unit fuzz-replay static:
	@scripts/check $@

check: tools progs
	@scripts/check unit fuzz-replay static smoke

mutants:
	@scripts/mutate --rotate 6

check-cost: tools progs
	@scripts/check cost

check-sim: tools progs
	@scripts/check sim

check-full: tools progs
	@scripts/check cross sim sim-full full

conformance:
	@scripts/conformance

# All see to their packages and programs themselves. SIZE=1G FILE=/path
# KERNEL=6.12 for the demo; KERNEL=6.12 for the capture; ARGS='--lane qemu --quick' for the benchmarks.
demo:
	@lab/demo $(ARGS)

lab-capture:
	@lab/lab-capture $(ARGS)

bench:
	@lab/bench $(ARGS)

lab-report:
	@lab/lab-report $(ARGS)

# Both modules answer to AF_SMC, and whichever comes first has it: without the
# blacklist a program's socket() loads the kernel's own. It loads ours with it.
INSTALL_MOD_DIR ?= updates
install: modules tools
	$(Q)kver=$$(modinfo -F vermagic smcr.ko | cut -d' ' -f1) && \
	if [ -z "$(DESTDIR)$(CHOSEN)" ] && [ "$$kver" != "$(RUNNING)" ]; then \
		echo "make install: smcr.ko is for $$kver: $(no-headers);" \
			"KERNEL= or KDIR= if you mean it" >&2; exit 1; fi && \
	install -D -m 644 smcr.ko "$(DESTDIR)/lib/modules/$$kver/$(INSTALL_MOD_DIR)/smcr.ko" && \
	install -D -m 644 scripts/modprobe.conf "$(DESTDIR)/etc/modprobe.d/smcr.conf" && \
	{ [ -n "$(DESTDIR)" ] || depmod -a "$$kver"; } && \
	echo "  installed for $$kver"
	$(Q)$(MAKE) $(if $(V),,-s) -C tools/smcctl install PREFIX=$(PREFIX) DESTDIR=$(DESTDIR)

uninstall:
	$(Q)for ko in "$(DESTDIR)"/lib/modules/*/$(INSTALL_MOD_DIR)/smcr.ko; do \
		[ -e "$$ko" ] || continue; \
		kver=$${ko#"$(DESTDIR)"/lib/modules/} && kver=$${kver%%/*} && rm -f "$$ko" && \
		{ [ -n "$(DESTDIR)" ] || depmod -a "$$kver"; } && echo "  removed for $$kver" || exit 1; done
	$(Q)rm -f "$(DESTDIR)/etc/modprobe.d/smcr.conf"
	$(Q)$(MAKE) $(if $(V),,-s) -C tools/smcctl uninstall PREFIX=$(PREFIX) DESTDIR=$(DESTDIR)

clean:
	$(Q)rm -rf build smcr.ko
	$(Q)for d in tools/smcctl selftests/prog lab selftests/unit; do \
		[ ! -e $$d/Makefile ] || $(MAKE) -s -C $$d clean; done

distclean: clean
	$(Q)rm -rf "$${SMCR_CACHE:-$$HOME/.cache/smcr}"
