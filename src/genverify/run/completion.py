"""Completion of commands and options in bash and zsh, written from the parsers: the script needs no Python when it runs."""

import argparse
import shlex
from collections.abc import Iterator
from typing import Any

SHELLS = ("bash", "zsh")
ABOUT = """
bash: put this into ~/.bashrc
  eval "$(genverify completion bash)"
zsh: put this into ~/.zshrc, after compinit
  eval "$(genverify completion zsh)"
"""


def add_parser(commands: Any) -> None:
    """Add `completion` to the commands."""
    parser = commands.add_parser(
        "completion",
        help="print what makes bash or zsh complete commands and options",
        description=ABOUT,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("shell", choices=SHELLS)
    parser.set_defaults(run=_print, prints="script")


def _print(options: argparse.Namespace) -> None:
    from genverify.run.parsers import parser

    print(completion(parser(), options.shell), end="")


def completion(parser: argparse.ArgumentParser, shell: str) -> str:
    """The script for a shell."""
    commands = dict(_commands(parser))
    return _bash(commands) if shell == "bash" else _zsh(commands, _lines(parser))


def _commands(parser: argparse.ArgumentParser) -> Iterator[tuple[str, argparse.ArgumentParser]]:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            yield from action.choices.items()


def _lines(parser: argparse.ArgumentParser) -> dict[str, str]:
    """The line of every command in the help."""
    (found,) = (action for action in parser._actions if isinstance(action, argparse._SubParsersAction))
    return {action.dest.split(" ")[0]: action.help or "" for action in found._choices_actions}


def _words(parser: argparse.ArgumentParser) -> list[str]:
    """What can stand after a command: its options, its commands, and the choices of what it is given."""
    options = [text for action in parser._actions for text in action.option_strings]
    given = [str(one) for action in parser._actions if not action.option_strings for one in action.choices or ()]
    return sorted({*options, *given})


def _choices(parser: argparse.ArgumentParser) -> Iterator[tuple[str, str]]:
    """Options with the values that each takes."""
    for action in parser._actions:
        if action.option_strings and action.choices:
            yield "|".join(action.option_strings), " ".join(map(str, action.choices))


def _bash(commands: dict[str, argparse.ArgumentParser]) -> str:
    lines = [
        "_genverify() {",
        '  local own="${COMP_WORDS[COMP_CWORD]}" last="${COMP_WORDS[COMP_CWORD-1]}" words="" values=""',
    ]
    lines += ["  if [ $COMP_CWORD -eq 1 ]; then", f'    words="{" ".join([*commands, "--help", "--version"])}"', "  else"]
    lines += ['    case "${COMP_WORDS[1]}" in']
    for name, parser in commands.items():
        lines += [f"      {name})", f'        words="{" ".join(_words(parser))}"']
        values = [f'          {options}) values="{words}" ;;' for options, words in _choices(parser)]
        lines += ['        case "$last" in', *values, "        esac"] if values else []
        lines += ["        ;;"]
    lines += ["    esac", "  fi", '  [ -n "$values" ] && words="$values"', '  COMPREPLY=($(compgen -W "$words" -- "$own"))']
    return "\n".join([*lines, "}", "complete -o default -F _genverify genverify", ""])


def _zsh(commands: dict[str, argparse.ArgumentParser], helps: dict[str, str]) -> str:
    lines = ["#compdef genverify", "_genverify() {", "  local -a commands=("]
    lines += [f"    {shlex.quote(name.replace(':', ' ') + ':' + helps.get(name, ''))}" for name in commands]
    lines += ["  )", "  if (( CURRENT == 2 )); then _describe command commands; return; fi", "  case $words[2] in"]
    for name, parser in commands.items():
        lines += [f"    {name}) _arguments {' '.join(_arguments(parser))} ;;"]
    return "\n".join([*lines, "  esac", "}", "compdef _genverify genverify", ""])


def _arguments(parser: argparse.ArgumentParser) -> Iterator[str]:
    """What _arguments of zsh takes: option, help and values; files elsewhere."""
    for action in parser._actions:
        values = f"({' '.join(map(str, action.choices))})" if action.choices else "_files"
        for option in action.option_strings:
            yield shlex.quote(f"*{option}[{_bare(action)}]" + ("" if action.nargs == 0 else f":value:{values}"))
    given = [str(one) for action in parser._actions if not action.option_strings for one in action.choices or ()]
    yield shlex.quote(f"*:file:({' '.join(given)})" if given else "*:file:_files")


def _bare(action: argparse.Action) -> str:
    """The help of an option without what zsh would read as its own signs."""
    text = (action.help or "") % {**vars(action), "prog": "genverify"} if "%(" in (action.help or "") else action.help or ""
    return "".join(" " if sign in "[]:\\" else sign for sign in text).replace("%%", "%")
