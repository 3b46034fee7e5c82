"""Asks the server of `tests.forked` to run `vibes`; as a program, stands in for `vibes` itself.

It imports as little as it can: starting it takes a thirtieth of the time of starting `vibes`.
"""

import _socket
import os
import sys


def ask(
    address: str, arguments: list[str], cwd: str, environment: dict[str, str], files: list[int]
) -> int:
    """Run `vibes` in a new process and return its exit code.

    Args:
        address: The socket of the server.
        arguments: The arguments.
        cwd: The working directory.
        environment: The environment variables.
        files: The descriptors of standard input, output and error.
    """
    variables = [f"{name}={value}" for name, value in environment.items()]
    words = [cwd, str(len(arguments)), *arguments, *variables]
    request = b"\0".join(os.fsencode(word) for word in words)
    descriptors = b"".join(file.to_bytes(4, sys.byteorder) for file in files)
    server = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    try:
        server.connect(address)
        server.sendmsg(
            [len(request).to_bytes(4)], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, descriptors)]
        )
        server.sendall(request)
        answer = server.recv(4)
    finally:
        server.close()
    return int.from_bytes(answer, signed=True)


if __name__ == "__main__":
    code = ask(sys.argv[1], sys.argv[2:], os.getcwd(), dict(os.environ), [0, 1, 2])  # noqa: PTH109  # pathlib is slow
    sys.exit(code)
