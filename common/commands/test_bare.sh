#!/bin/bash
# make test-bare: README's two commands on systems on which nothing is installed but make: a bare Debian 12 and a bare Ubuntu
# 24.04, each made from the distribution's packages in a folder of build/. Another python3 without packages stands first on
# the PATH there, as pyenv's or conda's would. Needs root, mmdebstrap, and the distribution's mirror.
#   SYSTEMS=debian,ubuntu        which systems (default: both)
#   COMMANDS=ladder,test,image   which commands, each on a system of its own (default: all). image: the Dockerfile's steps, without
#                                that python3, and then, as the image's user, who is not root: make setup lab01 SOLUTION=1
#   ONLY=word,word            which checks of make test (default: all)
# After each command git must see no change.
# Status 0: all passed; 1: a command failed; 3: nothing failed, but a system could not be tried.
. "$(dirname "$0")/common.sh"

list_of() { tr ',' ' ' <<<"$1"; }
systems=$(list_of "${SYSTEMS:-debian,ubuntu}") commands=$(list_of "${COMMANDS:-ladder,test,image}")
for system in $systems; do
  [[ $system =~ ^(debian|ubuntu)$ ]] || fail "SYSTEMS=$SYSTEMS: it can be debian, ubuntu, or both: debian,ubuntu"
done
for command in $commands; do
  [[ $command =~ ^(ladder|test|image)$ ]] || fail "COMMANDS=$COMMANDS: it can be ladder, test, image, or several: ladder,test"
done

not_tried=() failed=()
skip() {  # SYSTEM WHY
  say "$1: not tried: $2"
  not_tried+=("$1")
}
# Nothing could be tried at all.
skip_all() {
  for system in $systems; do skip "$system" "$1"; done
  say "0 passed, 0 failed, ${#not_tried[@]} skipped"
  exit 3
}

[ "$(id -u)" -eq 0 ] || skip_all "only root can make a bare system; run it as root"
unshare --mount --pid --fork true 2>/dev/null || skip_all "this machine allows no mount namespaces (a container without rights?)"
if ! command -v mmdebstrap >/dev/null; then
  apt=$(command -v apt-get) || skip_all "mmdebstrap is not installed, and there is no apt-get"
  say "mmdebstrap is missing: installing it ..."
  { "$apt" install -y --no-install-recommends mmdebstrap || { "$apt" update && "$apt" install -y --no-install-recommends mmdebstrap; }; } \
    >/dev/null 2>&1 || skip_all "apt-get could not install mmdebstrap"
fi

need_build_folder
work=$(mktemp -d "$PWD/build/bare.XXXXXX") || fail "cannot write to $PWD/build"
child= keys=
# Mounts and processes of a system live in namespaces that end with the command, so that only files are left to remove.
clean_up() {
  [ -z "$child" ] || kill -KILL "$child" 2>/dev/null
  wait
  rm -rf "$work" "$keys"
}
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
# Runs a command so that a signal is acted upon at once, and not when the command has ended.
attended() {
  "$@" &
  child=$!
  wait "$child"
  local status=$?
  child=
  return $status
}

# Sets $keyring to a file with Ubuntu's keys. Debian 12 has no package of them; Debian 13 has, signed by Debian.
find_ubuntu_keyring() {
  keyring=/usr/share/keyrings/ubuntu-archive-keyring.gpg
  [ ! -s "$keyring" ] || return 0
  local apt=$work/apt debian_keys=/usr/share/keyrings/debian-archive-keyring.gpg
  [ -s "$debian_keys" ] || return
  mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial"
  echo "deb [signed-by=$debian_keys] http://deb.debian.org/debian trixie main" >"$apt/list"
  local options=(-q -o "Dir::Etc::sourcelist=$apt/list" -o Dir::Etc::sourceparts=- -o "Dir::State::lists=$apt/lists"
    -o "Dir::Cache=$apt/cache" -o APT::Sandbox::User=root)
  (cd "$apt" && apt-get "${options[@]}" update && apt-get "${options[@]}" download ubuntu-keyring &&
    dpkg-deb -x ubuntu-keyring_*.deb keys) >"$apt/log" 2>&1 || return
  # apt reads it as a user of its own, who may not be let into this folder.
  keyring=$(mktemp --tmpdir ubuntu-keyring.XXXXXX.gpg) && keys=$keyring &&
    cp "$apt/keys/usr/share/keyrings/ubuntu-archive-keyring.gpg" "$keyring" && chmod 644 "$keyring"
}

# make_system SYSTEM FILE.tar: a bare system with make, and with a python3 in /usr/local/bin that has no packages.
make_system() {
  local release=bookworm mirror=http://deb.debian.org/debian components=main
  keyring=/usr/share/keyrings/debian-archive-keyring.gpg
  if [ "$1" = ubuntu ]; then
    release=noble mirror=http://archive.ubuntu.com/ubuntu components=main,universe
    find_ubuntu_keyring || { why="Ubuntu's keys are not here (package ubuntu-keyring)"; return 1; }
  fi
  [ -s "$keyring" ] || { why="Debian's keys are not here (package debian-archive-keyring)"; return 1; }
  # The other python3: the distribution's, unpacked elsewhere, with the libraries that it needs.
  local other_python='set -e
    sed -i "s/\[signed-by=[^]]*\] //" /etc/apt/sources.list
    cd /tmp && apt-get install -y -q --download-only --no-install-recommends python3
    for package in /var/cache/apt/archives/*.deb; do dpkg-deb -x "$package" /opt/other_python; done
    echo /opt/other_python/usr/lib/*-linux-gnu >/etc/ld.so.conf.d/other_python.conf
    ldconfig
    mkdir -p /usr/local/bin
    ln -s "$(readlink -f /opt/other_python/usr/bin/python3)" /usr/local/bin/python3
    apt-get clean
    rm -rf /usr/share/doc /usr/share/locale'
  attended mmdebstrap --quiet --mode=root --variant=minbase --include=apt,make --components="$components" --keyring="$keyring" \
    --customize-hook="chroot \"\$1\" sh -c '$other_python'" "$release" "$2" "$mirror" >"$work/$1.log" 2>&1 ||
    { why="it could not be made from $mirror (no network, or no such mirror here?); the end of the log:
$(grep -v '^Get:' "$work/$1.log" | tail -n 8 | cut -c 1-160)"; return 1; }
}

# inside FOLDER COMMAND...: with the folder as /, in namespaces of its own; what it mounts or leaves running ends with it.
inside() {
  local root=$1
  shift
  attended unshare --mount --pid --ipc --fork --kill-child bash -c '
    set -e
    mount --make-rprivate /
    mount --bind "$0" "$0"
    mount -t proc proc "$0/proc"
    mount --rbind /sys "$0/sys"
    mount --rbind /dev "$0/dev"
    cd "$0"
    mkdir .outside
    pivot_root . .outside
    umount -l /.outside
    rmdir /.outside
    cd /course
    exec env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root TERM=dumb LANG=C.UTF-8 "$@"' \
    "$root" ${http_proxy:+http_proxy="$http_proxy"} ${https_proxy:+https_proxy="$https_proxy"} "$@" </dev/null
}

# The course as git has it, with what was changed and not yet committed. A newcomer's clone has no build/.
copy_course() {
  mkdir -p "$1/course"
  if [ -e .git ] && cp "$(git rev-parse --git-path index)" "$work/index"; then
    git ls-files -z --cached --others --exclude-standard
  else
    find . -mindepth 1 \( -name build -o -name __pycache__ \) -prune -o -type f -print0
  fi | tar -c --null --ignore-failed-read -T - 2>/dev/null | tar -x -C "$1/course"
}

# changes FOLDER: the files in which it differs from the index that it was copied by, and new files that git would see.
changes() {
  [ -e "$work/index" ] || return 0
  local git=(git --git-dir="$(git rev-parse --absolute-git-dir)" --work-tree="$1" -c core.fileMode=false)
  GIT_INDEX_FILE=$work/index "${git[@]}" diff --name-only
  (cd "$1" && GIT_INDEX_FILE=$work/index "${git[@]}" ls-files --others --exclude-standard)
}

# prepare_image SYSTEM FOLDER: what docker build and docker run begin with, and the Dockerfile's steps as /image.sh.
prepare_image() {
  local root=$2
  rm -rf "$root/opt/other_python" "$root/etc/ld.so.conf.d/other_python.conf" "$root/usr/local/bin/python3"
  chroot "$root" ldconfig
  # Ubuntu's image has this user; the checkout that is mounted belongs to the host's user, on most machines the first one.
  [ "$1" != ubuntu ] || chroot "$root" useradd --create-home --uid 1000 --shell /bin/bash ubuntu
  chown -R 1000:1000 "$root/course"
  mkdir "$root/context"
  sed -n 's/^!//p' .dockerignore | tar -c -T - | tar -x -C "$root/context"
  "$python" common/commands/image.py >"$root/image.sh"
}

# try SYSTEM COMMAND: on a fresh copy of the system. Its output is shown as it comes.
try() {
  local root=$work/$1-$2 status before
  mkdir "$root"
  tar -x --numeric-owner -C "$root" -f "$work/$1.tar" && copy_course "$root" || fail "cannot write to $root; is the disk full?"
  before=$(changes "$root/course")
  local started=$SECONDS called=(make "$2")
  [ "$2" != test ] || [ -z "${ONLY:-}" ] || called+=(ONLY="$ONLY")  # make ladder refuses it
  if [ "$2" = image ]; then
    called=(bash /image.sh make setup lab01 SOLUTION=1)
    prepare_image "$1" "$root" || fail "the Dockerfile's steps could not be prepared"
  fi
  say "=== $1: ${called[*]}"
  inside "$root" "${called[@]}" 2>&1
  status=$?
  if [ -e "$root/usr/local/bin/python3" ] && inside "$root" /usr/local/bin/python3 -c 'import sys, importlib.util as u; sys.exit(not u.find_spec("matplotlib"))'; then
    say "the other python3 of this system has matplotlib, too: this run tests nothing"
    status=1
  fi
  if [ "$(changes "$root/course")" != "$before" ]; then
    say "the command has changed what git looks at:"
    changes "$root/course"
    status=1
  fi
  say "=== $1: $2: $([ $status -eq 0 ] && echo ok || echo "FAILED, status $status") ($((SECONDS - started)) s)"
  rm -rf "$root"
  return $status
}

passed=0
for system in $systems; do
  say "=== $system: making a bare system ..."
  why=
  make_system "$system" "$work/$system.tar" || { skip "$system" "$why"; continue; }
  for command in $commands; do
    if try "$system" "$command"; then passed=$((passed + 1)); else failed+=("$system: $command"); fi
  done
  rm -f "$work/$system.tar"
done

say ""
for each in "${failed[@]}"; do say "failed: $each"; done
for each in "${not_tried[@]}"; do say "not tried: $each; see above"; done
say "$passed passed, ${#failed[@]} failed$([ ${#not_tried[@]} -eq 0 ] || echo ", ${#not_tried[@]} skipped")"
[ ${#failed[@]} -eq 0 ] || exit 1
[ ${#not_tried[@]} -eq 0 ] || exit 3
