"""Ports for services that tests start."""
import random
import socket

KERNEL_BEGINS = 32768  # what it gives to clients by itself lies from here on


def free_port():
    """A port of 127.0.0.1 that nobody has, and that no client is given while a service is restarted there."""
    while True:
        port = random.SystemRandom().randrange(10000, KERNEL_BEGINS)
        with socket.socket() as s:
            try:
                s.bind(("127.0.0.1", port))
                return port
            except OSError:
                pass
