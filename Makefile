# The commands of the course. `make help` lists them; how things are built is in common/build/rules.mk.
#
# Options of a command are variables: make lab02 SOLUTION=1 BACKEND=cpu
SHELL := /bin/bash
MAKEFLAGS += --no-print-directory
commands := common/commands
export BACKEND CASE CASES CHECKS CXX DTYPES FILE JOBS K OPS OUT POINTS PYTHON SHAPE SHAPES SOLUTION SUBMISSIONS VARIANTS

.PHONY: help ladder roofline check check-doctor test setup bench-simt experiments docs test-docs peers profile-diff
.DEFAULT_GOAL := first-screen

help:
	@$(commands)/help.sh

setup:
	@$(commands)/setup.sh

ladder:
	@$(commands)/ladder.sh

lab%:
	@$(commands)/lab.sh $*

profile-diff:
	@$(commands)/profile_diff.sh

profile%:
	@$(commands)/profile.sh $*

sanitize%:
	@$(commands)/sanitize.sh $*

peers:
	@$(commands)/peers.sh

# Where a student is, and on from there.
.PHONY: first-screen status
export ANYWAY
first-screen:
	@$(commands)/first_screen.sh

status:
	@$(commands)/status.sh

watch%:
	@$(commands)/watch.sh $*

diff%:
	@$(commands)/diff.sh $*

hint%:
	@$(commands)/hint.sh $*

roofline:
	@$(commands)/roofline.sh

docs:
	@$(commands)/docs.sh

test-docs:
	@$(commands)/docs.sh --test

experiments:
	@$(commands)/experiments.sh

bench-simt:
	@$(commands)/bench_simt.sh

.PHONY: new-lab
export NAME
new-lab:
	@$(commands)/new_lab.sh

check:
	@$(commands)/check.sh

check-doctor:
	@$(commands)/check.sh doctor

test:
	@$(commands)/test.sh

%:
	@$(commands)/unknown.sh $@

# Make would otherwise try to remake its own file by the rule above.
Makefile: ;
