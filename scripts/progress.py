"""Progress of long work: live on a terminal, one line per finished step in a log.

Steps may run side by side on threads. Everything goes to standard error, so that standard output
holds the command's result alone.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import TracebackType

from rich.console import Console
from rich.live import Live
from rich.spinner import Spinner
from rich.text import Text


@dataclass
class Step:
    """One step. `detail` is what is said of it in the end; `say` shows what it does right now."""

    name: str
    refresh: Callable[[], None]
    detail: str = ""
    doing: str = ""
    seconds: float = 0.0

    def say(self, line: str) -> None:
        """Tells what the step does right now."""
        self.doing = line
        self.refresh()


class Progress:
    """The steps of one command; a context manager, since a live display must be ended."""

    def __init__(self, *, quiet: bool = False) -> None:
        """Args: quiet: print nothing, only take the times (for `--json`)."""
        self.steps: list[Step] = []
        self._console = Console(stderr=True, quiet=quiet, highlight=False, soft_wrap=True)
        self._live = Live(console=self._console, transient=True, refresh_per_second=8)
        self._running: list[Step] = []
        self._lock = threading.RLock()

    def __enter__(self) -> Progress:
        if self._console.is_terminal:
            self._live.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._live.stop()

    @contextmanager
    def step(self, name: str) -> Iterator[Step]:
        """Runs a step: its time is taken, and its line printed when it ends."""
        step = Step(name, self._refresh)
        started = time.perf_counter()
        with self._lock:
            self._running.append(step)
        self._refresh()
        try:
            yield step
        except BaseException:
            self._finish(step, started, Text("✗", "red"))
            raise
        self._finish(step, started, Text("✓", "green"))

    @property
    def last(self) -> str:
        """Name of the step that runs, or ended last."""
        return (
            [*self.steps, *self._running][-1].name if self.steps or self._running else "its start"
        )

    def note(self, line: str) -> None:
        """Prints a line that belongs to no step."""
        self._console.print(Text(line))

    def _finish(self, step: Step, started: float, mark: Text) -> None:
        step.seconds = time.perf_counter() - started
        with self._lock:
            self._running.remove(step)
            self.steps.append(step)
        took = Text(f"{step.seconds:5.1f} s", "dim")
        self._console.print(mark, Text(f"{step.name:<9}"), took, Text(f" {step.detail}"))
        self._refresh()

    def _refresh(self) -> None:
        with self._lock:
            doing = [f"{s.name}: {s.doing}" if s.doing else s.name for s in self._running]
        if self._live.is_started:
            line = Text(" · ".join(doing), "dim", no_wrap=True, overflow="ellipsis")
            self._live.update(Spinner("dots", line) if doing else Text(""))
