"""`make serve`: one address on the loopback, a token, compression, and a clean end."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request

import pytest

from book import serve as server

ADVICE = "try `make serve PORT=8001`"


def get(address: str, **headers: str):
    return urllib.request.urlopen(urllib.request.Request(address, headers=headers), timeout=120)


def test_pages_are_compressed_and_checked_for_changes(served):
    answer = get(served.base + "book/page.html", **{"Accept-Encoding": "gzip"})
    assert answer.headers["Content-Encoding"] == "gzip"
    assert answer.headers["Cache-Control"] == "no-cache"


def test_the_bare_address_leads_to_the_book(served):
    assert get(served.base).geturl().startswith(served.base + "book/")
    assert "A book of two pages" in get(served.base + "book/").read().decode()


@pytest.mark.parametrize("token", ["", "wrong"])
def test_no_kernel_without_the_token(served, token):
    request = urllib.request.Request(
        served.base + "api/kernels", data=b"{}", headers={"Authorization": f"token {token}"}
    )
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(request, timeout=120)
    assert refused.value.code == 403


def test_pages_of_another_origin_may_not_read(served):
    headers = {"Authorization": f"token {served.token}", "Origin": "https://example.org"}
    answer = get(served.base + "api/status", **headers)
    assert answer.headers["Access-Control-Allow-Origin"] == served.base.rstrip("/")


def test_it_listens_on_the_loopback_alone(served):
    port = int(served.base.rsplit(":", 1)[1].strip("/"))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect(("192.0.2.1", 9))  # sends nothing; tells this machine's own address
        own = probe.getsockname()[0]
    if own.startswith("127."):
        pytest.skip("this machine has no other address")
    with socket.socket() as other:
        other.settimeout(2)
        assert other.connect_ex((own, port)) != 0


def test_a_port_in_use_is_one_line(serve):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        done = serve("--port", str(port))
    assert done.returncode == 1
    assert re.fullmatch(rf"port {port} is in use: try `make serve PORT=\d+`\n", done.stderr)


@pytest.mark.parametrize("port", ["80", "70000", "-1", "web"])
def test_a_port_out_of_range_is_one_line(monkeypatch, port):
    monkeypatch.setattr(sys, "argv", ["serve", f"--port={port}"])
    with pytest.raises(SystemExit) as refused:
        server.main()
    assert refused.value.code == f"port {port} is not between 1024 and 65535: " + ADVICE


def test_an_interrupt_ends_the_server_and_its_kernels(served):
    process, base, token = served
    request = urllib.request.Request(
        base + "api/kernels", data=b"{}", headers={"Authorization": f"token {token}"}
    )
    kernel = json.load(urllib.request.urlopen(request, timeout=120))["id"]
    assert kernel in running()
    process.send_signal(signal.SIGINT)
    assert process.wait(120) == 0
    deadline = time.monotonic() + 120
    while kernel in running() and time.monotonic() < deadline:
        time.sleep(0.2)
    assert kernel not in running()


def running() -> str:
    options = "-axww" if sys.platform == "darwin" else "-eww"
    environment = {**os.environ, "COLUMNS": "1000"}
    return subprocess.check_output(["ps", options, "-o", "args"], text=True, env=environment)
