# The commands of the course. `make help` lists them; how things are built is in common/build/rules.mk.
#
# Options of a command are variables: make lab02 SOLUTION=1 BACKEND=cpu
SHELL := /bin/bash
MAKEFLAGS += --no-print-directory
commands := common/commands
# Those that there are. Any other in a command line is refused by name (common/commands/common.sh).
options := ACCOUNT ALSO ANYWAY BACKEND BONUS BROKEN BY CASE CASES CHECKS COLUMN COMMANDS COMMENT CXX DENY DTYPES EXCLUSIVE FILE FILL GPU GPUS \
           ITEM JOBS K KEEP LAB LABS LATE_DAYS MEM MINUTES NAME ON ONLY OPS OUT OVER PARTITION PEERS PER_TASK POINTS PREBUILT PREDICT PUBLISH PYTHON QOS \
           RELEASE RESET SHAPE SHAPES SOLUTION STUDENT SUBMISSIONS SYSTEMS TESTS_ONLY TIME TODO UNDO VALUES VARIANT VARIANTS
export $(options)
export KNOWN_OPTIONS := $(options)
export UNKNOWN_OPTIONS := $(strip $(foreach v,$(filter-out $(options) LADDER_% CUDA_ARCH MAKE% NCCL_HOME NO_COLOR NVCC SHELL,$(.VARIABLES)), \
                            $(if $(filter command,$(origin $v)),$v)))
# What stands in the command line: an option that its command does not use is refused, too.
export GIVEN_OPTIONS := $(strip $(foreach v,$(options),$(if $(filter command,$(origin $v)),$v)))
export GIVEN_COMMANDS := $(MAKECMDGOALS)

.PHONY: first-screen help setup ladder status roofline docs test-docs experiments bench-simt peers probe profile-diff new-lab \
        check check-doctor decide similar test test-rest test-all test-bare
.DEFAULT_GOAL := first-screen

help:
	@$(commands)/help.sh

setup:
	@$(commands)/setup.sh

ladder:
	@$(commands)/ladder.sh

lab%:
	@$(commands)/lab.sh $*

probe:
	@$(commands)/probe.sh

profile-diff:
	@$(commands)/profile_diff.sh

profile%:
	@$(commands)/profile.sh $*

sanitize%:
	@$(commands)/sanitize.sh $*

sweep%:
	@$(commands)/sweep.sh $*

peers:
	@$(commands)/peers.sh

# Where a student is, and on from there.
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

new-lab:
	@$(commands)/new_lab.sh

check:
	@$(commands)/check.sh

decide:
	@$(commands)/decide.sh

similar:
	@$(commands)/similar.sh

check-doctor:
	@$(commands)/check.sh doctor

test:
	@$(commands)/test.sh

test-rest test-all:
	@LADDER_TESTS=$(@:test-%=%) $(commands)/test.sh

test-bare:
	@$(commands)/test_bare.sh

%:
	@$(commands)/unknown.sh $@

# Make would otherwise try to remake its own file by the rule above.
Makefile: ;
