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

# Each is a script of its own: make new-lab is new_lab.sh. The first says where a student is, and goes on from there.
plain := first-screen help setup ladder probe profile-diff peers status roofline docs experiments bench-simt new-lab check decide similar test test-bare
# Of a lab: make watch02 is watch.sh 02.
of_labs := lab watch hint diff profile sanitize sweep
export KNOWN_COMMANDS := $(plain) test-docs check-doctor test-rest test-all
export COMMANDS_OF_LABS := $(of_labs)
.PHONY: $(KNOWN_COMMANDS)

$(plain):
	@$(commands)/$(subst -,_,$@).sh

test-docs:
	@$(commands)/docs.sh --test

check-doctor:
	@$(commands)/check.sh doctor

test-rest test-all:
	@LADDER_TESTS=$(@:test-%=%) $(commands)/test.sh

define of_a_lab
$(1)%:
	@$$(commands)/$(1).sh $$*
endef
$(foreach command,$(of_labs),$(eval $(call of_a_lab,$(command))))

%:
	@$(commands)/unknown.sh $@

# A folder's name is no command either, though there is a file of that name.
folders := $(filter-out Makefile,$(wildcard *))
.PHONY: $(folders)
$(folders):
	@$(commands)/unknown.sh $@

# Make would otherwise try to remake its own file by the rule above.
Makefile: ;
