"""What goes wrong that is not the caller's argument: a kernel that does not build, crash or refuse."""


class LadderError(RuntimeError):
    pass
