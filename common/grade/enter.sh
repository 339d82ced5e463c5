#!/bin/sh
# Run by unshare(1) as root of fresh user, mount, pid, network, ipc and uts namespaces: makes the file system that a submission sees,
# gives up all rights and starts the command. Used where there is no bubblewrap.
#
#     enter.sh ROOT TEMPORARY_MIB "DEVICE ..." [SOURCE=PLACE ...] -- COMMAND ...
set -eu
root=$1 temporary=$2 devices=$3
shift 3
# Nothing here may need /dev/null: on some machines only root can open it for writing, and this is not root.
if ! said=$(hostname sandbox 2>&1); then
  echo "enter.sh: the sandbox cannot be given its host name: $said" >&2
  exit 1
fi

# Devices: on a small file system that is then read-only.
mount --bind "$root" "$root"
mount -t tmpfs -o size=64k,mode=755,nosuid none "$root/dev"
for device in null zero full random urandom $devices; do
  : >"$root/dev/$device"
  mount --bind "/dev/$device" "$root/dev/$device"
done
said=$(mount -o remount,ro,nosuid,nodev "$root/dev" 2>&1) || mount -o remount,bind,ro "$root/dev"
while [ "$1" != -- ]; do
  mount --bind "${1%%=*}" "$root${1#*=}"
  mount -o remount,bind,ro,nosuid,nodev "$root${1#*=}"
  shift
done
shift
mount -t proc -o nosuid,nodev,noexec proc "$root/proc"
[ "$temporary" = 0 ] || mount -t tmpfs -o "size=${temporary}m,mode=1777,nosuid,nodev" none "$root/tmp"
mount -o remount,bind,ro,nosuid "$root"
echo 0 >/proc/sys/user/max_user_namespaces

# The old root goes on top of the new one and is then taken away; from here on only programs of the new root can be started.
cd "$root"
pivot_root . .
umount -l .
cd /course
unset OLDPWD
exec setpriv --bounding-set=-all --inh-caps=-all --ambient-caps=-all --no-new-privs -- "$@"
