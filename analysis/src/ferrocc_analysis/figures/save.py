"""Files that are either complete or not there."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import matplotlib as mpl
from matplotlib.figure import Figure

from ..errors import InputError, one_of
from . import style

#: File formats by extension, with the metadata that would make equal figures differ left out.
FORMATS: Final[dict[str, dict[str, Any]]] = {
    "png": {"Software": None},
    "pdf": {"Creator": None, "Producer": None, "CreationDate": None},
    "svg": {"Date": None, "Creator": None},
}
#: Resolution of PNG in dots per inch.
PNG_DPI: Final = 200


def save(figure: Figure, stem: Path, formats: Sequence[str] = ("png",)) -> list[Path]:
    """Writes `figure` as `stem` + extension for each format and returns the paths.

    Each file is written beside its place and moved there when complete. The folder is created.
    Raises `InputError` for an unknown format or a folder that cannot be written.
    """
    for fmt in formats:
        if fmt not in FORMATS:
            raise one_of("format", fmt, FORMATS)
    make_folder(stem.parent)
    paths = []
    for fmt in formats:
        path = stem.with_name(f"{stem.name}.{fmt}")
        try:
            handle, name = tempfile.mkstemp(
                prefix=f".{stem.name}-", suffix=f".{fmt}", dir=stem.parent
            )
        except OSError as e:
            raise InputError(f"{path}: cannot be written ({e.strerror})") from None
        os.close(handle)
        part = Path(name)
        try:
            with mpl.rc_context({**style.RC, "svg.hashsalt": "ferrocc"}):
                figure.savefig(part, format=fmt, dpi=PNG_DPI, metadata=FORMATS[fmt])
            part.chmod(0o644)
            part.replace(path)
        except OSError as e:
            raise InputError(f"{path}: cannot be written ({e.strerror or e})") from None
        finally:
            part.unlink(missing_ok=True)
        paths.append(path)
    return paths


def make_folder(folder: Path) -> None:
    """Creates `folder` and those above it. Raises `InputError` if that cannot be."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as e:
        raise InputError(f"{folder}: cannot be created ({e.strerror})") from None
