"""A visitor who opens pages of the back office in a real browser, and notes what is wrong with each."""

from collections.abc import Iterator
from contextlib import contextmanager

from axe_playwright_python.base import AXE_SCRIPT
from django.conf import settings
from django.test import Client
from playwright.sync_api import ConsoleMessage, Error, Page, Response, expect

WIDE = {"width": 1440, "height": 900}
NARROW = {"width": 400, "height": 800}

# An email is in a frame without scripts. tests/emails/renderer/test_accessibility.py looks at the product's own.
_ALL_RULES = {"resultTypes": ["violations"], "iframes": False}
_COLOURS = _ALL_RULES | {"runOnly": ["color-contrast"]}
# Only what is wrong is sent here: all that axe has looked at would take long to read.
_RUN_AXE = """async ([within, options]) => (await axe.run(within, options)).violations
    .filter((violation) => ["serious", "critical"].includes(violation.impact))
    .flatMap((violation) => violation.nodes.map(
        (node) => `${violation.id}: ${node.target} ${node.html.slice(0, 200)}`
    ))"""
# Colours that change gradually would be measured half-way.
_STILL = "*, *::before, *::after { transition: none !important; animation: none !important; }"


# The element that reaches farthest to the right, if the page can be scrolled sideways.
_WIDEST = """() => {
    const root = document.scrollingElement;
    if (root.scrollWidth <= root.clientWidth) {
        return [];
    }
    const ends = [...root.querySelectorAll("*")].map((element) => [element.getBoundingClientRect().right, element]);
    const [right, widest] = ends.reduce((first, second) => (second[0] > first[0] ? second : first));
    return [`${root.scrollWidth} ${right} ${widest.outerHTML.slice(0, 200)}`];
}"""
# Elements that react to clicks and that no key reaches. Escape closes the filters, as a click beside them does.
_UNREACHABLE = """() => [...document.querySelectorAll("[x-on\\\\:click], [onclick]")]
    .filter((element) => element.checkVisibility() && element.tabIndex < 0 && element.id !== "changelist-filter-close")
    .map((element) => element.outerHTML.slice(0, 200))"""

_CHOOSE_ACTION = """action => {
    const form = document.getElementById("changelist-form");
    form.querySelector("input.action-select").checked = true;
    form.querySelector("select[name=action]").value = action;
    form.submit();
}"""


class Visitor:
    """Opens pages and inspects them. `mistakes` has a line for each thing that is wrong."""

    def __init__(self, page: Page, origin: str) -> None:
        self.page = page
        self.origin = origin
        self.mistakes: list[str] = []
        # The pages that were inspected.
        self.seen: list[str] = []
        page.on("pageerror", self._note_error)
        page.on("console", self._note_console)

    @staticmethod
    def prepare(page: Page) -> None:
        """Let each page that is opened load axe by itself, which is quicker than to send it to each."""
        page.add_init_script(AXE_SCRIPT)

    def close(self) -> None:
        """Stop listening to the page, which others use after this visitor."""
        self.page.remove_listener("pageerror", self._note_error)
        self.page.remove_listener("console", self._note_console)

    def use_session(self, browser: Client) -> None:
        """Go on with the session of a client, or with none if it has none."""
        self.page.context.clear_cookies()
        if settings.SESSION_COOKIE_NAME in browser.cookies:
            session = browser.cookies[settings.SESSION_COOKIE_NAME].value
            self.page.context.add_cookies(
                [{"name": settings.SESSION_COOKIE_NAME, "value": session, "url": self.origin}]
            )

    @property
    def path(self) -> str:
        return self.page.url.removeprefix(self.origin)

    def note(self, mistake: str) -> None:
        self.mistakes.append(f"{self.path}: {mistake}")

    def visit(self, path: str, *, narrow: bool = False) -> int:
        """Open a page and inspect it with its dialogs, unless that was done before. Return the answer's status."""
        response = self.page.goto(self.origin + path)
        assert isinstance(response, Response)
        # Dialogs are parts of pages, which open them.
        if self.path not in self.seen and "<html" in response.text():
            self.seen.append(self.path)
            self.inspect(narrow=narrow)
            self._inspect_dialogs()
        return response.status

    def _inspect_dialogs(self) -> None:
        dialog = self.page.locator("#dialog")
        for link in self.page.locator("a[hx-get]").all():
            link.evaluate("link => link.click()")
            expect(dialog).to_be_visible()
            self.inspect(f"dialog {link.get_attribute('hx-get')}", within="#modal-content")
            self.page.keyboard.press("Escape")
            expect(dialog).to_be_hidden()

    def press(self, button: str, *, narrow: bool = False) -> None:
        """Press a button that sends a form, and inspect the page that answers."""
        with self.page.expect_navigation():
            self.page.get_by_role("button", name=button, exact=True).click()
        self.inspect(f"after {button}", narrow=narrow)

    def choose_action(self, action: str) -> None:
        """Choose an action for the first row of the list that is open, and inspect the page that answers."""
        with self.page.expect_navigation():
            self.page.evaluate(_CHOOSE_ACTION, action)
        self.inspect(action, narrow=True)

    def inspect(self, what: str = "", *, narrow: bool = False, within: str = "html") -> None:
        """Look for what axe finds serious or worse, in light and dark colours, and for a page that is too wide."""
        self.page.add_style_tag(content=_STILL)
        self._run_axe(f"{what} light", _ALL_RULES, within)
        for html in self.page.evaluate(_UNREACHABLE):
            self.note(f"{what}: no key reaches {html}")
        with self._dark():
            self._run_axe(f"{what} dark", _COLOURS, within)
        if narrow:
            self.page.set_viewport_size(NARROW)
            self._run_axe(f"{what} narrow", _ALL_RULES, within)
            with self._dark():
                self._run_axe(f"{what} narrow, dark", _COLOURS, within)
        else:
            self.page.set_viewport_size(NARROW)
        for html in self.page.evaluate(_WIDEST):
            self.note(f"{what}: wider than the screen: {html}")
        self.page.set_viewport_size(WIDE)

    @contextmanager
    def _dark(self) -> Iterator[None]:
        self.page.evaluate("document.documentElement.classList.add('dark')")
        yield
        self.page.evaluate("document.documentElement.classList.remove('dark')")

    def _run_axe(self, what: str, options: dict[str, object], within: str) -> None:
        for mistake in self.page.evaluate(_RUN_AXE, [within, options]):
            self.note(f"{what}: {mistake}")

    def _note_error(self, error: Error) -> None:
        self.note(f"script error: {error.message}")

    def _note_console(self, message: ConsoleMessage) -> None:
        address = message.location.get("url", "")
        # The browser tells of each answer that isn't a success: a page that refuses isn't a mistake.
        is_refusal = address == self.page.url and "the server responded with a status of" in message.text
        if message.type == "error" and not is_refusal:
            self.note(f"console: {message.text} {address}")
