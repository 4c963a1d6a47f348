"""Runs the panel and its core side by side: neither waits for the other to start."""

from __future__ import annotations

import logging
import signal
from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any

import anyio
from anyio.abc import TaskStatus

from tui.app import JackfieldApp
from tui.options import FIRST_START, LOG, Options, state_dir
from tui.signs import Glyphs
from tui.theme import choose_theme

if TYPE_CHECKING:
    from core.client.contract import CoreClient
    from tui.last_frame import LastFrame

log = logging.getLogger(__name__)

GOODBYE = 5.0  # seconds that the core has to end its processes


class CoreLink:
    """The way from the app to a core that is still being opened."""

    def __init__(self) -> None:
        self._known = anyio.Event()
        self._closing = anyio.Event()
        self._client: CoreClient | None = None
        self._error: Exception | None = None

    async def client(self) -> CoreClient:
        """The client, once the core stands.

        Raises:
            Exception: What kept the core from opening.
        """
        await self._known.wait()
        if self._client is None:
            raise self._error or RuntimeError("the core did not open")
        return self._client

    def close(self) -> None:
        """The app has ended: let the core end too."""
        self._closing.set()

    async def serve(
        self, options: Options, *, task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED
    ) -> None:
        """Open the core, keep it until `close`, end it in the task that opened it."""
        task_status.started()
        try:
            # The core's modules are loaded in a thread, so that the first frame is painted
            # meanwhile.
            opener = await anyio.to_thread.run_sync(_core_opener, options)
            async with opener as client:
                self._client = client
                self._known.set()
                await self._closing.wait()
        except Exception as error:
            log.exception("the core ended")
            self._error = error
            self._client = None
            self._known.set()


def _core_opener(options: Options) -> AbstractAsyncContextManager[CoreClient]:
    # Loaded here, in the thread; `_open` and `open_demo` find them loaded.
    if not options.connect:
        import_module("core.staging")
    if options.demo:
        from core.demo import open_demo

        return open_demo(options.environ)
    if options.connect:
        from core.client.remote import open_remote
        from core.deps import SystemClock

        clock, read_only = SystemClock(), options.read_only
        return open_remote(options.connect, options.environ, clock, read_only=read_only)
    import_module("core.deps")
    return _open(options)


@asynccontextmanager
async def _open(options: Options) -> AsyncGenerator[CoreClient]:
    from core.deps import real_deps
    from core.staging import open_staged

    deps = real_deps(options.environ, options.cwd, read_only=options.read_only)
    async with open_staged(deps) as client:
        yield client


def is_first_start(options: Options) -> bool:
    """True once: the mark is in our own state folder."""
    if options.demo or options.connect:
        return False
    mark = state_dir(options.environ) / FIRST_START
    try:
        mark.touch(mode=0o600, exist_ok=False)
    except OSError:
        return False
    return True


async def _panel(
    options: Options, theme: str, driver_class: Any, kept_frame: LastFrame | None
) -> int:
    link = CoreLink()
    app = JackfieldApp(
        link.client,
        glyphs=Glyphs(ascii=options.ascii),
        theme=theme,
        read_only=options.read_only,
        consent_all=options.consent_all,
        first_start=is_first_start(options),
        driver_class=driver_class,
        log_file=str(state_dir(options.environ) / LOG),
        kept_frame=kept_frame,
        keys=options.keys,
        real_cursor=options.cursor,
    )
    if options.settings_fault:
        app.store.remember_fault(f"settings: not used: {options.settings_fault}")
    async with anyio.create_task_group() as tasks:
        await tasks.start(link.serve, options)
        async with anyio.create_task_group() as watching:
            watching.start_soon(_end_on_signals, app)
            await app.run_async()
            watching.cancel_scope.cancel()
        link.close()
        tasks.cancel_scope.deadline = anyio.current_time() + GOODBYE
    return app.return_code or 0


async def _end_on_signals(app: JackfieldApp) -> None:
    with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGHUP) as signals:
        async for number in signals:
            log.info("ended by signal %d", number)
            app.exit(return_code=128 + number)
            return


def launch(
    options: Options,
    background: tuple[int, int, int] | None,
    driver_class: Any,
    kept_frame: LastFrame | None = None,
    *,
    held: bool = False,
) -> int:
    """Show the panel until it is left; the exit status.

    Args:
        kept_frame: Where the first frame with rows is kept for the next start.
        held: A kept frame is on show; it stays there until there are rows.
    """
    colours = options.environ.get("COLORFGBG", "")
    theme = choose_theme(options.theme, background, colours)
    if held:
        from tui.driver import holding_driver, usual_driver

        driver_class = holding_driver(driver_class or usual_driver())
    return anyio.run(_panel, options, theme, driver_class, kept_frame)
