"""A unit for systemd, and the words by which a service tells it how it is."""

from __future__ import annotations

import os
import shlex
import socket
from pathlib import Path

_UNIT = """\
[Unit]
Description=SSSRMAP gateway for job objects
After=network-online.target
Wants=network-online.target

[Service]
Type=notify
ExecStart={command}
ExecReload=/bin/kill -HUP $MAINPID
Restart=on-failure
User=sssjob
Group=sssjob
UMask=0077
StateDirectory=sssjob
NoNewPrivileges=yes
PrivateTmp=yes
PrivateDevices=yes
ProtectSystem=strict
ProtectHome=yes
ProtectKernelTunables=yes
ProtectControlGroups=yes
RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX
SystemCallFilter=@system-service
LimitNOFILE=8192

[Install]
WantedBy=multi-user.target
"""


def unit(program: Path, config: Path) -> str:
    """A unit file that runs the gateway with a configuration.

    >>> [line for line in unit(Path("/opt/sssjob"), Path("/etc/a b.toml")).splitlines()
    ...  if line.startswith("ExecStart")]
    ["ExecStart=/opt/sssjob serve --config '/etc/a b.toml'"]
    """
    command = shlex.join([str(program), "serve", "--config", str(config)]).replace("%", "%%")
    return _UNIT.format(command=command)


def tell(state: str) -> None:
    """Tell systemd a state such as READY=1; nothing if it did not start this process."""
    place = os.environ.get("NOTIFY_SOCKET", "")
    if not place:
        return
    address = "\0" + place[1:] if place.startswith("@") else place
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notify:
        notify.connect(address)
        notify.sendall(state.encode())
