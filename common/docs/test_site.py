"""Every page of the site that was made (build/site): no Markdown is left in its text, and every code span of its source is there
as code. Run by `make test-docs`, after the site was made."""

from __future__ import annotations

import html
import re
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
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
            for mark in ("`", "\u2018", "](") + (("**",) if path.name in written else ()):  # in C++ ** has a meaning
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


if __name__ == "__main__":
    unittest.main()
