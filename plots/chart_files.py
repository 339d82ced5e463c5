"""Where a chart is written: OUTPUT.svg and OUTPUT.png."""

from __future__ import annotations

from pathlib import Path

from points import UserError


def cannot_write(output: Path, error: OSError) -> UserError:
    return UserError(f"{error.filename or output}: cannot be written: {error.strerror}")


def save(figure: object, output: Path, dpi: int = 150) -> list[Path]:
    """Writes both, byte for byte the same for the same figure. dpi: of the PNG. Raises UserError where they cannot be written."""
    paths = [output.with_name(output.name + suffix) for suffix in (".svg", ".png")]
    try:
        figure.savefig(paths[0], metadata={"Date": None, "Creator": None})
        figure.savefig(paths[1], dpi=dpi, metadata={"Software": None})
    except OSError as error:
        raise cannot_write(output, error) from None
    return paths
