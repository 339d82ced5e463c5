"""Tests of the translation of pages and headers; none needs Doxygen or a browser."""

import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import api_filter  # noqa: E402
import glossary  # noqa: E402
import pages  # noqa: E402


class Translation(unittest.TestCase):
    page = pages.Page("theory/02_softmax.md", "chapter_02_softmax", "2. Softmax")

    def translate(self, text):
        chapters, labs = pages.pages()
        self.links = pages.Links({page.source: page for page in chapters + labs})
        return pages.translate(self.page, text, self.links)

    def test_formulas(self):
        self.assertIn(r"\f$x\f$", self.translate("# 2. T\n\nan $x$ here\n"))
        self.assertIn("\\f[ y \\f]", self.translate("# 2. T\n\n$$ y $$\n"))

    def test_code_stays_code(self):
        for code in ("`$x$ **b**`", "    $x$ = [a](b.md)\n", "```\n$x$ [a](b.md)\n```\n"):
            self.assertIn(code.strip("\n"), self.translate(f"# 2. T\n\n{code}\n"))

    def test_a_code_span_may_hold_single_quotes(self):
        self.assertIn("say ``make lab02 CASE='predict-*'`` and", self.translate("# 2. T\n\nsay `make lab02 CASE='predict-*'` and\n"))
        self.assertIn("``a `b` c``", self.translate("# 2. T\n\n``a `b` c``\n"))

    def test_links_lead_to_pages_and_files(self):
        out = self.translate("# 2. T\n\n[one](01_roofline.md#x) [lab](../labs/lab02_smem/README.md) "
                             "[c](../common/testing/cases.cpp) [w](https://a.b)\n")
        for href in ("chapter_01_roofline.html#chapter_01_roofline_x", "lab02_smem.html", "files/common/testing/cases.cpp.txt", "https://a.b"):
            self.assertIn(f'href="{href}"', out)
        self.assertEqual(self.links.files, {"common/testing/cases.cpp"})

    def test_a_heading_has_the_place_that_links_lead_to(self):
        for heading, fragment in (("What `k` costs, per row", "what-k-costs-per-row"), ("L2-resident rows", "l2-resident-rows")):
            out = self.translate(f"# 2. T\n\n## {heading}\n\n[there](02_softmax.md#{fragment})\n")
            place = out.split("{#")[2].split("}")[0]
            self.assertIn(f'href="chapter_02_softmax.html#{place}"', out)

    def test_a_folder_leads_to_the_page_of_its_readme(self):
        chapters, labs = pages.pages()
        tools = pages.tools()
        links = pages.Links({page.source: page for page in chapters + labs + tools})
        self.assertEqual(links.resolve("common/README.md", "simt"), "tool_simt.html")
        self.assertEqual(links.resolve("theory/01_roofline.md", "../common/README.md"), "tool.html")
        self.assertEqual(len({page.id for page in tools}), len(tools))

    def test_a_dead_link_is_an_error_that_names_page_and_target(self):
        with self.assertRaisesRegex(FileNotFoundError, "theory/02_softmax.md.*nowhere.md"):
            self.translate("# 2. T\n\n[x](nowhere.md)\n")
        with self.assertRaisesRegex(FileNotFoundError, "nothing.svg"):
            self.translate("# 2. T\n\n![x](nothing.svg)\n")

    def test_a_numbered_title_is_not_a_list(self):
        self.assertTrue(self.translate("# 2. Softmax\n").startswith("# 2 · Softmax {#chapter_02_softmax}"))

    def test_bold_reaches_over_a_formula(self):
        self.assertIn(r"<b>all \f$x\f$.</b>", self.translate("# 2. T\n\n**all $x$.** And\n"))

    def test_bold_reaches_over_code_and_lines(self):
        self.assertIn("<b>the ``x * y``\nof all</b>: ``a ** b``", self.translate("# 2. T\n\n**the `x * y`\nof all**: `a ** b`\n"))

    def test_comments_do_not_show(self):
        self.assertNotIn("h200", self.translate("# 2. T\n\n35<!-- h200 x y --> us\n"))


class Glossary(unittest.TestCase):
    text = "# G\n\n| term | meaning | chapter |\n|---|---|---|\n| Little's law | l | [6](06_bytes.md) |\n| warp | w | [3](x.md) |\n"

    def test_anchors(self):
        self.assertEqual(glossary.terms(self.text), ["Little's law", "warp"])
        self.assertIn("| \\anchor term_little_s_law Little's law | l |", glossary.with_anchors(self.text))

    def test_terms_go_to_the_search_data_of_their_first_letter(self):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            (folder / "searchdata.js").write_text('var indexSectionsWithContent =\n{\n  0: "lw"\n};\n')
            for place in "01":
                (folder / f"all_{place}.js").write_text("var searchData=\n[\n  ['a_0',['a',['../a.html',1,'']]]\n];\n")
            glossary.add_to_search(folder, self.text)
            self.assertIn("'a.html',1,'']]],\n  ['little_27s_20law_1',['Little&#39;s law',".replace("'a.html", "'../a.html"), (folder / "all_0.js").read_text())
            self.assertIn("['warp_1',['warp',['../chapter_glossary.html#term_warp',1,'glossary']]]\n];", (folder / "all_1.js").read_text())
            with self.assertRaisesRegex(ValueError, "no search data for ridge"):
                glossary.add_to_search(folder, "| ridge | r | [1](x.md) |\n")


class Headers(unittest.TestCase):
    def test_comments_become_documentation(self):
        out = api_filter.convert("// The file.\n#pragma once\n// Adds.\nint add(int a);  // of <a> @ b\n", "add.h")
        self.assertEqual(out, "/// \\file add.h\n/// The file.\n#pragma once\n/// Adds.\n"
                              "int add(int a);  ///< of \\<a\\> \\@ b\n")

    def test_strings_and_rules_are_left_alone(self):
        text = "#pragma once\nauto url = \"http://a\";  // b\n"
        self.assertEqual(api_filter.convert(text, "a.h"), text)
        self.assertNotIn("///", api_filter.convert("#pragma once\n// ---- Part ----\n", "a.h"))


if __name__ == "__main__":
    unittest.main()
