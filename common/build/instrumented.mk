# Instrumented rungs and programs, the tests of what watches them, and what reads counters. Included by rules.mk.

# Every memory access, basic block and function call of the kernel calls a hook (common/simt/instrument/hooks.cpp). Compiled
# for ThreadSanitizer, but linked without it. -O1 and -fno-tree-sra: an access of 16 bytes stays one. The next three:
# code stays in the order of the source and nothing is duplicated at the end of a function, as lanes of a warp wait for each
# other by the order of the code.
# Always g++: its choice and order of accesses are what was held against the hardware. Inlining: a structure that a call takes
# or returns by value is moved by the call, which no hook sees. Indirect, too: a function pointer that an inlined function
# calls may be one of a __forceinline__ function, which must not stay a call.
# What the compiler leaves out (accesses through attributes, builtins, local arrays) announce adds to its assembly. On
# x86-64; elsewhere the compiler's own has to do.
instrument_cxx := g++
announces := $(filter x86_64,$(shell uname -m))
# Registers are given out function by function: large kernels compile in nine tenths of the time.
# A static kernel has no visibility (simt/qualifiers.h), which is no reason for a warning.
# No tables for switches: then a computed jump is the file's own, and the grader can refuse it.
instrument := -O1 -fno-tree-sra -fno-jump-tables -fno-reorder-blocks -fno-tree-ch -fno-thread-jumps -finline-functions -finline-small-functions -findirect-inlining \
              --param max-inline-insns-auto=2000 --param max-inline-insns-single=2000 --param inline-unit-growth=2000 \
              --param large-function-growth=2000 --param large-stack-frame-growth=2000 \
              --param tsan-distinguish-volatile=1 -fsanitize=thread -fsanitize-coverage=trace-pc \
              -fira-region=one -Wno-attributes $(if $(announces),-mno-red-zone)

build/cpu/announce: $(patsubst %,build/cpu/obj/%.o,$(wildcard common/simt/announce/*.cpp))
	@mkdir -p $(@D)
	@$(CXX) $^ -o $@

# For those who compile the same way without make: the grader, and compile_rungs.sh with other compilers.
.PHONY: print-instrument print-rung-flags print-announce
print-announce:
	@echo $(if $(announces),build/cpu/announce)
print-instrument:
	@echo $(instrument)
print-rung-flags:
	@echo $(rung_flags)

# What the instructions of its kernels are, for the counters of shared memory and for the model of a GPU's time, is a section of the
# object. To find it out takes as long as half of the compilation, and only what is counted needs it: a lab's first tests run without
# (X.untimed.so, the same code).
dump := -fdump-tree-optimized-lineno
operations := $(or $(PYTHON),$(python)) common/simt/timing/operations
operations_scripts := $(wildcard common/simt/timing/operations/*.py)

# The rule makes two files, and make names either: $(object) is the first.
object = $(@:.dump=)

# $(call compile_checked,options): from $< to $@, an object without its table. A rung's warnings came with its plain build.
no_warnings := -w
define compile_checked
@mkdir -p $(@D)
@trap 'rm -f $(own).*' EXIT; $(rewritten) | \
  ($(limited) $(instrument_cxx) $(call begin_rung,checked) $(rung_flags) $(instrument) $(no_warnings) $(1) -iquote $(<D) -MMD -MP -MF $(object).d -MT $(object) -x c++ -S - \
  -o $(own).compiled.s $(dump)=$(own).dump) $(or_say) && \
  $(if $(announces),build/cpu/announce,cp) $(own).compiled.s $(own).s && $(instrument_cxx) -c $(own).s -o $(own).o && \
  mv $(own).dump $(object).dump && mv $(own).o $(object)
endef
# From an object and its dump to one with the table. Another make may have added it meanwhile, and have taken the dump away.
define add_table
@trap 'rm -f $(own).*' EXIT; ln $<.dump $(own).dump 2>/dev/null || exit 0; \
  $(operations) $< $(own).dump > $(own).operations || { echo "no time is predicted for $(patsubst abs/%,/%,$(@:build/cpu/checked/%.o=%.cu)): see above" >&2; : > $(own).operations; }; \
  objcopy --add-section .simt_operations=$(own).operations $< $@ && rm -f $<.dump
endef

build/cpu/precompiled/rung/checked/begin.h.gch: common/rung/rung.h
	$(call precompile,$(instrument_cxx) $(rung_flags) $(instrument))

announce := $(if $(announces),build/cpu/announce)
# The dump is made again where a new table needs it.
build/cpu/checked/%.untimed.o build/cpu/checked/%.untimed.o.dump: %.cu $(rewriter) $(announce) $(call rung_begins,checked)
	$(call compile_checked)
build/cpu/checked/abs/%.untimed.o build/cpu/checked/abs/%.untimed.o.dump: /%.cu $(rewriter) $(announce) $(call rung_begins,checked)
	$(call compile_checked)
build/cpu/checked/%.o: build/cpu/checked/%.untimed.o build/cpu/checked/%.untimed.o.dump $(operations_scripts)
	$(add_table)

# A rung for which a student would wait (labs.toml) is compiled in parts, on all cores: each has some of its variants (rewritten.py). What
# two of them define, kernels that are no templates, is the first one's.
parts := 1 2 3
part_objects = $(foreach p,$(parts),build/cpu/checked/$(1).part$(p)$(2).o)
define join_parts
@ld -r -z muldefs $(filter %.o,$^) -o $(own) && mv $(own) $@
endef
define in_parts
build/cpu/checked/$(1).untimed.o: $(call part_objects,$(1),.untimed)
	$$(join_parts)
build/cpu/checked/$(1).o: $(call part_objects,$(1))
	$$(join_parts)
endef
define part_rule
build/cpu/checked/%.part$(1).untimed.o build/cpu/checked/%.part$(1).untimed.o.dump: part := --part $(1)/$(words $(parts))
build/cpu/checked/%.part$(1).untimed.o build/cpu/checked/%.part$(1).untimed.o.dump: %.cu $(rewriter) $(announce) $(call rung_begins,checked)
	$$(compile_checked)
endef
$(foreach rung,$(rungs_in_parts),$(eval $(call in_parts,$(rung))))
$(foreach part,$(parts),$(eval $(call part_rule,$(part))))
# The shelf of wrong kernels is judged, and nobody asks how fast they are (common/testing/shelf.py).
build/cpu/checked/build/shelf/%.o: operations := :
# Calls of memcpy and its like, which no compiler instruments, go to hooks.cpp too.
wrap := -Wl,--wrap=memcpy,--wrap=memmove,--wrap=memset
build/cpu/checked/%.so: build/cpu/checked/%.o
	@$(instrument_cxx) -shared $< $(wrap) -o $@

# Tests of the counters and of the checks: instrumented CUDA files, each with Catch2 in it.
instrumented_tests = $(patsubst common/simt/%.cu,build/cpu/checked/common/simt/%.o,$(wildcard common/simt/$(1)/test_*.cu))
counter_tests := $(call instrumented_tests,counters)
check_tests := $(call instrumented_tests,checks)
$(counter_tests) $(check_tests): rung_flags += -I common/simt
$(counter_tests) $(check_tests): no_warnings :=
$(counter_tests) $(check_tests): begin_rung :=  # they are no rungs
$(check_tests): operations := :  # nor does anybody ask how their loads are joined
build/cpu/tests/simt_counters: $(counter_tests) $(call objects,common/simt/counters/test_rules.cpp) $(catch_main) build/cpu/libsimt.a
	$(link)

build/cpu/tests/simt_checks: $(check_tests) $(catch_main) build/cpu/libsimt.a
	$(link)

# Predicts launches whose traces were saved (common/simt/timing/trace_file.h).
build/cpu/evaluate: $(call objects,common/simt/timing/calibration/evaluate.cpp) build/cpu/libsimt.a
	$(link)

build/cpu/warp_counts: $(call objects,$(addprefix common/simt/counters/,warp_counts.cpp readings.cpp rules.cpp))
	$(link)
