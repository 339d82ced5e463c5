#!/bin/bash
. "$(dirname "$0")/common.sh"
cat <<TEXT
${bold}Ladder${plain}: one kernel, row-wise softmax, from naive to the limit of the chip.

  make ladder        build, check and measure every solution; print the ladder; draw plots/roofline.svg
  make lab02         build and test your labs/lab02_smem/*.cu, then measure it
                       SOLUTION=1       the solution instead
                       FILE=path.cu     any other file against this lab's tests
                       CASE=name        one case (a name from the output; * and ? match)
                       CASES=all        also the cases that are left out because they take long
                       CHECKS=off       without memcheck, racecheck, initcheck and synccheck
  make profile02     what the kernels ask of the memory, line by line (SOLUTION=1, FILE=, SHAPE=64x4096)
                       BACKEND=cuda     the same from a GPU's own counters, by ncu
  make watch02       test your file again on every save, until Ctrl-C (CASE= too)
  make hint02        the next hint of a lab
  make diff02        what the solution does otherwise than your file, once yours is right
  make status        every lab: right or not, predictions, hints, counts beside the solution's
  make roofline      draw the chart again from plots/results/
  make docs          the book, the handouts and the API as a web site: build/site/index.html
  make experiments   what the book says of a GPU's latency, launches and caches, measured on yours
  make sanitize02    on a GPU: the tests of a lab under the four tools of compute-sanitizer (SOLUTION=1, FILE=, CASE=)
  make profile-diff  on a GPU: the counters of every solution, ncu's and the executor's (SHAPES=64x600,16x4096)
  make peers         on a GPU: this repository beside PyTorch, torch.compile, Triton, cuDNN (OPS=, DTYPES=, SHAPES= a part)
  make new-lab NAME=lab08_thing   a new lab that works, to be made your own (for those who write labs)
  make check         grade this working copy; a class with SUBMISSIONS=folder OUT=folder (JOBS=, POINTS=file)
  make check-doctor  prove that the sandbox around foreign code holds
  make bench-simt    how fast the executor is on this machine
  make test          everything that CI runs
  make setup         install missing packages (the other commands call it when needed)

  BACKEND=auto|cuda|cpu chooses where kernels run.

The labs: $(labs | tr '\n' ' ')
Start with ${bold}labs/lab01_naive/README.md${plain}.
TEXT
