"""What tests in a real browser share: signing in without the form, patience, and what axe says to a page."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from axe_playwright_python.base import AXE_SCRIPT
from django.contrib.auth.models import User
from django.test import Client
from playwright.sync_api import Page, expect

from tests.conftest import Service
from tests.pages.conftest import GIVE_UP_MILLISECONDS

expect.set_options(timeout=GIVE_UP_MILLISECONDS)

THEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
BY_COLOUR = ["color-contrast", "link-in-text-block"]
"""The rules that another theme can break."""

AXE = """async ([only, never]) => {
    // A picture behind a text leaves its contrast undecided; that of a chooser is its arrow.
    document.querySelectorAll("select").forEach((chooser) => { chooser.style.backgroundImage = "none"; });
    document.querySelectorAll("main details:not(.menu)").forEach((folded) => { folded.open = true; });
    const asked = {resultTypes: ["violations", "incomplete"], preload: false};
    if (only) { asked.runOnly = only; }
    if (never) { asked.rules = Object.fromEntries(never.map((rule) => [rule, {enabled: false}])); }
    // A rolling digit is drawn by the style sheet over a text that is there for copying.
    const found = await axe.run({exclude: [".digit"]}, asked);
    // What lies under something else, or overlaps it where it is scrolled to, is undecided for no fault of its colours.
    const colours = found.incomplete.filter((rule) => rule.id === "color-contrast");
    const said = [...found.violations, ...colours].flatMap((rule) => rule.nodes.map((node) => {
        const part = document.querySelector(node.target.join(" "));
        if (rule.id === "color-contrast" && part instanceof SVGTextElement) { return ""; }
        const why = [...node.any, ...node.all, ...node.none].map((check) => check.message).join("; ");
        return `${rule.id}: ${node.html.slice(0, 160)}: ${why.slice(0, 200)}`;
    })).filter((fault) => fault && !/obscured by another element|overlaps other elements/.test(fault));
    return said.concat(never && never.includes("color-contrast") ? [] : drawn());

    // axe cannot decide about the words of a drawing: their fill against what the drawing lies on.
    function drawn() {
        const channels = (colour) => (colour.match(/[\\d.]+/g) || []).map(Number);
        const light = (colour) => channels(colour).slice(0, 3).map((one) => one / 255)
            .map((one) => (one <= 0.03928 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4))
            .reduce((sum, one, place) => sum + one * [0.2126, 0.7152, 0.0722][place], 0);
        const ground = (part) => {
            for (let at = part; at; at = at.parentElement) {
                const colour = getComputedStyle(at).backgroundColor;
                if (channels(colour).length === 3 || channels(colour)[3] > 0.99) { return colour; }
            }
            return "rgb(255, 255, 255)";
        };
        return [...document.querySelectorAll("svg text")].filter((part) => part.getClientRects().length).flatMap((part) => {
            const [one, other] = [getComputedStyle(part).fill, ground(part.closest("svg"))].map(light).sort((a, b) => b - a);
            const ratio = (one + 0.05) / (other + 0.05);
            return ratio < 4.5 ? [`color-contrast: ${part.outerHTML.slice(0, 160)}: ${ratio.toFixed(2)} to 1`] : [];
        });
    }
}"""

PLACES = """() => {
    const place = (part) => (part === document.body ? "" : place(part.parentElement) + ">")
        + part.tagName + [...part.classList].sort().map((name) => "." + name).join("");
    return [...new Set([...document.querySelectorAll("body *:not(script)")].map(place))];
}"""


def sign_in(page: Page, service: Service, username: str = "everyone", onward: str = "/") -> None:
    """Open a page with a session brought along, as a browser does in which somebody signed in before."""
    bring_session(page, service, username)
    page.goto(service.url + onward)


def bring_session(page: Page, service: Service, username: str) -> None:
    """Give the browser somebody's session; no page is opened."""
    client = Client()
    client.force_login(User.objects.get(username=username), backend="django.contrib.auth.backends.ModelBackend")
    page.context.add_cookies([{"name": "sessionid", "value": client.cookies["sessionid"].value, "url": service.url}])


def meter(page: Page, level: str = "ms-mg01/major") -> Any:
    """The digits of a level."""
    return page.locator(f'[data-level="{level}"] [data-value]')


def faults(page: Page, *, only: list[str] | None = None, never: list[str] | None = None) -> list[str]:
    """What axe finds on a page, and colours that it cannot decide about; of every rule, only of some, or of all but some."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE_SCRIPT)
    found: list[str] = page.evaluate(AXE, [only, never])
    return found


@dataclass
class Seen:
    """What was looked at already, as another role: places whose colours were, and pages whose places were all the same."""

    places: set[str] = field(default_factory=set)
    pages: set[tuple[str, frozenset[str]]] = field(default_factory=set)


def faults_in_both_themes(page: Page, seen: Seen | None = None, kind: str = "") -> list[str]:
    """What axe finds in light, and what colours can do wrong in dark; the page follows the system's theme.

    Colours, which take the most time, are looked at only where something stands that was not `seen`: what has another
    place in its page or other classes. A page of a `kind` with the same places as one that was seen is that page again.
    """
    seen = Seen() if seen is None else seen
    places = frozenset(page.evaluate(PLACES))
    if kind and (kind, places) in seen.pages:
        return []
    seen.pages.add((kind, places))
    page.emulate_media(color_scheme="light", reduced_motion="reduce")
    found = [f"light: {fault}" for fault in faults(page, never=BY_COLOUR)]
    if places <= seen.places:
        return found
    seen.places |= places
    for theme in THEMES:
        page.emulate_media(color_scheme=theme, reduced_motion="reduce")
        found += [f"{theme}: {fault}" for fault in faults(page, only=BY_COLOUR)]
    expect(page.locator("html")).to_have_attribute("data-bs-theme", "dark")
    return found
