# What nvcc compiles: the worker, the rungs and the measuring programs for a GPU. Included by rules.mk.

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
build/cuda/worker: common/rung/worker.cpp $(operator_headers) $(addprefix common/rung/,rung.h rung_calls.h rung_here.h types.h printed.h protocol.h worker_reply.h device_buffers.h gpu_timing.h timed.h timed_inputs.h timed_sets.h)
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

build/cuda/dependent_copy: theory/dependent_copy.cu build/cpu/obj/common/bench/machine.cpp.o common/rung/gpu_timing.h $(rung_parts)
	@mkdir -p $(@D)
	@$(NVCC) $(nvcc_flags) -I common/bench $(filter %.cu %.o,$^) -o $@

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
