"""What every test stands on: no socket leaves this machine."""

import socket
from pathlib import Path

import pytest

LOOPBACK = ("127.", "::1", "localhost")


@pytest.fixture(autouse=True)
def no_network(monkeypatch):
    """Refuse every connection that is not to this machine: no test may reach a provider."""
    connect = socket.socket.connect

    def guarded(self, address):
        if isinstance(address, tuple) and not str(address[0]).startswith(LOOPBACK):
            raise AssertionError(f"a test reached for the network: {address}")
        return connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", guarded)


@pytest.fixture(scope="session")
def eunomia() -> Path:
    """The path of the Eunomia database, made once and shared by all test processes; read only."""
    from database.eunomia import fetch
    from registry.files import locked

    path = Path(__file__).parent / ".cache" / "eunomia.duckdb"
    with locked(
        path.with_name("making"), wait_s=300
    ):  # one pytest-xdist worker makes it, the others wait
        fetch(path)
    return path
