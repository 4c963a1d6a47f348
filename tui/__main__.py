"""The entry point: verbs go to the command line, everything else is the panel.

Imports nothing heavy: the terminal is asked, and the log file is open, before Textual is loaded.
"""

from __future__ import annotations

import argparse
import gc
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from tui.last_frame import Curtain, last_frame
from tui.logs import start_logging
from tui.options import LOG, Options, config_dir, state_dir
from tui.settings import THEMES, read_settings
from tui.terminal import BackgroundQuery, prepare_frames, prepare_output, refusal, wants_ascii

# Options whose value is the next word; those of the verbs among them.
VALUED = frozenset(
    {"--connect", "--theme", "--cwd", "--home", "-c", "--config", "--enable", "--disable"}
)


def verb_of(arguments: Sequence[str]) -> str:
    """The first word that is neither a flag nor a flag's value, or ""."""
    skip = False
    for word in arguments:
        if skip:
            skip = False
        elif word in VALUED:
            skip = True
        elif not word.startswith("-"):
            return word
    return ""


def parser() -> argparse.ArgumentParser:
    """The panel's own arguments."""
    made = argparse.ArgumentParser(
        prog="jackfield",
        allow_abbrev=False,
        description="The terminal panel for what a coding agent is plugged into.",
        epilog="Verbs for scripts: jackfield VERB --help; jackfield help lists them.",
    )
    made.add_argument("verb", nargs="?", help="demo: look around in an embedded world")
    made.add_argument("--read-only", action="store_true", help="write to no file of others")
    made.add_argument("--yes", action="store_true", help="start servers without asking first")
    made.add_argument("--ascii", action="store_true", default=None, help="draw with ASCII only")
    made.add_argument("--theme", choices=THEMES, help="instead of the terminal's own tone")
    made.add_argument("--cwd", type=Path, metavar="DIR", help="the workspace, instead of here")
    made.add_argument("--home", type=Path, metavar="DIR", help="the Codex home to show")
    made.add_argument(
        "--connect",
        metavar="COMMAND",
        help="show what an app-server elsewhere has: the command that starts it "
        "('ssh devbox jackfield app-server'), or unix:PATH where one listens",
    )
    return made


def options_of(arguments: Sequence[str]) -> Options:
    """The arguments as a value; ends the process with a usage line where they are wrong."""
    made = parser()
    given = made.parse_args(arguments)
    cwd: Path = (given.cwd or Path.cwd()).expanduser().absolute()
    if not cwd.is_dir():
        made.error(f"--cwd: {cwd} is no folder")
    home: Path | None = given.home.expanduser().absolute() if given.home else None
    if home is not None and not home.is_dir():
        made.error(f"--home: {home} is no folder")
    _check_connect(made, given)
    environ = dict(os.environ)
    if home is not None:
        environ["CODEX_HOME"] = str(home)
    settings = read_settings(config_dir(environ))
    return Options(
        demo=given.verb == "demo",
        connect=given.connect or "",
        read_only=given.read_only,
        consent_all=given.yes,
        ascii=wants_ascii(given.ascii if given.ascii is not None else settings.ascii),
        theme=given.theme or settings.theme,
        cursor=settings.cursor,
        keys=settings.keys,
        settings_fault=settings.fault,
        cwd=cwd,
        environ=environ,
    )


def _check_connect(made: argparse.ArgumentParser, given: argparse.Namespace) -> None:
    """End the process where `--connect` means nothing."""
    if given.connect is None:
        return
    other = "demo" if given.verb else "--home" if given.home else "--cwd" if given.cwd else ""
    if other:
        made.error(f"--connect: {other} is of no use: the other side works where it was started")
    from core.client.target import check_target

    try:
        check_target(given.connect)
    except ValueError as error:
        made.error(f"--connect: {error}")


def run(arguments: Sequence[str]) -> int:
    """Everything but the process's end; the exit status."""
    verb = verb_of(arguments)
    if (verb and verb != "demo") or {"--version", "-V"} & set(arguments):
        from core.cli.main import main as verbs

        return verbs(list(arguments))
    options = options_of(arguments)
    if said := refusal():
        print(said, file=sys.stderr)
        return 2
    # Nothing of what is loaded and read now is garbage; `tui.following` turns it on again.
    gc.disable()
    start_logging(state_dir(options.environ) / LOG)
    prepare_output()
    prepare_frames()
    kept = last_frame(options)
    with Curtain(kept.read() if kept else "") as curtain:
        with BackgroundQuery() as query:
            from tui.launch import launch

            background = query.answer()
        held, curtain.up = curtain.up, False  # the panel's own driver takes it away
        return launch(options, background, query.driver_class(), kept, held=held)


def main() -> None:
    """The command `jackfield`."""
    status = run(sys.argv[1:])
    _let_go_of_output()
    sys.exit(status)


def _let_go_of_output() -> None:
    """Where the terminal has been closed, Python's own flush at the end would change the status."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


if __name__ == "__main__":
    main()
