"""PostgreSQL servers that are reached by TLS only, with certificates by an authority that nobody else knows.

Not every build of PostgreSQL speaks TLS, and the one that comes with the packages does not: each server here has somebody in
front of it who does, and hands on what he hears.
"""

from __future__ import annotations

import asyncio
import shutil
import signal
import socket
import ssl
import subprocess
import threading
import time
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

import psycopg
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from jackpot.config.embedded_postgres import find_binaries
from jackpot.config.server_user import server_user

PATIENCE_SECONDS = 60.0
WANTS_TLS = (8).to_bytes(4) + (80_877_103).to_bytes(4)
"""How a client begins that wants TLS."""


class Authority:
    """Signs certificates; its own is in `certificate`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Authority of a test")])
        own = self._certificate(self.name, self.key.public_key())
        own = own.add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        self.certificate = folder / "authority.crt"
        self.certificate.write_bytes(own.sign(self.key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM))

    def _certificate(self, subject: x509.Name, key: ec.EllipticCurvePublicKey) -> x509.CertificateBuilder:
        now = datetime.now(UTC)
        return x509.CertificateBuilder(
            self.name, subject, key, x509.random_serial_number(), now - timedelta(days=1), now + timedelta(days=7)
        )

    def issue(self, host: str, folder: Path) -> tuple[Path, Path]:
        """A certificate for a host and its key, in a folder."""
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, host)])
        wanted = self._certificate(subject, key.public_key())
        wanted = wanted.add_extension(x509.SubjectAlternativeName([x509.DNSName(host)]), critical=False)
        certificate, private = folder / f"{host}.crt", folder / f"{host}.key"
        certificate.write_bytes(wanted.sign(self.key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM))
        private.write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
            )
        )
        private.chmod(0o600)
        return certificate, private


class Front:
    """Speaks TLS on a port and hands on to a socket; who does not want TLS is not heard."""

    def __init__(self, certificate: tuple[Path, Path], behind: Path) -> None:
        self.tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        self.tls.load_cert_chain(*certificate)
        self.behind = behind
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = int(self.listener.getsockname()[1])
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self._run, daemon=True)

    def start(self) -> None:
        """From now on."""
        self.thread.start()

    def stop(self) -> None:
        """From now on nobody is at the port."""
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join(10)
        self.listener.close()

    def _run(self) -> None:
        asyncio.set_event_loop(self.loop)
        self.loop.run_until_complete(asyncio.start_server(self._serve, sock=self.listener))
        self.loop.run_forever()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, asyncio.IncompleteReadError):
            if await reader.readexactly(len(WANTS_TLS)) == WANTS_TLS:
                writer.write(b"S")
                await writer.start_tls(self.tls)
                back, forth = await asyncio.open_unix_connection(self.behind)
                await asyncio.wait(
                    [asyncio.ensure_future(_pump(reader, forth)), asyncio.ensure_future(_pump(back, writer))],
                    return_when=asyncio.FIRST_COMPLETED,
                )
                forth.close()
        writer.close()


async def _pump(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while said := await source.read(65_536):
            sink.write(said)
            await sink.drain()


class Server:
    """One server in a folder; it is reached at `port`, and its certificate is for `localhost` only."""

    def __init__(self, folder: Path, authority: Authority) -> None:
        self.folder, self.data = folder, folder / "data"
        self.authority = authority
        self.binaries = find_binaries()
        self.as_whom = server_user(self.data)
        self.process: subprocess.Popen[bytes] | None = None

    def make(self) -> None:
        """An empty one."""
        self.folder.mkdir(mode=0o711)
        self.data.mkdir(mode=0o700)
        self.as_whom.own(self.folder)
        words = ["-D", str(self.data), "-U", "jackpot", "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync"]
        command = [*self.as_whom.prefix, str(self.binaries / "initdb"), *words]
        subprocess.run(command, cwd="/", check=True, capture_output=True, **self.as_whom.options())

    def follow(self, other: Server) -> None:
        """A standby made of what another has, which is not running; nobody sends it more."""
        self.folder.mkdir(mode=0o711)
        shutil.copytree(other.data, self.data)
        (self.data / "standby.signal").touch()
        self.as_whom.own(self.folder)

    def start(self) -> None:
        """Return when it lets somebody in."""
        self.front = Front(self.authority.issue("localhost", self.authority.folder), self.folder / ".s.PGSQL.5432")
        self.port = self.front.port
        settings = {
            "listen_addresses": "",
            "unix_socket_directories": self.folder,
            "fsync": "off",
            "shared_buffers": "16MB",
        }
        arguments = [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(
                [*self.as_whom.prefix, str(self.binaries / "postgres"), "-D", str(self.data), *arguments],
                cwd="/", stdin=subprocess.DEVNULL, stdout=log, stderr=log, **self.as_whom.options(),
            )  # fmt: skip
        give_up = time.monotonic() + PATIENCE_SECONDS
        while True:
            try:
                self.connect().close()
                break
            except psycopg.OperationalError:
                assert self.process.poll() is None, (self.folder / "log").read_text()
                assert time.monotonic() < give_up
                time.sleep(0.05)
        self.front.start()

    def connect(self) -> psycopg.Connection[tuple[object, ...]]:
        """A session through its socket."""
        return psycopg.connect(host=str(self.folder), user="jackpot", dbname="postgres", autocommit=True)

    def stop(self) -> None:
        """At once."""
        if self.process is not None:
            self.front.stop()
            self.process.send_signal(signal.SIGQUIT)  # whoever is connected is not waited for
            self.process.wait(30)
            self.process = None
