# How everything is built, on the CPU and, where nvcc is, for CUDA. Run from the repository's root:
#   make -f common/build/rules.mk build/cpu/worker
# The commands in common/commands call this; nobody else needs to.
#
#   build/cpu/obj/       objects of the course's own code
#   build/cpu/worker     loads a rung's shared object and runs it on the executor
#   build/cpu/PATH.so    the rung PATH.cu (build/cpu/abs/PATH.so for one outside the repository)
#   build/cpu/tests/     test programs: one a lab, and the course's own
#   build/cuda/          the worker and the rungs for a GPU

CXX ?= g++
NVCC ?= $(firstword $(shell command -v nvcc) $(wildcard /usr/local/cuda/bin/nvcc))
CUDA_ARCH ?= native
# The python3 that runs the course's scripts: the one that the commands chose (common/commands/common.sh); by itself the
# distribution's, as an older one, without tomllib, may stand first on the PATH.
python := $(or $(LADDER_PYTHON),$(wildcard /usr/bin/python3),python3)

warnings := -Wall -Wextra
cxxflags := -std=c++17 -O2 -g1 $(warnings) -MMD -MP
eigen := $(shell pkg-config --cflags eigen3 2>/dev/null || echo -I/usr/include/eigen3)
# Catch2 3 is a library, Catch2 2 only a header. Every test program has its own main, so Catch2Main is never needed.
catch_library := $(if $(wildcard $(addsuffix /include/catch2/catch_all.hpp,/usr /usr/local)),-lCatch2)

# A rung is compiled as CUDA's compiler would: type punning through float4 is legal, sqrtf sets no errno, #pragma unroll is
# known. simt/include stands for the CUDA toolkit. No PLT: code there has no line, and calls are quicker without.
# DWARF 4: with 5, addr2line takes the name of the piped file for that of #line. No tracking of variables: what is reported
# names lines, never variables, and large kernels compile in three quarters of the time.
simt_include := -I common/simt/include
# What Ubuntu's compiler adds by itself is left out: guards of the stack and of the C library's functions are accesses and calls
# that no kernel has.
no_hardening := -fno-stack-protector -fno-stack-clash-protection -U_FORTIFY_SOURCE $(if $(filter x86_64,$(shell uname -m)),-fcf-protection=none)
rung_flags := $(no_hardening) -std=c++17 -O2 -gdwarf-4 -fno-var-tracking -fPIC -fno-plt -fno-semantic-interposition $(warnings) -Wno-unknown-pragmas -fno-strict-aliasing -fno-math-errno \
              $(simt_include) -I common/rung

.SUFFIXES:
.DELETE_ON_ERROR:
.SECONDARY:

# The standard library's headers, compiled once for all objects of the course's own. Where the compiler cannot use the result
# (another version, other options) it reads common/build/standard.h instead. clang++ would refuse g++'s.
standard := $(if $(findstring clang,$(CXX)),,build/cpu/precompiled/standard.h.gch)
precompiled = $(if $(standard),-I $(dir $(standard)) -I common/build -include standard.h)
build/cpu/precompiled/standard.h.gch: common/build/standard.h
	@mkdir -p $(@D)
	@$(CXX) $(filter-out -MMD -MP,$(cxxflags)) -x c++-header $< -o $@

# --- the executor and the worker ----------------------------------------------------------------------------------------

simt_folders := common/simt common/simt/apart common/simt/instrument common/simt/checks common/simt/counters common/simt/timing
simt_sources := $(filter-out %/warp_counts.cpp,$(foreach f,$(simt_folders),$(filter-out $(f)/test_%,$(wildcard $(f)/*.cpp)))) \
                common/simt/switch.S
simt_objects := $(patsubst %,build/cpu/obj/%.o,$(simt_sources)) $(patsubst %,build/cpu/obj/%.o,common/simt/instrument/seen.S)

# -O3: its loops over the 32 lanes of a warp become vector instructions. What runs once and writes text does without (see quick).
optimised := -O3
build/cpu/obj/common/simt/%.cpp.o: common/simt/%.cpp | $(standard)
	@mkdir -p $(@D)
	@$(CXX) $(cxxflags) $(precompiled) $(optimised) $(simt_include) $(eigen) -c $< -o $@

build/cpu/obj/common/simt/timing/machine.cpp.o: cxxflags += -DSIMT_MACHINES='"$(abspath common/simt/timing/machines)"'

build/cpu/obj/common/simt/%.S.o: common/simt/%.S
	@mkdir -p $(@D)
	@$(CXX) -c $< -o $@

build/cpu/libsimt.a: $(simt_objects)
	@rm -f $@
	@ar rcs $@ $^

# The rungs that the worker loads call the executor in it: keep and export all of it.
build/cpu/worker: common/rung/worker.cpp build/cpu/libsimt.a
	@$(CXX) $(cxxflags) -MF $@.d $(simt_include) -I common/simt -I common/rung $< \
	  -Wl,--whole-archive build/cpu/libsimt.a -Wl,--no-whole-archive -rdynamic -ldl -pthread -o $@

# --- rungs --------------------------------------------------------------------------------------------------------------

# What a rung's compiler may take: a macro or a template can ask for any amount of time and memory.
SIMT_COMPILE_SECONDS ?= 120
SIMT_COMPILE_GIB ?= 6
limited := ulimit -S -t $(SIMT_COMPILE_SECONDS); ulimit -S -v $$(($(SIMT_COMPILE_GIB) << 20)); exec
too_much := CPU time limit exceeded|out of memory|memory exhausted|Cannot allocate memory
or_say = 2> $@.said || failed=1; cat $@.said >&2; if [ "$$failed" ]; then ! grep -qE "$(too_much)" $@.said || \
  echo "$<: takes more than $(SIMT_COMPILE_SECONDS) s or $(SIMT_COMPILE_GIB) GiB to compile; look for a macro or a template that calls for itself" >&2; \
  rm $@.said; exit 1; fi; rm $@.said

# What no macro can express is rewritten, for rungs as for the programs that simtcc compiles.
rewriter := $(addprefix common/simt/,rewritten.py cuda_source.py cuda_arch.py ptx.py ptx_instructions.py)
rewritten = { $(python) -B -S common/simt/rewritten.py $< < $< || echo '\#error "this file could not be rewritten: see above"'; }

# $(call compile_rung,options)
define compile_rung
@mkdir -p $(@D)
@$(rewritten) | \
  ($(limited) $(CXX) $(rung_flags) -iquote $(<D) -MMD -MP -MF $@.d -MT $@ -shared $(1) -x c++ - -o $@) $(or_say)
endef

build/cpu/%.so: %.cu $(rewriter)
	$(call compile_rung)
build/cpu/abs/%.so: /%.cu $(rewriter)
	$(call compile_rung)

# Whether nvcc would take the file, asked of clang beside the compiler (common/simt/rules). Without clang (status 2) it says so
# and nothing is refused.
rules_of := common/simt/rules
define check_rules
@mkdir -p $(@D)
@$(python) $(rules_of)/refused.py -std=c++17 -I common/rung -iquote $(<D) $< && touch $@ || [ $$? -eq 2 ]
endef

build/cpu/%.rules: %.cu $(wildcard $(rules_of)/*.py $(rules_of)/*.h common/rung/*.h common/rung/limit/*.h common/rung/fusion/*.h common/ops/*.h common/ops/*/arguments.h)
	$(check_rules)
build/cpu/abs/%.rules: /%.cu $(wildcard $(rules_of)/*.py $(rules_of)/*.h common/rung/*.h common/rung/limit/*.h common/rung/fusion/*.h common/ops/*.h common/ops/*/arguments.h)
	$(check_rules)

# A whole CUDA program with its main; what follows the call are the objects and libraries that it needs.
define compile_program
@mkdir -p $(@D)
@$(rewritten) | \
  $(CXX) $(rung_flags) -I common/simt -iquote $(<D) -MMD -MP -MF $@.d -MT $@ -x c++ - -x none
endef

# --- the judge's side: client, reference, tests, bench ------------------------------------------------------------------

judge_include := -I common/rung -I common/simt -I common/ops -I common/ops/matrix -I common/reference -I common/testing -I common/bench $(eigen)

build/cpu/obj/%.cpp.o: %.cpp | $(standard)
	@mkdir -p $(@D)
	@$(CXX) $(cxxflags) $(precompiled) $(judge_include) $(facts_include) -c $< -o $@

# What labs/labs.toml says: to this file which labs there are ($(labs), $(labs_of_softmax)), to a lab's test.cpp its facts.h.
course := PYTHONPATH=common PYTHONDONTWRITEBYTECODE=1 $(python) -m course
manifest := labs/labs.toml $(wildcard common/course/*.py)
define from_manifest
@mkdir -p $(@D)
@$(course) $(1) > $@.$$$$ && mv $@.$$$$ $@ || { rm -f $@.$$$$; exit 1; }
endef
build/cpu/labs.mk: $(manifest)
	$(call from_manifest,make)
include build/cpu/labs.mk

build/cpu/labs/%/facts.h: $(manifest)
	$(call from_manifest,header $*)
lab_tests := $(patsubst %,build/cpu/obj/labs/%/test.cpp.o,$(labs))
$(lab_tests): build/cpu/obj/labs/%/test.cpp.o: build/cpu/labs/%/facts.h
$(lab_tests): facts_include = -I build/cpu/labs/$(notdir $(@D))

# The solutions' recorded times, for predictions of time.
build/cpu/recorded/recorded.h: common/testing/recorded.py $(addprefix plots/results/,nvidia-h200.json predicted-nvidia-h200.json fusion-nvidia-h200.json)
	@mkdir -p $(@D)
	@$(python) $^ $@
build/cpu/obj/common/testing/predictions.cpp.o: build/cpu/recorded/recorded.h
build/cpu/obj/common/testing/predictions.cpp.o: judge_include += -I build/cpu/recorded

objects = $(patsubst %,build/cpu/obj/%.o,$(1))
client_sources := $(addprefix common/rung/,client.cpp worker_process.cpp backend.cpp) $(addprefix common/simt/,source_line.cpp loaded_module.cpp)
client := $(call objects,$(client_sources))
formats := $(call objects,common/reference/formats.cpp)
# Each operator's part of the judge by itself: a lab's tests have that of the lab's operator.
operators := $(filter-out matrix,$(patsubst common/ops/%/arguments.h,%,$(wildcard common/ops/*/arguments.h)))
judge_of = $(call objects,$(filter-out common/ops/$(1)/test_%,$(wildcard common/ops/$(1)/*.cpp)))
reference := $(formats) $(call objects,common/reference/reference.cpp)
every_judge := $(call objects,$(wildcard common/ops/*.cpp common/ops/matrix/*.cpp))
comparison := $(call objects,common/testing/compare.cpp common/testing/patterns.cpp common/testing/cases.cpp)
# All of them, without what they demand of a lab.
judges := $(every_judge) $(comparison) $(filter-out %/demands.cpp.o,$(foreach o,$(operators),$(call judge_of,$(o)))) $(reference)
# Last: of an inline function that several objects hold, the linker takes the first, and this one is not optimised.
run_catch := $(call objects,common/testing/run_catch.cpp)
testing := $(filter-out $(run_catch),$(call objects,$(filter-out common/testing/test_%,$(wildcard common/testing/*.cpp))))

# What reads options and writes text takes milliseconds, too, and half as long to compile.
quick := $(addprefix common/testing/,check.cpp main.cpp moves.cpp shared_work.cpp next_step.cpp pace.cpp predictions.cpp progress.cpp record.cpp reporter.cpp session.cpp words.cpp) \
         $(addprefix common/bench/,bench.cpp count.cpp options.cpp results.cpp swap_ffn_bench.cpp) \
         $(addprefix common/simt/,announce/rewriter.cpp checks/cures.cpp checks/report.cpp counters/report.cpp launch_limits.cpp module_symbols.cpp nccl.cpp nccl_clique.cpp nccl_comm.cpp \
           timing/machine.cpp) \
         $(foreach f,bench testing reference rung ops/*,$(wildcard common/$(f)/test_*.cpp))
$(call objects,$(quick)): cxxflags += -O1
$(call objects,$(quick)): optimised := -O1

# Catch2's own work takes milliseconds; optimised, it is more than twice as long to compile.
$(run_catch): cxxflags += -O0 -g0
$(run_catch): precompiled :=

define link
@mkdir -p $(@D)
@$(CXX) $(filter %.o %.a,$^) $(if $(filter build/cpu/tests/%,$@),$(catch_library)) -ldl -pthread -o $@
endef

# The shared tests first: what they print comes in the order of linking.
$(foreach o,$(operators),$(eval $(patsubst %,build/cpu/tests/%,$(labs_of_$(o))): $(call judge_of,$(o))))
build/cpu/tests/lab%: $(testing) build/cpu/obj/labs/lab%/test.cpp.o $(every_judge) $(reference) $(client) $(run_catch)
	$(link)

build/cpu/backend: $(call objects,common/rung/backend_main.cpp) $(client)
	$(link)

build/cpu/roofs: $(call objects,$(addprefix common/bench/,roofs.cpp bandwidth.cpp fma.cpp exp.cpp machine.cpp))
	$(link)

build/cpu/bench: $(call objects,$(addprefix common/bench/,bench.cpp options.cpp logits.cpp measure.cpp clocks.cpp count.cpp results.cpp machine.cpp)) \
                 $(judges) $(client)
	$(link)

build/cpu/swap_ffn_bench: $(call objects,$(addprefix common/bench/,swap_ffn_bench.cpp clocks.cpp machine.cpp)) \
                          $(judges) $(client)
	$(link)

build/cpu/profile: $(call objects,$(addprefix common/bench/,profile.cpp logits.cpp measure.cpp clocks.cpp)) $(judges) $(client)
	$(link)

# It loads the kernel that it measures, plain and instrumented, as the worker loads a rung.
bench_simt_kernels := build/cpu/common/bench/simt_softmax.so build/cpu/checked/common/bench/simt_softmax.so
build/cpu/bench_simt: common/bench/bench_simt.cpp $(call objects,common/bench/machine.cpp) build/cpu/libsimt.a | $(bench_simt_kernels)
	@$(CXX) $(cxxflags) -MF $@.d $(simt_include) -I common/simt -I common/bench $< $(filter %.o,$^) \
	  -Wl,--whole-archive build/cpu/libsimt.a -Wl,--no-whole-archive -rdynamic -ldl -pthread -o $@

# The client for the Python binding (common/python), as a library that Python loads.
build/cpu/libladder_client.so: common/python/client_c.cpp $(client_sources)
	@mkdir -p $(@D)
	@$(CXX) $(cxxflags) -MF $@.d -MT $@ -fPIC -shared $(judge_include) $(filter %.cpp,$^) -ldl -pthread -o $@

# --- the course's own tests ---------------------------------------------------------------------------------------------

catch_main := $(call objects,common/simt/test_main.cpp) $(run_catch)

# The executor's: CUDA files with Catch2 in them, and the arithmetic of half and bfloat16.
build/cpu/tests/simt_%: common/simt/test_%.cu $(catch_main) build/cpu/libsimt.a $(rewriter)
	$(compile_program) $(catch_main) build/cpu/libsimt.a $(catch_library) -pthread -o $@

half_test_objects := $(call objects,common/simt/test_half.cpp common/simt/test_half_arithmetic.cpp common/simt/test_fp8.cpp)
build/cpu/tests/half: $(half_test_objects) $(catch_main)
	$(link)

build/cpu/tests/worker: $(call objects,$(wildcard common/rung/test_*.cpp)) $(catch_main) $(client) | \
                        build/cpu/worker $(patsubst %.cu,build/cpu/%.so,$(wildcard common/rung/testdata/*.cu)) \
                        build/cpu/checked/common/rung/testdata/apart.so
	$(link)

build/cpu/tests/compare: $(call objects,$(addprefix common/testing/,test_compare.cpp test_pace.cpp pace.cpp) $(wildcard common/ops/*/test_judge.cpp)) $(catch_main) $(judges)
	$(link)

build/cpu/tests/reference: $(call objects,common/reference/test_reference.cpp $(wildcard common/ops/*/test_reference.cpp)) $(catch_main) $(judges)
	$(link)

build/cpu/tests/bench: $(call objects,$(addprefix common/bench/,test_bench.cpp test_options.cpp test_clocks.cpp results.cpp count.cpp measure.cpp clocks.cpp machine.cpp options.cpp logits.cpp)) \
                       $(catch_main) $(judges) $(client)
	$(link)

# --- grading ------------------------------------------------------------------------------------------------------------

# What make check-doctor starts in the sandbox.
build/grade/escapes: common/grade/escapes.cpp
	@mkdir -p $(@D)
	@$(CXX) $(cxxflags) -MF $@.d $< -o $@

# Speed: the judge's program, and the timer that loads a rung for it; on the executor for tests.
build/cpu/obj/common/grade/speed/%.cpp.o: cxxflags += -I common/grade/speed
build/cpu/speed: $(call objects,$(addprefix common/grade/speed/,speed.cpp timer_client.cpp verify.cpp) common/rung/worker_process.cpp common/bench/clocks.cpp) \
                 $(judges)
	$(link)

build/cpu/timer: common/grade/speed/timer.cpp build/cpu/libsimt.a
	@$(CXX) $(cxxflags) -MF $@.d $(simt_include) -I common/simt -I common/rung $< \
	  -Wl,--whole-archive build/cpu/libsimt.a -Wl,--no-whole-archive -rdynamic -ldl -pthread -o $@

# --- instrumented rungs, counters ---------------------------------------------------------------------------------------

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
# No tables for switches: then a computed jump is the file's own, and the grader can refuse it.
instrument := -O1 -fno-tree-sra -fno-jump-tables -fno-reorder-blocks -fno-tree-ch -fno-thread-jumps -finline-functions -finline-small-functions -findirect-inlining \
              --param max-inline-insns-auto=2000 --param max-inline-insns-single=2000 --param inline-unit-growth=2000 \
              --param large-function-growth=2000 --param large-stack-frame-growth=2000 \
              --param tsan-distinguish-volatile=1 -fsanitize=thread -fsanitize-coverage=trace-pc \
              $(if $(announces),-mno-red-zone)

build/cpu/announce: $(patsubst %,build/cpu/obj/%.o,$(wildcard common/simt/announce/*.cpp))
	@mkdir -p $(@D)
	@$(CXX) $^ -o $@

# For those who compile the same way without make: simtcc whole programs, compile_rungs.sh with other compilers.
.PHONY: print-instrument print-no-hardening print-rung-flags print-announce
print-announce:
	@echo $(if $(announces),build/cpu/announce)
print-instrument:
	@echo $(instrument)
print-no-hardening:
	@echo $(no_hardening)
print-rung-flags:
	@echo $(rung_flags)

# What the instructions of its kernels are, for the model of a GPU's time, is a section of the object.
dump := -fdump-tree-optimized-lineno
operations := $(or $(PYTHON),$(python)) common/simt/timing/operations
operations_scripts := $(wildcard common/simt/timing/operations/*.py)

# $(call compile_checked,options): from $< to $@, an object. A rung's warnings came with its plain build.
no_warnings := -w
define compile_checked
@mkdir -p $(@D)
@$(rewritten) | \
  ($(limited) $(instrument_cxx) $(rung_flags) $(instrument) $(no_warnings) $(1) -iquote $(<D) -MMD -MP -MF $@.d -MT $@ -x c++ -S - \
  -o $@.compiled.s $(dump)=$@.dump) $(or_say)
@$(if $(announces),build/cpu/announce,cp) $@.compiled.s $@.s
@$(instrument_cxx) -c $@.s -o $@
@$(operations) $@ $@.dump > $@.operations || { echo "no time is predicted for $<: see above" >&2; : > $@.operations; }
@objcopy --add-section .simt_operations=$@.operations $@
@rm -f $@.compiled.s $@.s $@.dump $@.operations
endef

announce := $(if $(announces),build/cpu/announce)
build/cpu/checked/%.o: %.cu $(rewriter) $(operations_scripts) $(announce)
	$(call compile_checked)
build/cpu/checked/abs/%.o: /%.cu $(rewriter) $(operations_scripts) $(announce)
	$(call compile_checked)
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
build/cpu/tests/simt_counters: $(counter_tests) $(call objects,common/simt/counters/test_rules.cpp) $(catch_main) build/cpu/libsimt.a
	$(link)

build/cpu/tests/simt_checks: $(check_tests) $(catch_main) build/cpu/libsimt.a
	$(link)

# Predicts launches whose traces were saved (common/simt/timing/trace_file.h).
build/cpu/evaluate: $(call objects,common/simt/timing/calibration/evaluate.cpp) build/cpu/libsimt.a
	$(link)

build/cpu/warp_counts: $(call objects,$(addprefix common/simt/counters/,warp_counts.cpp readings.cpp rules.cpp))
	$(link)

# --- Lab 09 -------------------------------------------------------------------------------------------------------------

# What is given of a program of several devices, compiled by simtcc as any program is (common/commands/program.sh).
simtcc := $(or $(PYTHON),$(python)) common/simt/simtcc -I common/bench/sharded -I common/rung
sharded_headers := $(wildcard $(addprefix common/bench/sharded/,*.h *.cuh) common/rung/*.h solutions/lab06b_topk/*.cu)
define compile_sharded
@mkdir -p $(@D)
@$(simtcc) $(1) -c $< -o $@ 2>$@.log || { cat $@.log >&2; exit 1; }
endef
# Two rules: of one rule with two patterns make would think that it makes both files at a time.
build/cpu/sharded/plain/%.o: common/bench/sharded/%.cu $(sharded_headers) build/cpu/libsimt.a $(announce)
	$(call compile_sharded)
build/cpu/sharded/check/%.o: common/bench/sharded/%.cu $(sharded_headers) build/cpu/libsimt.a $(announce)
	$(call compile_sharded,--check -DONLY_F32)

# --- CUDA ---------------------------------------------------------------------------------------------------------------

# cudart is linked statically, so that no library that a rung brings can stand in for it.
nvcc_flags := -std=c++17 -O3 -lineinfo -arch=$(CUDA_ARCH) -cudart static -I common/rung -Xcompiler -Wall,-Wextra

# For the grader, which compiles in a sandbox.
.PHONY: print-nvcc print-nvcc-flags
print-nvcc:
	@echo $(NVCC)
print-nvcc-flags:
	@echo $(nvcc_flags)

# What labs 06 and 07 are given.
rung_parts := $(wildcard common/rung/limit/*.h common/rung/fusion/*.h)
operator_headers := $(wildcard common/ops/*.h common/ops/*/arguments.h)
build/cuda/worker: common/rung/worker.cpp $(operator_headers) $(addprefix common/rung/,rung.h rung_calls.h rung_here.h types.h printed.h protocol.h worker_reply.h device_buffers.h gpu_timing.h)
	@mkdir -p $(@D)
	@$(NVCC) $(nvcc_flags) -x cu $< -ldl -o $@

build/cuda/timer: common/grade/speed/timer.cpp $(addprefix common/grade/speed/,inputs.h timer_protocol.h) \
                  $(operator_headers) $(addprefix common/rung/,rung.h rung_calls.h types.h protocol.h worker_reply.h)
	@mkdir -p $(@D)
	@$(NVCC) $(nvcc_flags) -x cu $< -ldl -o $@

build/cuda/roofs: common/bench/roofs.cu build/cpu/obj/common/bench/machine.cpp.o common/bench/timing.h
	@mkdir -p $(@D)
	@$(NVCC) $(nvcc_flags) $(filter %.cu %.o,$^) -ldl -o $@

build/cuda/probe: $(wildcard common/simt/timing/probe/*.cu) common/simt/timing/probe/probe.h
	@mkdir -p $(@D)
	@$(NVCC) $(nvcc_flags) $(filter %.cu,$^) -o $@

build/cuda/experiments: theory/experiments.cu build/cpu/obj/common/bench/machine.cpp.o
	@mkdir -p $(@D)
	@$(NVCC) $(nvcc_flags) -I common/bench $^ -o $@

# For ncu to watch (common/cuda/launch_once.cu).
launch_once_objects := $(call objects,common/bench/logits.cpp) $(judges)
build/cuda/launch_once: common/cuda/launch_once.cu $(launch_once_objects) common/rung/rung.h $(operator_headers)
	@mkdir -p $(@D)
	@$(NVCC) $(nvcc_flags) -I common/ops -I common/testing -I common/reference -I common/bench $(filter %.cu %.o,$^) -ldl -o $@

# Only what includes it is linked with cuBLAS: where that is missing, all else builds.
cublas := -lcublas -Xlinker -rpath=$(abspath $(dir $(NVCC))../lib64)

build/cuda/%.so: %.cu common/rung/rung.h $(rung_parts) $(operator_headers)
	@mkdir -p $(@D)
	@$(NVCC) $(nvcc_flags) -Xcompiler -fPIC -shared $< $(if $(shell grep -l "cublas_v2.h" $<),$(cublas)) -o $@
build/cuda/abs/%.so: /%.cu common/rung/rung.h $(rung_parts) $(operator_headers)
	@mkdir -p $(@D)
	@$(NVCC) $(nvcc_flags) -Xcompiler -fPIC -shared $< $(if $(shell grep -l "cublas_v2.h" $<),$(cublas)) -o $@

# Compiled for every architecture that the course promises, only to see that it can be: build/cuda/check/PATH.o. Nobody runs
# the result, so a toolkit that has an option to compile quickly gets it. No file of the course asks for an architecture
# between 80 and 90 (__CUDA_ARCH__), so that 86 and 89 have the PTX of 80; each has its own pass of the assembler, which
# knows its instructions and limits.
# 100 and 120: where the toolkit has them.
later_archs = $(filter 100 120,$(patsubst sm_%,%,$(shell $(NVCC) --list-gpu-code)))
check_for = -gencode arch=compute_75,code=sm_75 -gencode arch=compute_80,code=[sm_80,sm_86,sm_89] \
            -gencode arch=compute_90,code=sm_90 $(foreach a,$(later_archs),-gencode arch=compute_$(a),code=sm_$(a))
# A starter has variables for what its TODOs will do.
build/cuda/check/labs/%.o: unused := -diag-suppress 177,550
compile_quickly = $(if $(shell $(NVCC) --help | grep -e --Ofast-compile),-Ofc max)
build/cuda/check/%.o: %.cu common/rung/rung.h $(rung_parts) $(operator_headers)
	@mkdir -p $(@D)
	@$(NVCC) -std=c++17 -O1 $(compile_quickly) -I common/rung -Xcompiler -Wall,-Wextra -Werror all-warnings $(unused) $(check_for) -c $< -o $@

-include $(shell find build/cpu build/cuda build/grade -type f -name '*.d' 2>/dev/null)
