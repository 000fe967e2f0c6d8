"""Run while the image is built: `wheels.py REPORT` prints what pip says that it installed, each with its wheel's digest."""

import json
import sys
from pathlib import Path

for installed in json.loads(Path(sys.argv[1]).read_text("utf-8"))["install"]:
    name, version = (installed["metadata"][key] for key in ("name", "version"))
    archive = installed["download_info"]["archive_info"]
    digest = archive.get("hashes", {}).get("sha256") or archive["hash"].removeprefix("sha256=")
    print(f"{name}=={version} sha256:{digest}")
