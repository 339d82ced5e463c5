#!/usr/bin/env python3
"""Makes the web site: build/site/index.html. Run by `make docs`.

Pages are the book's chapters and the labs' handouts, translated (pages.py) and put in order with links to the next and
the previous one; tables of what was measured (measured.py); the glossary's
terms in the search (glossary.py); the API, by Doxygen, out of the headers (api_filter.py); and
the interactive chart (roofline.html). Nothing is loaded from a network when the site is read.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import glossary  # noqa: E402
import measured  # noqa: E402
import pages  # noqa: E402

ROOT = pages.ROOT
HERE = Path(__file__).parent
WORK = ROOT / "build/docs"
SITE = ROOT / "build/site"
MATHJAX = Path("/usr/share/javascript/mathjax")
AWESOME = Path("/usr/share/doxygen-awesome-css")
# Of MathJax only what TeX drawn as SVG needs: 3 MB of 54.
MATHJAX_PARTS = ["MathJax.js", "config/TeX-AMS-MML_SVG.js", "config/default.js", "extensions", "jax/element", "jax/input/TeX",
                 "jax/output/SVG", "localization/en"]


def navigation(order: list[pages.Page], i: int) -> str:
    links = []
    if i > 0:
        links.append(f'<a rel="prev" href="{order[i - 1].html}">← {pages.inline(order[i - 1].title)}</a>')
    if i + 1 < len(order):
        links.append(f'<a rel="next" href="{order[i + 1].html}">{pages.inline(order[i + 1].title)} →</a>')
    return "\n\n" + pages.raw('<nav class="page-order" aria-label="chapters">' + "".join(links) + "</nav>") + "\n"


def ladder_table() -> str:
    """The table of labs in README.md."""
    rows = [line for line in (ROOT / "README.md").read_text().splitlines() if line.startswith("| [lab")]
    return "\n".join(["| lab | variants | the move |", "|---|---|---|"] + rows)


def write_pages(links: pages.Links, chapters: list[pages.Page], labs: list[pages.Page], tools: list[pages.Page]) -> None:
    order = chapters + labs + tools
    for i, page in enumerate(order):
        text = (ROOT / page.source).read_text()
        if page in labs:
            text += measured.table(page.id) + measured.chart(page.id)
        if page.source == glossary.SOURCE:
            text = glossary.with_anchors(text)
        body = pages.translate(page, text, links) + navigation(order, i)
        (WORK / "pages" / f"{page.id}.md").write_text(body)

    front = (HERE / "front.md").read_text()
    chapter_list = "\n".join(f"- [{page.title}]({page.source})" for page in chapters)
    front = front.replace("@LADDER@", ladder_table()).replace("@CHAPTERS@", chapter_list)
    front_page = pages.Page("front.md", "mainpage", "Ladder")
    (WORK / "pages/front.md").write_text(pages.translate(front_page, front, links))
    for name, title, members in (("book", "The book", chapters), ("labs", "The labs", labs), ("tools", "Tools", tools)):
        listed = "\n".join(f"- \\subpage {page.id}" for page in members)
        (WORK / "pages" / f"{name}.md").write_text(f"# {title} {{#{name}}}\n\n{listed}\n")


def run_doxygen() -> None:
    """Errors: SystemExit with Doxygen's warnings, if there are any."""
    settings = (HERE / "Doxyfile").read_text()
    settings = settings.replace("@PYTHON@", sys.executable).replace("@ROOT@", str(ROOT)).replace("@WORK@", str(WORK)).replace("@AWESOME@", str(AWESOME))
    (WORK / "Doxyfile").write_text(settings)
    done = subprocess.run(["doxygen", str(WORK / "Doxyfile")], cwd=ROOT, capture_output=True, text=True)
    warnings = (WORK / "warnings.txt").read_text()
    if done.returncode or warnings:
        sys.exit(f"Doxygen is not content:\n{warnings}{done.stderr[-2000:]}")


def repair_classes() -> None:
    """Doxygen 1.9 links to the list of a class's nested classes also where all of them are private and there is no list; and the picture that
    unfolds what is inherited has no words."""
    for path in [*SITE.glob("class*.html"), *SITE.glob("struct*.html")]:
        text = path.read_text()
        if 'name="nested-classes"' not in text:
            text = re.sub(r'<a href="#nested-classes">Classes</a>( &#124;)?', "", text)
        path.write_text(text.replace('src="closed.png" alt="-"', 'src="closed.png" alt="show what is inherited"'))


def level_headings() -> None:
    """A screen reader lists a page's headings by level. Doxygen's title is none, and the sections below it begin at level 1."""
    for path in SITE.glob("*.html"):
        text = path.read_text()
        if '<div class="title">' not in text:
            continue
        if re.search("<h1[ >]", text):  # newer Doxygen gives it a class
            text = re.sub(r"<h([1-5])(?=[ >])", lambda m: f'<h{m[1]} aria-level="{int(m[1]) + 1}"', text)
        path.write_text(text.replace('<div class="title">', '<div class="title" role="heading" aria-level="1">', 1))


def copy_assets(links: pages.Links) -> None:
    for path in links.images:
        shutil.copy(ROOT / path, SITE / path.replace("/", "_"))
    for path in links.files:
        target = SITE / "files" / (path + ".txt")
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / path, target)
    for part in MATHJAX_PARTS:
        if (MATHJAX / part).is_dir():
            shutil.copytree(MATHJAX / part, SITE / "mathjax" / part, dirs_exist_ok=True)
        elif (MATHJAX / part).exists():
            (SITE / "mathjax" / part).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(MATHJAX / part, SITE / "mathjax" / part)
    for name in ("roofline.html", "roofline.js", "roofline.css"):
        shutil.copy(HERE / name, SITE / name)
    (SITE / "measurements.js").write_text("const measurements = " + json.dumps(measured.results()) + ";\n")


def draw_dark_figures() -> None:
    folder = WORK / "dark"
    folder.mkdir()
    subprocess.run([sys.executable, ROOT / pages.FIGURES.parent / "figures.py", "--dark", folder], check=True)
    for figure in folder.iterdir():
        shutil.copy(figure, SITE / f"{pages.FIGURES}/{figure.name}".replace("/", "_"))


def main() -> None:
    shutil.rmtree(SITE, ignore_errors=True)
    shutil.rmtree(WORK, ignore_errors=True)
    (WORK / "pages").mkdir(parents=True)
    SITE.mkdir(parents=True)
    chapters, labs = pages.pages()
    tools = pages.tools()
    links = pages.Links({page.source: page for page in chapters + labs + tools})
    write_pages(links, chapters, labs, tools)
    run_doxygen()
    repair_classes()
    level_headings()
    glossary.add_to_search(SITE / "search", (ROOT / glossary.SOURCE).read_text())
    copy_assets(links)
    draw_dark_figures()
    print(f"{len(chapters)} chapters, {len(labs)} labs: {SITE.relative_to(ROOT)}/index.html")


if __name__ == "__main__":
    main()
