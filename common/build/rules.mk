# How everything is built, on the CPU and, where nvcc is, for CUDA. Run from the repository's root:
#   make -f common/build/rules.mk build/cpu/worker
# The commands in common/commands call this; nobody else needs to.
#
#   build/cpu/obj/       objects of the course's own code
#   build/cpu/worker     loads a rung's shared object and runs it on the executor
#   build/cpu/PATH.so    the rung PATH.cu (build/cpu/abs/PATH.so for one outside the repository)
#   build/cpu/tests/     test programs: one per lab, and the course's own
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
# known. simt/include stands for the CUDA toolkit. No PLT on x86-64: code there has no line, and calls are quicker without.
# aarch64 needs it: only then is a call's relocation at the call itself, where timing/operations/hooks.py looks for it.
# DWARF 4: with 5, addr2line takes the name of the piped file for that of #line. No tracking of variables: what is reported
# names lines, never variables, and large kernels compile in three quarters of the time. No folding of equal functions: one of a
# kernel's two launches would lose its lines. clang++ does not fold them.
simt_include := -I common/simt/include
# What Ubuntu's compiler adds by itself is left out: guards of the stack and of the C library's functions are accesses and calls
# that no kernel has.
no_hardening := -fno-stack-protector -fno-stack-clash-protection -U_FORTIFY_SOURCE $(if $(filter x86_64,$(shell uname -m)),-fcf-protection=none)
no_plt := $(if $(filter x86_64,$(shell uname -m)),-fno-plt)
no_folding := $(if $(findstring clang,$(CXX)),,-fno-ipa-icf)
rung_flags := $(no_hardening) -std=c++17 -O2 -gdwarf-4 -fno-var-tracking -fPIC $(no_plt) -fno-semantic-interposition $(no_folding) $(warnings) -Wno-unknown-pragmas -fno-strict-aliasing -fno-math-errno \
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
	@$(CXX) $(filter-out -MMD -MP,$(cxxflags)) -x c++-header $< -o $@.$$$$ && mv $@.$$$$ $@  # nobody reads half of it

# --- the executor and the worker ----------------------------------------------------------------------------------------

simt_folders := common/simt common/simt/apart common/simt/instrument common/simt/checks common/simt/counters common/simt/timing
simt_sources := $(filter-out %/warp_counts.cpp,$(foreach f,$(simt_folders),$(filter-out $(f)/test_%,$(wildcard $(f)/*.cpp)))) \
                common/simt/switch.S
simt_objects := $(patsubst %,build/cpu/obj/%.o,$(simt_sources)) $(patsubst %,build/cpu/obj/%.o,common/simt/instrument/seen.S)

# CUDA's libraries that no lab uses: only programs are linked with them (simtcc), and nobody's first lab waits for Eigen's templates.
library_objects := $(patsubst %,build/cpu/obj/%.o,$(wildcard common/simt/libraries/*.cpp))

# -O3: its loops over the 32 lanes of a warp become vector instructions. What runs once and writes text does without (see quick).
optimised := -O3
build/cpu/obj/common/simt/%.cpp.o: common/simt/%.cpp | $(standard)
	@mkdir -p $(@D)
	@$(CXX) $(cxxflags) $(precompiled) $(optimised) $(simt_include) $(eigen) -c $< -o $@

build/cpu/obj/common/simt/timing/machine.cpp.o: cxxflags += -DSIMT_MACHINES='"$(abspath common/simt/timing/machines)"'

build/cpu/obj/common/simt/%.S.o: common/simt/%.S
	@mkdir -p $(@D)
	@$(CXX) -c $< -o $@

# Without its lines, which are in the objects: no message names one, and each program that simtcc links takes half as long to link.
build/cpu/libsimt.a: $(simt_objects)
build/cpu/libsimt_libraries.a: $(library_objects)
build/cpu/libsimt.a build/cpu/libsimt_libraries.a: common/build/rules.mk  # which says what is in them
	@rm -f $(own)
	@ar rcs $(own) $(filter %.o,$^)
	@strip --strip-debug $(own)
	@mv $(own) $@

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
# What a recipe leaves and takes away again is named by make's process: another make may compile the same file at the same time.
own = $@.$(make_process)
make_process := $(shell echo $$PPID)
or_say = 2> $(own).said || failed=1; cat $(own).said >&2; if [ "$$failed" ]; then ! grep -qE "$(too_much)" $(own).said || \
  echo "$<: takes more than $(SIMT_COMPILE_SECONDS) s or $(SIMT_COMPILE_GIB) GiB to compile; look for a macro or a template that calls for itself" >&2; \
  rm $(own).said; exit 1; fi; rm $(own).said

# What no macro can express is rewritten, for rungs as for the programs that simtcc compiles.
rewriter := $(filter-out $(patsubst %,common/simt/%.py,profile simtcc_testing survey test_%),$(wildcard common/simt/*.py))
rewritten = { $(python) -S common/simt/rewritten.py $(part) $< < $< || echo '\#error "this file could not be rewritten: see above"'; }

# What every rung begins with, compiled once: half of the compiler's time for a short one. begin.h includes it, for a compiler that
# cannot use what was compiled. (CUDA's own compiler begins with cuda_runtime.h. That a rung includes rung.h itself, clang sees.)
rung_begins = $(if $(findstring clang,$(CXX)),,build/cpu/precompiled/rung/$(1)/begin.h.gch)
begin_rung = -include $(or $(basename $(call rung_begins,$(1))),rung.h)
define precompile
@mkdir -p $(@D)
@echo '#include <$(<F)>' > $(basename $@)
@$(1) -MMD -MP -MF $@.d -MT $@ -x c++-header $(basename $@) -o $@.$$$$ && mv $@.$$$$ $@  # nobody reads half of it
endef
build/cpu/precompiled/rung/plain/begin.h.gch: common/rung/rung.h
	$(call precompile,$(CXX) $(rung_flags))

# $(call compile_rung,options)
define compile_rung
@mkdir -p $(@D)
@$(rewritten) | \
  ($(limited) $(CXX) $(call begin_rung,plain) $(rung_flags) -iquote $(<D) -MMD -MP -MF $@.d -MT $@ -shared $(1) -x c++ - -o $@) $(or_say)
endef

build/cpu/%.so: %.cu $(rewriter) $(call rung_begins,plain)
	$(call compile_rung)
build/cpu/abs/%.so: /%.cu $(rewriter) $(call rung_begins,plain)
	$(call compile_rung)

# Whether nvcc would take the file, asked of clang beside the compiler (common/simt/rules), which reads the course's headers once.
# Without clang (status 2) it says so and nothing is refused.
rules_of := common/simt/rules
# Below the path of this folder: clang keeps where the headers lay, and in a copy of the course it would take them for others.
rules_headers := $(if $(shell command -v clang++),build/cpu/rules$(CURDIR)/declarations.pch)
build/cpu/rules$(CURDIR)/declarations.pch: $(rules_of)/front_end.py $(rules_of)/declarations.h
	@mkdir -p $(@D)
	@$(python) $(rules_of)/front_end.py $@
define check_rules
@mkdir -p $(@D)
@$(python) $(rules_of)/refused.py $(addprefix --headers=,$(rules_headers)) -std=c++17 -I common/rung -iquote $(<D) $< && touch $@ || [ $$? -eq 2 ]
endef

rules_parts := $(wildcard $(rules_of)/*.py common/rung/*.h common/rung/limit/*.h common/rung/fusion/*.h common/ops/*.h common/ops/*/arguments.h) $(rules_headers)
build/cpu/%.rules: %.cu $(rules_parts)
	$(check_rules)
build/cpu/abs/%.rules: /%.cu $(rules_parts)
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
course := PYTHONPATH=common $(python) -m course
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
quick := $(addprefix common/testing/,accesses.cpp check.cpp counted_shapes.cpp main.cpp moves.cpp shared_work.cpp next_step.cpp pace.cpp predictions.cpp read_counters.cpp reductions.cpp request.cpp events.cpp reporter.cpp session.cpp words.cpp) \
         $(addprefix common/bench/,bench.cpp count.cpp options.cpp results.cpp swap_ffn_bench.cpp) \
         $(addprefix common/simt/,announce/directives.cpp announce/rewriter.cpp checks/cures.cpp checks/report.cpp counters/report.cpp \
           launch_limits.cpp module_symbols.cpp nccl.cpp nccl_clique.cpp nccl_comm.cpp \
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

build/cpu/tests/compare: $(call objects,$(addprefix common/testing/,test_compare.cpp test_pace.cpp pace.cpp test_drawn_shapes.cpp drawn_shapes.cpp) $(wildcard common/ops/*/test_judge.cpp)) $(catch_main) $(judges)
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

# Speed: the judge's program.
build/cpu/speed: $(call objects,$(addprefix common/grade/speed/,speed.cpp verify.cpp) common/bench/clocks.cpp) $(judges) $(client)
	$(link)

include common/build/instrumented.mk

include common/build/programs.mk
include common/build/predictions.mk

# --- Lab 09 -------------------------------------------------------------------------------------------------------------

# What is given of a program of several devices, compiled by simtcc as any program is (common/commands/program.sh).
simtcc := $(or $(PYTHON),$(python)) common/simt/simtcc $(addprefix -I common/,bench/sharded rung testing reference)
sharded_headers := $(wildcard $(addprefix common/bench/sharded/,*.h *.cuh) common/rung/*.h common/testing/compare.h common/reference/reference.h solutions/lab06b_topk/*.cu)
define compile_sharded
@mkdir -p $(@D)
@$(simtcc) $(1) -c $< -o $@ 2>$@.log || { cat $@.log >&2; exit 1; }
endef
# What is right, and what is said of a wrong result: as in the other labs.
build/cpu/sharded/judge.o: $(call objects,common/testing/compare.cpp common/testing/patterns.cpp) $(reference)
	@mkdir -p $(@D)
	@$(CXX) -r $^ -o $@
build/cpu/sharded/cases: $(call objects,common/bench/sharded/cases.cpp)
	$(link)
# A rule for each: of one rule with several patterns make would think that it makes all files at a time.
build/cpu/sharded/plain/%.o: common/bench/sharded/%.cu $(sharded_headers) | simtcc-parts
	$(call compile_sharded)
build/cpu/sharded/check/%.o: common/bench/sharded/%.cu $(sharded_headers) | simtcc-parts
	$(call compile_sharded,--check -DONLY_F32)

include common/build/cuda.mk

-include $(shell find build/cpu build/cuda build/grade -type f -name '*.d' 2>/dev/null)
