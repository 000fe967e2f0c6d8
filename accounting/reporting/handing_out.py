"""A report as a file, and as it goes over HTTP, in any of its forms."""

from __future__ import annotations

from collections.abc import Iterator
from tempfile import TemporaryFile
from typing import IO, Final

from django.http import HttpRequest
from django.http.response import HttpResponseBase

from accounting.reporting.forms import CSV, JSON, PDF, XLSX, csv, json, pdf, xlsx
from accounting.reporting.making import Made
from accounting.shell.downloads import download, sent

TYPES: Final = {CSV: csv.TYPE, XLSX: xlsx.TYPE, PDF: pdf.TYPE, JSON: json.TYPE}
PIECE: Final = 64 * 1024
PIECES_AT_ONCE: Final = 16


def write(made: Made, form: str, file: IO[bytes]) -> None:
    """Write a report to a file in a form. BadParameter for pages that nobody would read."""
    if form == XLSX:
        xlsx.write(made, file)
    elif form == PDF:
        file.write(pdf.document(made))
    else:
        file.writelines(part.encode() for part in (csv if form == CSV else json).parts(made))


def files(made: Made, form: str) -> Iterator[tuple[str, Iterator[bytes]]]:
    """The files of a report in a form, each with its name: one, or of pages as many parts as they are long."""
    if form == PDF:
        for number, count, content in pdf.documents(made):
            part = f"-{number}-of-{count}" if count > 1 else ""
            yield f"{made.file_name}{part}.{form}", iter([content])
        return
    file = TemporaryFile()  # noqa: SIM115  # closed when the last of it was kept
    write(made, form, file)
    file.seek(0)
    yield file_name(made, form), pieces(file)


def response(request: HttpRequest, made: Made, form: str) -> HttpResponseBase:
    """The report in a form. CSV and JSON are written while they are sent, the others before."""
    if form == CSV:
        return download(request, csv.parts(made), name=file_name(made, form), content_type=csv.TYPE)
    if form == JSON:
        return sent(request, (part.encode() for part in json.parts(made)), content_type=json.TYPE)
    file = TemporaryFile()  # noqa: SIM115  # closed when the last of it was sent
    write(made, form, file)
    file.seek(0)
    return attached(request, pieces(file), name=file_name(made, form), content_type=TYPES[form])


def attached(request: HttpRequest, pieces: Iterator[bytes], *, name: str, content_type: str) -> HttpResponseBase:
    """A file that was written before, piece by piece."""
    found = sent(request, pieces, content_type=content_type, at_once=PIECES_AT_ONCE)
    found.headers["Content-Disposition"] = f'attachment; filename="{name}"'
    return found


def file_name(made: Made, form: str) -> str:
    """What a file of a report is called."""
    return f"{made.file_name}.{form}"


def pieces(file: IO[bytes]) -> Iterator[bytes]:
    """A file from where it stands to its end, which closes it."""
    with file:
        while piece := file.read(PIECE):
            yield piece
