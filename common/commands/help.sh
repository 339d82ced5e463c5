#!/bin/bash
. "$(dirname "$0")/common.sh"
read_labs_if_possible
cat <<TEXT
${bold}Ladder${plain}: one kernel, row-wise softmax, from naive to the limit of the chip.

For students
  make lab02         build and test your labs/lab02_smem/*.cu, then measure it;
                     without a GPU, predict its time on one
                       SOLUTION=1       the solution instead
                       FILE=path.cu     any other file against this lab's tests
                       BROKEN=name      a wrong kernel (solutions/*/broken.toml)
                       CASE=name        one case of the output (* and ? match)
                       TODO=4           one TODO of yours, in the solution
                       VARIANT=tree     one variant ('online f16': of one type)
                       CASES=all        also the cases that take long
                       CHECKS=off       without memcheck, racecheck, initcheck
                                        and synccheck
                       GPU=h100         predict times for this GPU, not an h200
                       TIME=executor    measure the executor's time instead
                       PREDICT=1        on a GPU: predictions beside the times
  make watch02       test your file again on every save, until Ctrl-C
                       (CASE=, VARIANT= too)
  make hint02        the next hint of a lab; TODO=4: for this TODO
  make profile02     the kernels' memory requests, line by line
                       (SOLUTION=1, FILE=, VARIANT=, SHAPE=64x4096)
                       BACKEND=cuda     the same from a GPU's counters, by ncu
  make sweep02       its times over widths, 256 to 8192, with a chart
                       OVER=threads     over threads per block, 32 to 1024
                       (SOLUTION=1, FILE=, VARIANT=, GPU=)
  make diff02        how the solution differs from yours, once yours is right
  make status        every lab: right or not, predictions, hints, your counts
                     beside the solution's
  make roofline      draw the chart again (FILE=plots/results/x.json: of another
                     machine)
  make docs          book, handouts and API as a web site: build/site/index.html

For everyone
  make ladder        build, check and measure every solution, or without a GPU
                     predict it (GPU=h100); print the ladder; draw
                     plots/roofline.svg and plots/climb.svg
  make experiments   what the book says of a GPU's latency, launches and caches,
                     measured on yours
  make bench-simt    how fast the executor is on this machine
  make setup         install missing packages (other commands call it if needed)

On a GPU
  make sanitize02    a lab's tests under the four tools of compute-sanitizer
                       (SOLUTION=1, FILE=, CASE=, VARIANT=)
  make profile-diff  the counters of every solution: ncu's and the executor's
                       (SHAPES=64x600,16x4096)
  make probe         measure this GPU for the model that predicts times, and
                     write its machine file
  make peers         beside PyTorch, torch.compile, Triton and cuDNN
                       (OPS=, DTYPES=, SHAPES=: a part; VALUES=masked,ties:
                       other data; PEERS=none: without the others)

For instructors
  make new-lab NAME=lab10_thing   a new lab that works, to be made your own
  make check         grade this working copy; a class with SUBMISSIONS=folder
                     OUT=folder (JOBS=, POINTS=file)
                       LABS=lab02       that lab alone; other grades in OUT stay
                       KEEP=1           keep the grades in OUT of students who
                                        are not in SUBMISSIONS
                       ON=slurm         on a cluster (PARTITION=, ACCOUNT=,
                                        TIME=, MEM=, GPUS=, PER_TASK=)
  make decide        decide about a grade: OUT=folder STUDENT=id LAB=lab02 and
                     RELEASE=1, DENY=1, POINTS=85, BONUS=3, LATE_DAYS=0 or
                     COMMENT="..."; OUT alone lists what waits
  make similar       which files of a class are alike: SUBMISSIONS=folder
                     OUT=folder (LABS=lab02, ALSO=earlier class)
  make check-doctor  prove that the sandbox around foreign code holds

For developers
  make test          everything that CI runs (ONLY=word: a part)
  make test-rest     what make test leaves out of its longest lists
                       (MINUTES=N: begins no check after N minutes)
  make test-bare     README's two commands, and the Dockerfile's steps, on bare
                       Debian 12 and Ubuntu 24.04 (root; SYSTEMS=, COMMANDS=)

BACKEND=auto|cuda|cpu chooses where kernels run.
Measurements go to plots/local/ and charts to plots/; git ignores both.
PUBLISH=1 replaces what the repository shows.

The labs: $(all_labs | tr '\n' ' ' | fold -s -w 70 | sed '2,$s/^/          /; s/ *$//')

Start with ${bold}labs/lab01_naive/README.md${plain}.
TEXT
