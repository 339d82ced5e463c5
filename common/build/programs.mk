# What simtcc compiles programs with (common/simt/simtcc). Included by rules.mk.

# What nvcc, too, says nothing about, it leaves out.
program_warnings := -Wall $(addprefix -Wno-,unknown-pragmas unused sign-compare comment reorder class-memaccess attributes deprecated-declarations \
                    maybe-uninitialized parentheses)
program_flags := $(no_hardening) -gdwarf-4 $(program_warnings) -fno-strict-aliasing -fno-math-errno $(no_plt) -findirect-inlining \
                 -DSIMT_WHOLE_PROGRAM
# Of a program that does not say others; with others the compiler reads the headers each time.
program_defaults := -O2 -std=c++17

# The CUDA headers, which every program begins with, compiled once.
program_begins := $(foreach build,plain checked,build/cpu/precompiled/program/$(build)/begin.h.gch)
build/cpu/precompiled/program/plain/begin.h.gch: common/simt/include/cuda_runtime.h
	$(call precompile,g++ $(program_flags) $(simt_include) $(program_defaults))
build/cpu/precompiled/program/checked/begin.h.gch: common/simt/include/cuda_runtime.h
	$(call precompile,g++ $(program_flags) $(simt_include) $(program_defaults) $(instrument))

# Linked before and after a program's own objects.
program_starts := $(patsubst %,build/cpu/obj/%.o,$(wildcard common/simt/start/*.cpp))
$(program_starts): cxxflags += -DSIMT_FOLDER='"$(abspath common/simt)"' -I common/simt $(simt_include)

# All of it, and what simtcc must know, a line each.
.PHONY: simtcc simtcc-parts
simtcc-parts: build/cpu/libsimt.a build/cpu/libsimt_libraries.a $(announce) $(program_begins) $(program_starts) $(rules_headers)
simtcc: simtcc-parts
	@echo "flags: $(program_flags)"
	@echo "defaults: $(program_defaults)"
	@echo "instrument: $(instrument)"
	@echo "announce: $(announce)"
	@echo "headers: $(rules_headers)"
