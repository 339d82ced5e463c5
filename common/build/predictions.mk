# What make ladder predicts of the solutions for a GPU, each shape of each lab by itself: a lab is predicted while another one compiles, and all
# cores have work. Included by rules.mk.
#
#   build/ladder/h200/LAB.COLS.json      of normal logits (common/bench/predict.py)
#   build/ladder/h200/LAB.bigrams.json   of the matrix of words (common/bench/bigrams.py)
#   build/ladder/h200/LAB.COLS.there     no file: makes that one and says LAB.COLS, also where there is nothing to do

# Or a machine file of one's own, PATH.json.
predicted_gpu ?= h200
ladder := build/ladder/$(basename $(notdir $(predicted_gpu)))/
predicts := build/cpu/profile build/cpu/worker common/bench/predict.py common/bench/gpus.py labs/labs.toml $(or $(filter %.json,$(predicted_gpu)),common/simt/timing/machines/$(predicted_gpu).json)

# Top-K also writes the words that the ladder shows at its end.
bigrams = --cols $$(wc -l <build/bigrams.words) --k 5 --input bigrams --matrix build/bigrams.f32 $(if $(filter $(labs_of_softmax_topk),$(1)),--topk-output build/bigrams.topk)

# $(call predict,LAB,options); without what an earlier run left: its variants may have had other names.
define predict
@mkdir -p $(@D)
@rm -f $@
@$(python) common/bench/predict.py --gpu $(predicted_gpu) --lab $(1) --rung $< --source solution --results $@ $(2)
endef

define predictions_of
$(ladder)$(1).%.json: build/cpu/checked/$(solution_of_$(1)).so $(predicts)
	$$(call predict,$(1),--cols $$*)
$(ladder)$(1).bigrams.json: build/cpu/checked/$(solution_of_$(1)).so $(predicts) build/bigrams.f32
	$$(call predict,$(1),$$(call bigrams,$(1)))
endef
$(foreach lab,$(labs),$(eval $(call predictions_of,$(lab))))

$(ladder)%.there: $(ladder)%.json
	@echo $*
