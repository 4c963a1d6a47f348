"""`jackfield completion`: what a shell needs to complete our verbs and options."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import cast

from core.cli.codex.words import HELP, Command
from core.cli.verbs import VERBS

SHELLS = ("bash", "zsh", "fish")

Words = list[tuple[str, str]]
"""Words that may come next, each with what it is."""


def arguments(parser: argparse.ArgumentParser) -> None:
    """What `completion` takes."""
    parser.add_argument("shell", choices=SHELLS, help="which shell")
    parser.epilog = (
        'bash: eval "$(jackfield completion bash)"; '
        'zsh: eval "$(jackfield completion zsh)"; '
        "fish: jackfield completion fish | source"
    )


def run(given: argparse.Namespace) -> int:
    """Print the script."""
    print({"bash": _bash, "zsh": _zsh, "fish": _fish}[given.shell](dict(paths())))
    return 0


def paths() -> Iterator[tuple[str, Words]]:
    """Every path of verbs, with the words that may follow it; "" is the beginning."""
    yield "", [(name, verb.summary) for name, verb in VERBS.items()] + [("help", "list the verbs")]
    for name, verb in VERBS.items():
        if verb.words:
            continue
        parser = argparse.ArgumentParser(prog=name)
        verb.load()[0](parser)
        yield from _of_parser(name, parser)
    from core.cli.codex.mcp_words import MCP
    from core.cli.codex.plugin_words import PLUGIN
    from core.cli.mcp import OWN

    yield from _of_command(PLUGIN, {})
    yield from _of_command(MCP, {name: verb.summary for name, verb in OWN.items()})
    for name, own in OWN.items():
        yield from _of_parser(f"mcp {name}", own.parser(name))


def _of_parser(path: str, parser: argparse.ArgumentParser) -> Iterator[tuple[str, Words]]:
    words: Words = []
    for action in parser._actions:  # pyright: ignore[reportPrivateUsage]
        choices: object = action.choices
        if isinstance(choices, dict):  # parsers of its own, by name
            inner = cast("dict[str, argparse.ArgumentParser]", choices)
            about = {one.dest: one.help for one in getattr(action, "_choices_actions", ())}
            for name, one in inner.items():
                words.append((name, about.get(name) or ""))
                yield from _of_parser(f"{path} {name}", one)
        elif action.option_strings:
            words += [(one, action.help or "") for one in action.option_strings if one[:2] == "--"]
        elif action.choices is not None:
            words += [(str(choice), "") for choice in action.choices]
    yield path, words


def _of_command(command: Command, more: dict[str, str]) -> Iterator[tuple[str, Words]]:
    words: Words = [(one.name, one.about) for one in command.commands]
    words += list(more.items())
    words += [(f"--{option.long}", option.about) for option in (*command.options, HELP)]
    yield command.path.removeprefix("codex "), words
    for one in command.commands:
        yield from _of_command(one, {})


_PATH = r"""
    local path= word rest
    for word in "${words_before[@]}"; do
        case $word in -*) continue;; esac
        rest=${path:+$path }$word
        case $rest in
%s) path=$rest;; esac
    done
    case $path in
%s
    esac
"""


def _branches(table: dict[str, Words]) -> tuple[str, str]:
    known = "|".join(f'"{path}"' for path in table if path)
    cases = "\n".join(
        f'        "{path}") candidates="{" ".join(word for word, _ in words)}";;'
        for path, words in table.items()
    )
    return f"            {known}", cases


def _bash(table: dict[str, Words]) -> str:
    known, cases = _branches(table)
    return (
        "_jackfield() {\n"
        '    local candidates=\n    local words_before=("${COMP_WORDS[@]:1:COMP_CWORD-1}")'
        + _PATH
        % (known, cases)
        + '    COMPREPLY=($(compgen -W "$candidates" -- "${COMP_WORDS[COMP_CWORD]}"))\n'
        "}\ncomplete -o default -F _jackfield jackfield"
    )


def _zsh(table: dict[str, Words]) -> str:
    known, cases = _branches(table)
    return (
        "_jackfield() {\n"
        '    local candidates=\n    local words_before=("${(@)words[2,CURRENT-1]}")'
        + _PATH % (known, cases)
        + "    compadd -- ${=candidates}\n    _files\n}\ncompdef _jackfield jackfield"
    )


def _fish(table: dict[str, Words]) -> str:
    lines = [
        "function __jackfield_at",
        "    set -l path",
        "    for word in (commandline -opc)[2..-1]",
        "        string match -q -- '-*' $word; and continue",
        "        set -l rest (string join ' ' $path $word)",
        f"        contains -- $rest {' '.join(_fished(path) for path in table if path)}",
        "        and set path $rest",
        "    end",
        '    test "$path" = "$argv[1]"',
        "end",
    ]
    for path, words in table.items():
        at = _fished(f"__jackfield_at {_fished(path)}")
        for word, about in words:
            what = f"-l {word[2:]}" if word.startswith("--") else f"-a {_fished(word)}"
            lines.append(f"complete -c jackfield -n {at} {what} -d {_fished(_short(about))}")
    return "\n".join(lines)


def _short(text: str) -> str:
    return text.replace("%%", "%").partition(". ")[0]


def _fished(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
