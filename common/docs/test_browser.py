"""Tests of the site in a real browser, headless Chromium, opened from the file system. Skipped where there is none, or no
site: `make test-docs` makes it first. Screenshots lie in build/site-screenshots."""

import json
import re
import shutil
import sys
import tempfile
import time
import unittest
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

sys.path.insert(0, str(Path(__file__).parent))
import pages  # noqa: E402

ROOT = pages.ROOT
SITE = ROOT / "build/site"
SCREENSHOTS = ROOT / "build/site-screenshots"

try:
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service
    from selenium.webdriver.common.by import By
    missing = next((f"{name} is not installed" for name in ("chromium", "chromedriver") if not shutil.which(name)), "")
except ImportError:
    missing = "python3-selenium is not installed"
if not (SITE / "index.html").exists():
    missing = "build/site is not there: make docs"


# Every text whose colour is less than 4.5 times as light or as dark as what it stands on (3 times, if it is large): WCAG's AA.
FAINT = r"""
const light = c => { const f = v => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
  return 0.2126 * f(c[0]) + 0.7152 * f(c[1]) + 0.0722 * f(c[2]); };
const colour = s => { const m = s.match(/[\d.]+/g).map(Number); return [m[0], m[1], m[2], m.length > 3 ? m[3] : 1]; };
const over = (a, b) => [0, 1, 2].map(i => a[i] * a[3] + b[i] * (1 - a[3]));
const behind = e => { const layers = [];
  for (; e; e = e.parentElement) { const c = colour(getComputedStyle(e).backgroundColor); layers.unshift(c); if (c[3] === 1) break; }
  return layers.reduce((below, layer) => over(layer, below), [255, 255, 255]); };
const faint = new Set(), texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (texts.nextNode()) {
  const e = texts.currentNode.parentElement, text = texts.currentNode.textContent.trim();
  if (!text || !e.checkVisibility({checkOpacity: true, checkVisibilityCSS: true}) || !e.getBoundingClientRect().width) continue;
  const style = getComputedStyle(e), paper = behind(e);
  const ink = e.namespaceURI.endsWith("svg") ? style.fill : style.color;
  if (!ink.startsWith("rgb")) continue;
  const [a, b] = [light(over(colour(ink), paper)), light(paper)].sort((x, y) => y - x);
  const size = parseFloat(style.fontSize), large = size >= 24 || (size >= 18.66 && style.fontWeight >= 700);
  if ((a + 0.05) / (b + 0.05) < (large ? 3 : 4.5))
    faint.add(`${e.tagName}.${e.getAttribute("class")} ${ink} on ${paper}: ${text.slice(0, 30)}`);
}
return [...faint];
"""
# What has the focus: its place in the document, whether its ring can be seen, and where it is.
FOCUSED = """
let e = document.activeElement;
while (e && e.shadowRoot && e.shadowRoot.activeElement) e = e.shadowRoot.activeElement;
if (!e || e === document.body) return null;
const style = getComputedStyle(e.closest("#MSearchBox") || e), box = e.getBoundingClientRect();
const ring = (style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0) || style.boxShadow !== "none" ||
  [...e.querySelectorAll("circle")].some(c => parseFloat(getComputedStyle(c).strokeWidth) > 1);
return {place: [...document.querySelectorAll("*")].indexOf(e), ring: ring && box.width > 0 && box.height > 0,
  seen: box.bottom > 0 && box.top < innerHeight, name: e.outerHTML.slice(0, 120)};
"""


class Collector(HTMLParser):
    """What a page refers to, and the names that others can refer to."""

    def __init__(self):
        super().__init__()
        self.references, self.names = [], set()

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.names |= {attributes[key] for key in ("id", "name") if attributes.get(key)}
        for key in ("href", "src"):
            if attributes.get(key):
                self.references.append(attributes[key])


@unittest.skipUnless((SITE / "index.html").exists(), "build/site is not there: make docs")
class Files(unittest.TestCase):
    def test_every_reference_leads_to_a_file_of_the_site(self):
        collected = {}
        for path in SITE.glob("*.html"):
            collected[path.name] = Collector()
            collected[path.name].feed(path.read_text())
        dead = []
        for page, parser in collected.items():
            for reference in parser.references:
                if re.match(r"(https?:|javascript:|data:|mailto:)", reference):
                    continue
                name, _, fragment = unquote(reference).partition("#")
                name = name.partition("?")[0] or page
                if not (SITE / name).exists():
                    dead.append(f"{page} -> {reference}")
                elif fragment and name in collected and fragment not in collected[name].names:
                    dead.append(f"{page} -> {reference} (no such place)")
        self.assertEqual(dead, [])

    def test_nothing_is_loaded_from_a_network(self):
        for path in SITE.glob("*.html"):
            loaded = re.findall(r"<(?:script|img|link)[^>]+(?:src|href)=\"(https?://[^\"]+)", path.read_text())
            self.assertEqual(loaded, [], path.name)


@unittest.skipIf(missing, missing)
class Browser(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        options = webdriver.ChromeOptions()
        for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
                         "--allow-file-access-from-files"):
            options.add_argument(argument)
        options.binary_location = shutil.which("chromium")
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        cls.browser = webdriver.Chrome(service=Service(shutil.which("chromedriver")), options=options)
        cls.browser.set_page_load_timeout(60)
        cls.browser.implicitly_wait(10)
        SCREENSHOTS.mkdir(exist_ok=True)

    @classmethod
    def tearDownClass(cls):
        cls.browser.quit()

    def open(self, page, width=1280, height=1000):
        self.browser.set_window_size(width, height)
        self.browser.get(f"file://{SITE}/{page}")

    def screenshot(self, name):
        self.browser.save_screenshot(str(SCREENSHOTS / f"{name}.png"))

    def errors(self):
        return [entry["message"] for entry in self.browser.get_log("browser") if entry["level"] == "SEVERE"]

    def one(self, selector):
        return self.browser.find_element(By.CSS_SELECTOR, selector)

    def all(self, selector):
        return self.browser.find_elements(By.CSS_SELECTOR, selector)

    def wait(self, script):
        """Until the script's expression is true; fails after ten seconds."""
        found = self.browser.execute_async_script(
            "const done = arguments[0]; const end = Date.now() + 10000;"
            f"(function look() {{ if ({script}) done(true); else if (Date.now() > end) done(false); else setTimeout(look, 50); }})();")
        self.assertTrue(found, script)

    def every_page(self):
        """All that were written for readers, and one of each kind that Doxygen makes."""
        chapters, labs = pages.pages()
        made = [min(path.name for path in SITE.glob(kind)) for kind in ("class*.html", "struct*.html", "*_8h.html")]
        return ["index.html", "roofline.html", "files.html", "annotated.html", *made] + [page.html for page in chapters + labs + pages.tools()]

    def test_pages_open_without_an_error(self):
        self.errors()
        for page in self.every_page():
            with self.subTest(page):
                self.open(page)
                self.assertEqual(self.errors(), [])
                self.assertTrue(self.one("h1, .title").text.strip())

    def test_formulas_are_rendered(self):
        self.open("chapter_02_softmax.html")
        self.wait("window.MathJax && MathJax.Hub && document.querySelectorAll('.MathJax_SVG svg').length > 10")
        self.assertNotIn("\\frac", self.one("div.contents").text)
        self.screenshot("formulas")
        for page in pages.pages()[0]:
            with self.subTest(page.html):
                self.open(page.html)
                self.browser.execute_script("MathJax.Hub.Queue(() => window.formulasDone = true)")
                self.wait("window.formulasDone")
                wrong = self.browser.execute_script(
                    "return [...document.querySelectorAll('.MathJax_SVG text, .MathJax_Error, .merror')].map(e => e.textContent)")
                self.assertEqual([text for text in wrong if "Undefined" in text or "Error" in text], [])

    def test_next_and_previous_go_through_all_pages(self):
        self.open("chapter_00_how_to.html")
        seen = 1
        while links := self.browser.execute_script("return [...document.querySelectorAll('a[rel=next]')].map(a => a.href)"):
            self.browser.get(links[0])
            seen += 1
            self.assertLess(seen, 60)
        chapters, labs = pages.pages()
        self.assertEqual(seen, len(chapters + labs + pages.tools()))

    def test_answers_are_folded_and_open(self):
        self.open("chapter_02_softmax.html")
        fold = self.one("div.contents details")
        self.assertIsNone(fold.get_attribute("open"))
        self.assertEqual(fold.text, "Answer")
        fold.find_element(By.TAG_NAME, "summary").click()
        self.assertIsNotNone(fold.get_attribute("open"))
        self.assertGreater(len(fold.text), 100)

    def test_dark_and_light(self):
        paper = "return getComputedStyle(document.body).backgroundColor"
        for page, toggle in (("index.html", "doxygen-awesome-dark-mode-toggle"), ("roofline.html", "#theme")):
            with self.subTest(page):
                self.open(page)
                before = self.browser.execute_script(paper)
                self.one(toggle).click()
                self.wait(f"(() => {{ {paper} }})() !== '{before}'")
                self.screenshot(f"other-theme-{page.partition('.')[0]}")
                self.one(toggle).click()
                self.wait(f"(() => {{ {paper} }})() === '{before}'")

    def test_a_phone_needs_no_sideways_scrolling(self):
        self.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
            "width": 360, "height": 780, "deviceScaleFactor": 1, "mobile": True})
        try:
            for page in self.every_page():
                with self.subTest(page):
                    self.open(page)
                    self.assertLessEqual(self.browser.execute_script("return document.documentElement.scrollWidth"), 360)
                    cut = self.browser.execute_script(
                        "return [...document.querySelectorAll('p code, li code, p a, li a')].filter(e => !e.closest('table, pre, .fragment, #side-nav')"
                        " && e.getBoundingClientRect().right > innerWidth).map(e => e.textContent)")
                    self.assertEqual(cut, [])
                    self.screenshot(f"phone-{page.partition('.')[0]}")
        finally:
            self.browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})

    def test_every_text_stands_out_in_both_themes(self):
        try:
            for theme in ("light", "dark"):
                self.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": theme}]})
                for page in self.every_page():
                    with self.subTest(page, theme=theme):
                        self.open(page)
                        self.assertEqual(self.browser.execute_script(FAINT), [])
                        self.screenshot(f"{theme}-{page.partition('.')[0]}")
        finally:
            self.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})

    def test_the_keyboard_alone_goes_through_a_page_in_its_order(self):
        """Tab goes on in the order of the document, to what can be seen to have the focus, and is held nowhere."""
        for page in ("index.html", "roofline.html", "files.html", "chapter_04_shared_memory.html", "chapter_glossary.html", "lab02_smem.html",
                     "tool.html", "annotated.html"):
            with self.subTest(page):
                self.open(page)
                before, ended = -1, False
                for count in range(400):
                    for kind in ("keyDown", "keyUp"):
                        self.browser.execute_cdp_cmd("Input.dispatchKeyEvent", {"type": kind, "key": "Tab", "code": "Tab", "windowsVirtualKeyCode": 9})
                    at = self.browser.execute_script(FOCUSED)
                    if at is None or (at["place"] < before and count > 5):
                        ended = True
                        break
                    self.assertGreater(at["place"], before, at["name"])
                    for _ in range(40):  # the tree of pages may still be scrolling
                        if at["seen"]:
                            break
                        time.sleep(0.05)
                        at = self.browser.execute_script(FOCUSED)
                    self.assertTrue(at["ring"] and at["seen"], at)
                    before = at["place"]
                self.assertTrue(ended, "Tab does not come to the end of the page")
                self.assertGreater(count, 5)

    def test_search_leads_to_a_term_of_the_glossary(self):
        self.open("index.html")
        self.one("#MSearchField").click()
        self.one("#MSearchField").send_keys("occupan")
        self.wait("(() => { const w = document.getElementById('MSearchResultsWindow');"
                  " if (!w || getComputedStyle(w).display !== 'block') return false;"
                  " const frame = document.querySelector('iframe#MSearchResults');"  # Doxygen 1.9.8 has none
                  " const results = frame ? frame.contentDocument : document;"
                  " return !!results && [...results.querySelectorAll('.SRResult a')].some(a => a.offsetParent !== null"
                  " && a.href.endsWith('chapter_glossary.html#term_occupancy')); })()")
        self.screenshot("search")
        self.open("chapter_glossary.html", width=400)
        self.screenshot("glossary_phone")

    def test_search_finds_a_word(self):
        self.open("index.html")
        self.one("#MSearchField").click()
        self.one("#MSearchField").send_keys("client")
        self.wait("(() => { const w = document.getElementById('MSearchResultsWindow');"
                  " return w && getComputedStyle(w).display === 'block'; })()")


@unittest.skipIf(missing, missing)
class Roofline(Browser):
    """The interactive chart."""

    # Its own tests only.
    for name in [n for n in dir(Browser) if n.startswith("test_")]:
        locals()[name] = None

    def points(self):
        return self.all("#chart .point")

    def choose(self, select, value):
        self.browser.execute_script("const s = document.getElementById(arguments[0]); s.value = arguments[1];"
                                    "s.dispatchEvent(new Event('change'))", select, value)

    def test_hover_tells_variant_bytes_and_time(self):
        self.open("roofline.html")
        webdriver.ActionChains(self.browser).move_to_element(self.points()[0].find_element(By.TAG_NAME, "circle")).perform()
        tip = self.one("#tip")
        self.assertTrue(tip.is_displayed())
        for word in ("us", "GFLOP/s", "sector bytes", "footprint"):
            self.assertIn(word, tip.text)
        self.assertTrue(self.browser.execute_script("const b = document.getElementById('tip').getBoundingClientRect();"
                                                    "return b.bottom <= innerHeight && b.right <= innerWidth"))
        self.screenshot("roofline-hover")

    def test_the_keyboard_reaches_points(self):
        self.open("roofline.html")
        self.browser.execute_script("document.querySelector('#chart .point').focus()")
        self.assertTrue(self.one("#tip").is_displayed())
        self.assertIn("GFLOP/s", self.points()[0].get_attribute("aria-label"))
        webdriver.ActionChains(self.browser).send_keys("\ue00c").perform()  # Escape
        self.assertFalse(self.one("#tip").is_displayed())

    def test_predictions_are_hollow_and_have_error_bars(self):
        self.open("roofline.html")
        of_machine = self.browser.execute_script("return measurements.findIndex((m) => m.backend === 'predicted')")
        self.assertGreaterEqual(of_machine, 0)
        self.choose("machine", str(of_machine))
        self.assertEqual(len(self.all("#chart .point .band")), len(self.points()))
        for point in self.points():
            self.assertIn("predicted: ", point.get_attribute("aria-label"))
            self.assertEqual(point.find_element(By.TAG_NAME, "circle").get_attribute("fill"), "transparent")
        self.screenshot("roofline-predicted")

    def test_filters(self):
        self.open("roofline.html")
        self.choose("shape", "")
        every = len(self.points())
        self.choose("lab", "lab02_smem")
        some = len(self.points())
        self.assertTrue(0 < some < every)
        self.assertTrue(all("lab02_smem" in p.get_attribute("aria-label") for p in self.points()))
        rows = self.browser.execute_script("return document.querySelectorAll('#table tr').length")
        self.assertEqual(rows, some + 1)

    def test_a_dropped_file_is_added_and_a_wrong_one_refused(self):
        results = next(json.loads(p.read_text()) for p in (ROOT / "plots/results").glob("*.json")
                       if "points" in json.loads(p.read_text()))
        results["machine"] = "A machine of my own"
        results["points"] = [point for point in results["points"] if point["cols"] == 4096][:3]  # one shape is shown at a time
        with tempfile.TemporaryDirectory() as folder:
            good, bad = Path(folder) / "mine.json", Path(folder) / "other.json"
            good.write_text(json.dumps(results))
            bad.write_text('{"something": "else"}')
            self.open("roofline.html")
            self.one("#file").send_keys(str(good))
            self.wait("document.getElementById('message').textContent.includes('A machine of my own')")
            self.assertEqual(len(self.points()), 3)
            self.one("#file").send_keys(str(bad))
            self.wait("document.getElementById('message').textContent.includes('holds no measurements')")
            self.assertEqual(len(self.points()), 3)


if __name__ == "__main__":
    unittest.main()
