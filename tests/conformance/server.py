"""`python server.py VERB …`: our program from any directory, with any environment."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tui.__main__ import main

if __name__ == "__main__":
    main()
