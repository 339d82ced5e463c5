"""Every page of the site that was made (build/site): no Markdown is left in its text, and every code span of its source is there
as code. Run by `make test-docs`, after the site was made."""

from __future__ import annotations

import html
import re
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import glossary  # noqa: E402
import measured  # noqa: E402
import pages  # noqa: E402

SITE = pages.ROOT / "build/site"
CODE = re.compile(r"<pre.*?</pre>|<code>.*?</code>|<div class=\"fragment\">.*?</div><!-- fragment -->|<script.*?</script>", re.S)


def words(text: str) -> str:
    return " ".join(html.unescape(re.sub(r"<[^>]*>", "", text)).replace("\u00a0", " ").split())


def spans(markdown: str) -> list[str]:
    """The texts of the code spans, outside of code blocks and comments."""
    blocks = r"^```.*?^```$|(?:^(?:    |\t)[^\n]*\n)+|<!--.*?-->"
    plain = re.sub(blocks, "", markdown, flags=re.S | re.M)
    return [" ".join(span.split()) for _, span in re.findall(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)", plain, re.S)]


@unittest.skipUnless((SITE / "index.html").exists(), "the site was not made")
class Site(unittest.TestCase):
    def test_no_markdown_is_left(self):
        chapters, labs = pages.pages()
        written = {page.html for page in chapters + labs + pages.tools()}
        looked_at = 0
        for path in sorted(SITE.glob("*.html")):
            if path.name.endswith("_source.html"):
                continue  # a source file, comments and all
            looked_at += 1
            text = words(CODE.sub(" ", path.read_text(encoding="utf-8")))
            for mark in ("`", "\u2018") + (("**", "](") if path.name in written else ()):  # in C++ these have a meaning
                at = text.find(mark)
                with self.subTest(page=path.name, mark=mark):
                    self.assertEqual(at, -1, f"...{text[max(0, at - 60):at + 60]}...")
        self.assertGreater(looked_at, 50)

    def test_every_code_span_is_code(self):
        chapters, labs = pages.pages()
        for page in chapters + labs + pages.tools():
            shown = (SITE / page.html).read_text(encoding="utf-8")
            code = {words(found) for found in re.findall(r"<code>(.*?)</code>", shown, re.S)}
            wanted = spans((pages.ROOT / page.source).read_text(encoding="utf-8"))
            with self.subTest(page=page.source):
                self.assertEqual([span for span in wanted if span not in code], [])

    def test_the_search_leads_to_each_term_of_the_glossary(self):
        data = "".join(path.read_text(encoding="utf-8") for path in (SITE / "search").glob("all_*.js"))
        page = (SITE / glossary.PAGE).read_text(encoding="utf-8")
        terms = glossary.terms((pages.ROOT / glossary.SOURCE).read_text(encoding="utf-8"))
        self.assertGreater(len(terms), 40)
        for term in terms:
            with self.subTest(term=term):
                self.assertIn(f"'../{glossary.PAGE}#{glossary.anchor(term)}'", data)
                self.assertEqual(page.count(f'id="{glossary.anchor(term)}"'), 1)

    def test_every_lab_shows_its_chart_and_leads_to_its_chapter(self):
        for lab in (*pages.labs.load(), *pages.labs.programs()):
            shown = (SITE / f"{lab.name}.html").read_text(encoding="utf-8")
            with self.subTest(lab=lab.name):
                self.assertTrue(not lab.chapter or f'href="chapter_{Path(lab.chapter).stem}.html' in shown)
                if isinstance(lab, pages.labs.Program):  # its variants stand on no chart
                    continue
                if lab.operator in (*measured.DRAWN, "swap_ffn"):
                    self.assertRegex(shown, r'<img class="[a-z-]+" src="plots_(roofline|fusion)-h200\.')
                else:
                    self.assertNotIn('src="plots_roofline-h200.', shown)
                    self.assertIn('href="roofline.html"', shown)

    def test_every_fold_has_a_summary_and_an_answer(self):
        folds = 0
        for path in sorted(SITE.glob("*.html")):
            for fold in re.findall(r"<details>(.*?)</details>", path.read_text(encoding="utf-8"), re.S):
                folds += 1
                with self.subTest(page=path.name, fold=fold[:120]):
                    self.assertRegex(fold.strip(), r"(?s)\A<summary>[^<]+</summary>.*\w.{10}")
        self.assertGreater(folds, 100)

    def test_every_picture_has_a_text_in_its_place(self):
        pictures = 0
        for path in sorted(SITE.glob("*.html")):
            for picture in re.findall(r"<img\b[^>]*>", path.read_text(encoding="utf-8")):
                said = re.search(r'\balt="([^"]*)"', picture)
                pictures += 1
                with self.subTest(page=path.name, picture=picture[:120]):
                    self.assertTrue(said and len(said[1]) > 5)
        self.assertGreater(pictures, 20)

    def test_headings_begin_with_the_title_and_skip_no_level(self):
        """That is how a screen reader lists a page."""
        chapters, labs = pages.pages()
        looked_at = 0
        for page in (*(page.html for page in chapters + labs + pages.tools()), "index.html", "roofline.html", "classbench_1_1Workload.html"):
            text = (SITE / page).read_text(encoding="utf-8")
            found = re.findall(r'<h([1-6])(?: aria-level="(\d)")?[ >]|role="heading" aria-level="(\d)"', text)
            levels = [int(said or role or tag) for tag, said, role in found]
            looked_at += len(levels)
            with self.subTest(page=page):
                self.assertEqual((levels[0], levels.count(1)), (1, 1))
                self.assertEqual([(a, b) for a, b in zip(levels, levels[1:]) if b > a + 1], [])
        self.assertGreater(looked_at, 300)


if __name__ == "__main__":
    unittest.main()
