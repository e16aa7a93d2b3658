"""Files that appear whole or not at all, for whoever reads a directory while it is written.

Hooks write before every job: nothing here that is slow to import.
"""

from __future__ import annotations

import os

_OPEN = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW


def put(folder: int, name: str, content: bytes, mode: int = 0o644) -> None:
    """Put a file into an open directory; the old one stays until the new one is on disk.

    It has the mode whatever the umask is. Raises ``OSError``.
    """
    hidden = f".{name.lstrip('.')[:200]}.{os.urandom(8).hex()}"
    handle = os.open(hidden, _OPEN, 0o600, dir_fd=folder)
    try:
        with open(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fchmod(handle, mode)
            os.fsync(handle)
        os.rename(hidden, name, src_dir_fd=folder, dst_dir_fd=folder)
    except OSError:
        if os.access(hidden, os.F_OK, dir_fd=folder):
            os.unlink(hidden, dir_fd=folder)
        raise
