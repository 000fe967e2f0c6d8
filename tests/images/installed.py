"""Runs inside the image: every installed distribution as JSON, its files compared with the digests that its wheel recorded.

Standard library only; it is mounted, not part of the image.
"""

import base64
import hashlib
import json
import sys
from importlib import metadata

LEFT_OUT = (".po", ".mo")
"""Translations, which the build takes away."""
MADE_HERE = (".pyc", "/INSTALLER", "/REQUESTED", "/RECORD", "/direct_url.json")


def licence(about: metadata.PackageMetadata) -> str:
    """What a distribution says its licence is, by the newest of the three ways to say it; empty if it says nothing."""
    for said in about.get_all("License-Expression", []):
        return said
    classified = [
        line.rpartition(" :: ")[2] for line in about.get_all("Classifier", []) if line.startswith("License ::")
    ]
    return " and ".join(classified) or about.get_all("License", [""])[0].strip().partition("\n")[0]


def changed(distribution: metadata.Distribution) -> list[str]:
    """Files that are missing, or are not as their wheel recorded them."""
    wrong = []
    for file in distribution.files or ():
        name = str(file)
        if name.endswith(LEFT_OUT + MADE_HERE) or file.hash is None:
            continue
        path = file.locate()
        if not path.is_file():  # type: ignore[attr-defined]
            wrong.append(f"{name}: missing")
            continue
        digest = hashlib.new(file.hash.mode, path.read_bytes()).digest()  # type: ignore[attr-defined]
        found = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
        scripts = name.startswith("../../../bin/")  # their first line names this environment
        if found != file.hash.value and not scripts:
            wrong.append(f"{name}: changed")
    return wrong


def main() -> None:
    """One JSON array."""
    found = [
        {
            "name": each.metadata["Name"],
            "version": each.version,
            "licence": licence(each.metadata),
            "files": len(each.files or ()),
            "changed": changed(each),
        }
        for each in metadata.distributions()
        if str(each.locate_file("")).startswith(sys.prefix)
    ]
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
