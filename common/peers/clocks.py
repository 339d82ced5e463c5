"""Watches the clock of the device while something is timed: through NVML, the driver's management library, in a thread.

A time that was taken while the device had lowered its clock, because of heat or power, says nothing about a kernel.
"""

from __future__ import annotations

import ctypes
import threading
import time
from typing import Callable

# Bits of nvmlDeviceGetCurrentClocksEventReasons that mean that the device runs slower than it was asked to.
THROTTLED = {0x04: "power cap", 0x08: "hardware slowdown", 0x20: "software thermal slowdown",
             0x40: "hardware thermal slowdown", 0x80: "power brake"}
SM_CLOCK = 1  # NVML_CLOCK_SM


class Nvml:
    """Reads the clock and the reasons of one device. Raises OSError where there is no NVML."""

    def __init__(self, bus_id: str):
        self.library = ctypes.CDLL("libnvidia-ml.so.1")
        if self.library.nvmlInit_v2() != 0:
            raise OSError("nvmlInit failed")
        self.device = ctypes.c_void_p()
        if self.library.nvmlDeviceGetHandleByPciBusId_v2(bus_id.encode(), ctypes.byref(self.device)) != 0:
            raise OSError(f"NVML does not know the device {bus_id}")
        self.reasons_of = getattr(self.library, "nvmlDeviceGetCurrentClocksEventReasons",
                                  getattr(self.library, "nvmlDeviceGetCurrentClocksThrottleReasons", None))

    def __call__(self) -> tuple[int, int]:
        """(SM clock in MHz, reasons as bits)"""
        clock, reasons = ctypes.c_uint(), ctypes.c_ulonglong()
        self.library.nvmlDeviceGetClockInfo(self.device, SM_CLOCK, ctypes.byref(clock))
        if self.reasons_of:
            self.reasons_of(self.device, ctypes.byref(reasons))
        return clock.value, reasons.value


class Watch:
    """Reads every few milliseconds between start() and stop(). read: as Nvml; None: there is nothing to read."""

    def __init__(self, read: Callable[[], tuple[int, int]] | None, interval: float = 0.005):
        self.read, self.interval = read, interval
        self.clocks: list[int] = []
        self.reasons: set[str] = set()
        self.thread: threading.Thread | None = None

    def sample(self) -> None:
        clock, bits = self.read()
        self.clocks.append(clock)
        self.reasons |= {name for bit, name in THROTTLED.items() if bits & bit}

    def run(self) -> None:
        while not self.ended.wait(self.interval):
            self.sample()

    def start(self) -> None:
        self.reasons = set()
        if self.read:
            self.ended = threading.Event()
            self.thread = threading.Thread(target=self.run, daemon=True)
            self.thread.start()

    def stop(self) -> set[str]:
        """Why the device was slow since start(); empty if it was not, as far as is known."""
        if self.thread:
            self.ended.set()
            self.thread.join()
            self.thread = None
            self.sample()
        return self.reasons


def retry(measure: Callable[[], object], watch: Watch, most: int = 5, pause: float = 2.0) -> tuple[object, int, set[str]]:
    """measure(), again while the device was throttled, at most `most` times. (the result, how many were thrown away, why).
    Where every attempt was throttled the last is kept, and counts as thrown away too."""
    reasons: set[str] = set()
    for discarded in range(most):
        watch.start()
        result = measure()
        found = watch.stop()
        if not found:
            return result, discarded, reasons
        reasons |= found
        time.sleep(pause)
    return result, most, reasons
