"""How `up`, `down` and `test` read the words after them."""

import argparse
import sys
from typing import NoReturn


class Parser(argparse.ArgumentParser):
    """Refuses with one line, which says where more is to be read."""

    def error(self, message: str) -> NoReturn:
        """End with exit code 2."""
        print(f"{message}: `python3 {self.prog} --help` shows how", file=sys.stderr)
        sys.exit(2)
