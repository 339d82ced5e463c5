#!/bin/bash
. "$(dirname "$0")/common.sh"
cat <<TEXT
${bold}Ladder${plain}: one kernel, row-wise softmax, from naive to the limit of the chip.

  make ladder        build, check and measure every solution; print the ladder; draw plots/roofline.svg
  make lab02         build and test your labs/lab02_smem/*.cu, then measure it
                       SOLUTION=1       the solution instead
                       FILE=path.cu     any other file against this lab's tests
                       CASE=name        one case (a name from the output; * and ? match)
                       VARIANT=tree     one variant ('online f16' where one has several types)
                       CASES=all        also the cases that are left out because they take long
                       CHECKS=off       without memcheck, racecheck, initcheck and synccheck
  make profile02     what the kernels ask of the memory, line by line (SOLUTION=1, FILE=, SHAPE=64x4096)
                       BACKEND=cuda     the same from a GPU's own counters, by ncu
  make watch02       test your file again on every save, until Ctrl-C (CASE=, VARIANT= too)
  make hint02        the next hint of a lab; TODO=4: for this TODO
  make lab02 TODO=4  this TODO alone, in the solution: is it right, whatever the others are?
  make diff02        what the solution does otherwise than your file, once yours is right
  make status        every lab: right or not, predictions, hints, counts beside the solution's
  make roofline      draw the chart again (FILE=plots/results/x.json: of another machine)
  make docs          the book, the handouts and the API as a web site: build/site/index.html
  make experiments   what the book says of a GPU's latency, launches and caches, measured on yours
  make sanitize02    on a GPU: the tests of a lab under the four tools of compute-sanitizer (SOLUTION=1, FILE=, CASE=, VARIANT=)
  make profile-diff  on a GPU: the counters of every solution, ncu's and the executor's (SHAPES=64x600,16x4096)
  make peers         on a GPU: this repository beside PyTorch, torch.compile, Triton, cuDNN (OPS=, DTYPES=, SHAPES= a part)
  make new-lab NAME=lab08_thing   a new lab that works, to be made your own (for those who write labs)
  make check         grade this working copy; a class with SUBMISSIONS=folder OUT=folder (JOBS=, POINTS=file)
                       LABS=lab02       that lab alone; the other grades in OUT stay
                       KEEP=1           keep the grades in OUT of those who are not in SUBMISSIONS
  make decide        what a person decides about a grade: OUT=folder STUDENT=id LAB=lab02 RELEASE=1, DENY=1, POINTS=85,
                     BONUS=3, LATE_DAYS=0, COMMENT="..."; OUT alone lists what waits
  make similar       which files of a class are alike: SUBMISSIONS=folder OUT=folder (LABS=lab02, ALSO=earlier class)
  make check-doctor  prove that the sandbox around foreign code holds
  make bench-simt    how fast the executor is on this machine
  make test          everything that CI runs
  make setup         install missing packages (the other commands call it when needed)

  make test-bare     the first two commands of README on a bare Debian 12 and Ubuntu 24.04 (root; SYSTEMS=, COMMANDS=)

  BACKEND=auto|cuda|cpu chooses where kernels run.
  Measurements go to plots/local/ and charts to plots/, ignored by git; PUBLISH=1 replaces what the repository shows.

The labs: $(labs | tr '\n' ' ')
Start with ${bold}labs/lab01_naive/README.md${plain}.
TEXT
