"""The command line: `gangsaw`. One file per command; heavy imports happen inside the commands."""

from gangsaw.cli.app import main

__all__ = ["main"]
