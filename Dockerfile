# A system for the course with every package that its commands use. Nothing runs as root inside.
#
#     docker build -t ladder .                                      Debian 12
#     docker build -t ladder --build-arg SYSTEM=ubuntu:24.04 .      Ubuntu 24.04
#     docker run --rm -it -v "$PWD":/course ladder                  a shell in this working copy
#     docker run --rm -v "$PWD":/course ladder make lab01           one command
#
# Inside, you are user 1000, as the first user of most machines is. If `id -u` says something else on yours, add
# --user "$(id -u):$(id -g)" to docker run: the course needs no entry in passwd.
#
# The image holds packages only; the course stays on the host, in /course. The grader's sandbox (make check) needs user
# namespaces, which Docker does not allow by default: add --security-opt seccomp=unconfined --security-opt apparmor=unconfined.
ARG SYSTEM=debian:12
FROM ${SYSTEM}

# The list of packages is that of setup.sh, so that there is one. Those named here are not asked for by every command.
COPY common/commands/common.sh common/commands/options.sh common/commands/setup.sh /tmp/setup/common/commands/
RUN apt-get update \
    && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends make git clang-format \
    && /tmp/setup/common/commands/setup.sh --docs \
    && rm -rf /tmp/setup /var/lib/apt/lists/*

# Ubuntu's image already has a user 1000, Debian's has none.
RUN getent passwd 1000 >/dev/null || useradd --create-home --uid 1000 --shell /bin/bash student
USER 1000
ENV LANG=C.UTF-8
WORKDIR /course
CMD ["bash"]
