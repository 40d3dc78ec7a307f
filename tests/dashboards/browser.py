"""A headless Chromium that reports what the page did: console, network, drawn figures."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.support.ui import WebDriverWait

FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-sync",
    "--no-first-run",
    "--hide-scrollbars",
    "--force-device-scale-factor=1",
)
DRAW_SECONDS = 60.0
CHANGE_SECONDS = 15.0


class Browser:
    """One open page."""

    def __init__(self, driver: webdriver.Chrome) -> None:
        """Wrap a started driver."""
        self.driver = driver
        self.errors: list[str] = []
        self.requests: list[str] = []

    def open(self, page: Path, width: int, theme: Literal["light", "dark"]) -> None:
        """Open a file and wait until it says that all its figures are drawn."""
        self.driver.set_window_size(width, 1000)
        features = {"features": [{"name": "prefers-color-scheme", "value": theme}]}
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", features)
        self._logged("performance")  # what the browser asked for before
        self.driver.get(page.as_uri())
        WebDriverWait(self.driver, DRAW_SECONDS).until(lambda _: self.ask("return document.body.dataset.drawn"))
        self._collect()

    def ask(self, script: str, *arguments: object) -> Any:
        """What a script returns."""
        return self.driver.execute_script(script, *arguments)

    def wait(self, condition: Callable[[], bool]) -> None:
        """Until the condition holds; fails after some seconds."""
        WebDriverWait(self.driver, CHANGE_SECONDS).until(lambda _: condition())

    def whole_page(self, path: Path) -> bytes:
        """A PNG of the page from top to bottom, also written to `path`."""
        height = self.ask("return document.documentElement.scrollHeight")
        width = self.ask("return window.innerWidth")
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        picture: bytes = self.driver.get_screenshot_as_png()
        self.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
        path.write_bytes(picture)
        return picture

    def _logged(self, kind: str) -> list[dict[str, str]]:
        found: list[dict[str, str]] = self.driver.get_log(kind)  # type: ignore[no-untyped-call]
        return found

    def _collect(self) -> None:
        self.errors += [entry["message"] for entry in self._logged("browser")]
        for entry in self._logged("performance"):
            event = json.loads(entry["message"])["message"]
            if event["method"] == "Network.requestWillBeSent":
                self.requests.append(event["params"]["request"]["url"])


@contextmanager
def browser(chromium: str, chromedriver: str, profile: Path) -> Iterator[Browser]:
    """A browser with an empty profile; its processes end with the context."""
    options = Options()
    options.binary_location = chromium
    for flag in (*FLAGS, f"--user-data-dir={profile}", "about:blank"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(chromedriver))
    try:
        yield Browser(driver)
    finally:
        driver.quit()
