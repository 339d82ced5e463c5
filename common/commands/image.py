#!/usr/bin/env python3
"""What the Dockerfile does, as a shell script for a machine without a container engine: make test-bare runs it in a bare system.

    image.py [DOCKERFILE]     prints the script; it runs as root, with the files that COPY may read in /context

The script gets a command as its arguments and runs it as docker run would: after all steps, as the image's user, with the
image's environment. An instruction that is not known here is an error, so that none is passed over.
"""
import os
import re
import shlex
import sys


def instructions(text: str) -> list[tuple[str, str]]:
    """The instructions in order, each with its arguments; lines that end with a backslash are joined."""
    text = re.sub(r"^\s*#.*\n", "", text, flags=re.MULTILINE)
    lines = re.sub(r"\\\n", "", text).splitlines()
    return [(name, rest) for name, _, rest in (line.strip().partition(" ") for line in lines) if name]


def script(text: str) -> str:
    steps = ["set -e", "as() { \"$@\"; }"]
    for name, rest in instructions(text):
        words = shlex.split(rest)
        if name == "COPY":
            *sources, to = words
            if rest.startswith("-") or not to.endswith("/"):
                raise ValueError(f"COPY {rest}: only COPY FILE... FOLDER/ is known")
            steps.append(f"mkdir -p {to}; cp -r " + " ".join(f"/context/{source}" for source in sources) + f" {to}")
        elif name == "RUN":
            steps.append("as sh -c " + shlex.quote(rest))
        elif name == "USER":
            # A container engine takes HOME and the group from passwd.
            steps += [f"home=$(getent passwd {rest} | cut -d : -f 6) group=$(getent passwd {rest} | cut -d : -f 4)",
                      f'as() {{ HOME=$home setpriv --reuid={rest} --regid="$group" --clear-groups "$@"; }}']
        elif name == "ENV":
            steps += [f"export {word}" for word in words]
        elif name == "WORKDIR":
            steps.append(f"mkdir -p {rest}; cd {rest}")
        elif name not in ("ARG", "FROM", "CMD"):
            raise ValueError(f"{name} {rest}: this instruction is not known")
    return "\n".join(steps + ["rm -rf /context", 'as "$@"']) + "\n"


if __name__ == "__main__":
    os.chdir(os.path.join(os.path.dirname(__file__), "../.."))
    try:
        print(script(open(sys.argv[1] if len(sys.argv) > 1 else "Dockerfile").read()), end="")
    except ValueError as error:
        sys.exit(f"error: {error}")
