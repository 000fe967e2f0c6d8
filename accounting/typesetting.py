"""Documents as they are filed: a template of typst and data in, a PDF out. The same data gives the same bytes.

No clock and no fonts of the machine: what a document says of time stands in its data, and the fonts are those that come
with the package.
"""

import json
import subprocess
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Literal

import typst


def compiled(template: Path, data: Mapping[str, Any], form: Literal["pdf", "png"] = "pdf") -> bytes:
    """A template with its data as PDF, or its first page as a picture. The data is handed over as JSON."""
    made: Any = _compiler(template.parent).compile(
        input=str(template), format=form, sys_inputs={"data": json.dumps(data, sort_keys=True)},
        **({"ppi": 110.0} if form == "png" else {}),
    )  # fmt: skip
    return bytes(made[0] if isinstance(made, list) else made)


def compiled_apart(template: Path, data: Mapping[str, Any]) -> bytes:
    """The same PDF, made by a process of its own: what the typesetter holds of a long document goes with it.

    In one process it keeps what it worked out for ten documents, which is gigabytes where each has thousands of rows.
    """
    done = subprocess.run(
        [sys.executable, "-I", __file__, str(template)], input=json.dumps(data).encode(), capture_output=True, check=False
    )  # fmt: skip
    if done.returncode:
        raise RuntimeError(f"{template.name} was not set: {done.stderr.decode(errors='replace')[-2_000:]}")
    return done.stdout


@cache
def _compiler(root: Path) -> Any:
    return typst.Compiler(root=str(root), ignore_system_fonts=True)


if __name__ == "__main__":
    sys.stdout.buffer.write(compiled(Path(sys.argv[1]), json.load(sys.stdin)))
