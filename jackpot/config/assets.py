"""Style sheets, scripts and pictures of `up`, compressed once and kept in the data folder.

An image collects and compresses its files when it is built; here they are served from where they lie, and a first visit
would take 0.8 MB of which most is one style sheet.
"""

import gzip
import os
from hashlib import sha256
from pathlib import Path
from typing import Any
from wsgiref.headers import Headers

from django.conf import settings
from whitenoise.middleware import WhiteNoiseMiddleware
from whitenoise.responders import StaticFile

WORTH_IT = 1_024
TEXTS = (".css", ".js", ".svg", ".json")


class CompressedFiles(WhiteNoiseMiddleware):
    """WhiteNoise that serves what it finds compressed too, to whoever accepts that."""

    def get_static_file(self, path: str, url: str, stat_cache: dict[str, os.stat_result] | None = None) -> Any:
        """A file with its compressed form beside it, where it is a text worth compressing."""
        found = compressed(path) if self.use_finders and settings.ROLE == "web" else None
        if found is None:
            return super().get_static_file(path, url, stat_cache=stat_cache)
        headers = Headers([])
        self.add_mime_headers(headers, path, url)
        self.add_cache_headers(headers, path, url)
        return StaticFile(path, headers.items(), encodings={"gzip": str(found)})


def compressed(path: str) -> Path | None:
    """The compressed form of a file as it is now, made when there is none yet; None where it would not be worth it."""
    file = Path(path)
    about = file.stat()
    if file.suffix not in TEXTS or about.st_size < WORTH_IT:
        return None
    named = sha256(f"{path}\0{about.st_mtime_ns}\0{about.st_size}".encode()).hexdigest()[:24]
    kept: Path = settings.DATA.compressed / f"{named}{file.suffix}.gz"
    if not kept.exists():
        kept.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        draft = kept.with_name(f".{kept.name}.{os.getpid()}")
        draft.write_bytes(gzip.compress(file.read_bytes(), compresslevel=9, mtime=0))
        draft.replace(kept)
    return kept
