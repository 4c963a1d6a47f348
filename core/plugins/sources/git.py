"""The person's own git, on foreign repositories: no prompt, no hook, no option in disguise.

What git is told by the person's configuration stays (credentials, proxies, certificates); what
would run a program or reach beyond the checkout is overridden.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import anyio
import anyio.to_thread

from core.process import Process, Processes, SpawnFailed

CLONE_SECONDS = 600.0
QUESTION_SECONDS = 60.0
SHA = re.compile(r"[0-9a-f]{40}")
Progress = Callable[[float | None, str], None]

_KEPT = frozenset({"GIT_SSH_COMMAND", "GIT_SSH", "GIT_SSL_CAINFO", "GIT_PROXY_COMMAND"})
_KEPT_CONFIG = ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM")
_SETTINGS = (
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.askPass=",
    "submodule.recurse=false",
    "fetch.recurseSubmodules=false",
    "http.lowSpeedLimit=1000",
    "http.lowSpeedTime=30",
    "gc.auto=0",
    "maintenance.auto=false",
    "advice.detachedHead=false",
    "protocol.ext.allow=never",
)
_OVERRIDES = {
    "LC_ALL": "C",  # progress and errors in English
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_ASKPASS": "",
    "SSH_ASKPASS": "",
    "SSH_ASKPASS_REQUIRE": "never",
    "GCM_INTERACTIVE": "never",
    "GIT_ALLOW_PROTOCOL": "https:http:ssh:git:file",  # fd:: is on by default, and hangs
    "GIT_LFS_SKIP_SMUDGE": "1",
    "GIT_OPTIONAL_LOCKS": "0",
}
_PROGRESS = re.compile(r"(?:remote: )?(?P<phase>[A-Z][A-Za-z ]+): +(?P<percent>\d+)% \(\d+/\d+\)")
_PHASES = {"Receiving objects": (0.0, 0.8), "Resolving deltas": (0.8, 0.95)}
_SECRET = re.compile(r"(?<=://)[^/@\s'\"]+@")
_LIMIT = 8192
_LISTING = "git ls-remote marketplace source"


class GitFailed(Exception):
    """git failed; the text is the real server's, with git's last words and no password."""


@dataclass(frozen=True)
class _Ended:
    code: int
    out: str
    error: str

    def told(self, what: str) -> GitFailed:
        status = f"exit status: {self.code}" if self.code >= 0 else f"signal: {-self.code}"
        said = f"stdout:\n{self.out}\nstderr:\n{self.error}"
        return GitFailed(without_secrets(f"{what} failed with status {status}\n{said}"))


def without_secrets(text: str) -> str:
    """A text without what stands between `//` and `@` of a URL."""
    return _SECRET.sub("***@", text)


class Git:
    """Clones, and asks for commits.

    Args:
        environ: Of the process; what steers git through it is dropped.
    """

    def __init__(self, processes: Processes, environ: Mapping[str, str]) -> None:
        self._processes = processes
        kept = {
            name: value
            for name, value in environ.items()
            if not name.startswith("GIT_") or name in _KEPT or name in _KEPT_CONFIG
        }
        self._env = kept | _OVERRIDES

    async def clone(
        self,
        url: str,
        directory: str,
        *,
        ref: str | None = None,
        sha: str | None = None,
        sparse: Sequence[str] = (),
        progress: Progress | None = None,
        deadline: float = CLONE_SECONDS,
    ) -> None:
        """Clone into a new or empty directory and check out `sha`, else `ref`, else its HEAD.

        Links that lead out of the clone are removed from it. Cancelled, it leaves the directory
        for its owner to remove.

        Args:
            sparse: Paths to check out; empty means everything.
            deadline: Seconds for all of it.

        Raises:
            GitFailed: With the words of Codex 0.171.0.
        """
        refuse_options(url, ref, sha, *sparse)
        try:
            with anyio.fail_after(deadline):
                await self._clone(url, directory, ref, sha, sparse, progress)
                await anyio.to_thread.run_sync(drop_escaping_links, directory)
        except TimeoutError:
            what = without_secrets(f"git clone {url} {directory}")
            raise GitFailed(f"{what} did not end within {deadline:g}s") from None

    async def _clone(
        self,
        url: str,
        directory: str,
        ref: str | None,
        sha: str | None,
        sparse: Sequence[str],
        progress: Progress | None,
    ) -> None:
        what = f"git clone {url} {directory}"
        wanted = sha or ref
        if sparse:
            options = ["--filter=blob:none", "--no-checkout"]
            await self._demand(what, ["clone", *options], url, directory, progress)
            setting = ["sparse-checkout", "set", "--no-cone", "--end-of-options", *sparse]
            ended = await self._run(setting, directory)
            if ended.code:
                raise ended.told("git sparse-checkout set")
            await self._check_out(directory, wanted or "HEAD")
            return
        if not sha and not (ref and SHA.fullmatch(ref)):
            branch = [f"--branch={ref}"] if ref else []
            options = ["clone", "--depth=1", "--single-branch", *branch]
            ended = await self._get(options, url, directory, progress)
            if not ended.code:
                return
            if not ("Remote branch" in ended.error or "shallow" in ended.error):
                raise ended.told(what)
        await self._demand(what, ["clone"], url, directory, progress)
        if wanted:
            await self._check_out(directory, wanted)

    async def _demand(
        self, what: str, command: list[str], url: str, directory: str, progress: Progress | None
    ) -> None:
        ended = await self._get(command, url, directory, progress)
        if ended.code:
            raise ended.told(what)

    async def _get(
        self, command: list[str], url: str, directory: str, progress: Progress | None
    ) -> _Ended:
        watched = ["--progress"] if progress is not None else []
        arguments = [*command, "--template=", *watched, "--", url, directory]
        return await self._run(arguments, "/", progress)

    async def _check_out(self, directory: str, wanted: str) -> None:
        commit = await self._commit(directory, wanted)
        if commit is None:
            error = f"error: pathspec '{wanted}' did not match any file(s) known to git"
            raise _Ended(1, "", error).told(f"git checkout {wanted}")
        ended = await self._run(["checkout", "--quiet", "--detach", commit, "--"], directory)
        if ended.code:
            raise ended.told(f"git checkout {wanted}")

    async def _commit(self, directory: str, wanted: str) -> str | None:
        """The commit that a branch, a tag or an id stands for; a full id is only ever an id."""
        places = [wanted]
        if not SHA.fullmatch(wanted):
            places = [f"refs/remotes/origin/{wanted}", f"refs/tags/{wanted}", wanted]
        for place in places:
            ended = await self._run(
                ["rev-parse", "--verify", "--quiet", f"{place}^{{commit}}"], directory
            )
            if not ended.code:
                return ended.out
        return None

    async def revision(self, url: str, ref: str | None) -> str:
        """What `ref`, or HEAD, of a repository points to now; nothing is fetched.

        Raises:
            GitFailed: With the words of Codex 0.171.0.
        """
        refuse_options(url, ref)
        if ref is not None and SHA.fullmatch(ref):
            return ref
        revision = (await self._listed(url, ref or "HEAD")).split("\t", 1)[0].strip()
        if not SHA.fullmatch(revision):
            raise GitFailed(f"{_LISTING} returned no revision for `{ref or 'HEAD'}`")
        return revision

    async def commit(self, url: str, ref: str | None) -> str:
        """The commit that a clone at `ref`, or at HEAD, would have now; nothing is fetched.

        Other than `revision` it takes the branch of just this name, and a tag for its commit.

        Raises:
            GitFailed: With the words of Codex 0.171.0.
        """
        refuse_options(url, ref)
        if ref is None or SHA.fullmatch(ref):
            return await self.revision(url, ref)
        wanted = [f"refs/heads/{ref}", f"refs/tags/{ref}^{{}}", f"refs/tags/{ref}"]
        said = (line.partition("\t") for line in (await self._listed(url, *wanted)).splitlines())
        known = {name.strip(): commit for commit, _, name in said}
        found = next((known[name] for name in wanted if name in known), "")
        if not SHA.fullmatch(found):
            raise GitFailed(f"{_LISTING} returned no revision for `{ref}`")
        return found

    async def _listed(self, url: str, *refs: str) -> str:
        try:
            with anyio.fail_after(QUESTION_SECONDS):
                ended = await self._run(["ls-remote", "--", url, *refs], "/")
        except TimeoutError:
            raise GitFailed(f"{_LISTING} did not end within {QUESTION_SECONDS:g}s") from None
        if ended.code:
            status = f"exit status: {ended.code}"
            text = f"{_LISTING} failed with status {status}: {ended.error or ended.out}"
            raise GitFailed(without_secrets(text))
        return ended.out

    async def _run(
        self, arguments: list[str], directory: str, progress: Progress | None = None
    ) -> _Ended:
        settings = [word for setting in _SETTINGS for word in ("-c", setting)]
        argv = ["git", *settings, *arguments]
        try:
            process = await self._processes.spawn(argv, env=self._env, cwd=directory)
        except SpawnFailed as error:
            reason = f"{os.strerror(error.errno)} (os error {error.errno})"
            raise GitFailed(f"failed to run git {arguments[0]}: {reason}") from None
        try:
            return await _Reading(process, progress).ended()
        finally:
            await self._processes.end(process, grace=0)


class _Reading:
    """Both streams of a running git: its words kept, its progress told."""

    def __init__(self, process: Process, progress: Progress | None) -> None:
        self._process = process
        self._progress = progress
        self._out = bytearray()
        self._words: list[str] = []

    async def ended(self) -> _Ended:
        """Wait for the end and for the last word."""
        self._process.close_stdin()
        code = 0
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._read_out)
            tasks.start_soon(self._read_errors)
            code = await self._process.wait()
            # A helper that outlives git (a credential cache) may hold the pipes for ever.
            tasks.cancel_scope.deadline = anyio.current_time() + 0.5
        error = "\n".join(self._words).strip()
        return _Ended(code, self._out.decode("utf-8", "replace").strip(), error)

    async def _read_out(self) -> None:
        while data := await self._process.receive():
            self._out += data[: max(0, _LIMIT - len(self._out))]

    async def _read_errors(self) -> None:
        rest = b""
        while data := await self._process.receive_stderr():
            *lines, rest = re.split(rb"[\r\n]", (rest + data)[-_LIMIT:])
            for line in lines:
                self._take(line.decode("utf-8", "replace"))
        self._take(rest.decode("utf-8", "replace"))

    def _take(self, line: str) -> None:
        match = _PROGRESS.match(line)
        if match is None:
            if line.strip() and len(self._words) < 50:
                self._words.append(line.rstrip())
            return
        if self._progress is not None:
            low, high = _PHASES.get(match["phase"], (0.0, 0.0))
            share = low + (high - low) * int(match["percent"]) / 100
            self._progress(share or None, f"{match['phase'].lower()} {match['percent']} %")


def refuse_options(*arguments: str | None) -> None:
    """Refuse what git would take for an option, or what is no text. Raises GitFailed."""
    for argument in arguments:
        if argument is not None and (argument.startswith("-") or "\0" in argument):
            raise GitFailed(f"`{argument}` begins with `-` and is not given to git")


def drop_escaping_links(directory: str) -> list[str]:
    """Remove links that lead out of a clone, or into its `.git`; which were removed."""
    base = os.path.realpath(directory)
    dropped: list[str] = []
    for here, folders, files in os.walk(base):
        if here == base and ".git" in folders:
            folders.remove(".git")
        for name in (*folders, *files):
            path = f"{here}/{name}"
            if not os.path.islink(path):
                continue
            target = os.path.realpath(path)
            inside = target == base or target.startswith(f"{base}/")
            if not inside or target.startswith(f"{base}/.git"):
                os.unlink(path)
                dropped.append(os.path.relpath(path, base))
    return dropped
