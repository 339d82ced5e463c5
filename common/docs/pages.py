"""The pages of the site, in reading order, and the translation of one from the repository's Markdown to Doxygen's."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "common"))
from course import labs  # noqa: E402

FIGURES = Path("theory/figures")  # drawn by figures.py beside the book


@dataclass(frozen=True)
class Page:
    source: str  # path in the repository
    id: str  # of the Doxygen page, and the name of its HTML file
    title: str

    @property
    def html(self) -> str:
        return f"{self.id}.html"


def title_of(path: Path) -> str:
    """The first heading. Errors: ValueError if the file has none."""
    for line in path.read_text().splitlines():
        if line.startswith("# "):
            return line[2:].strip()
    raise ValueError(f"{path} has no '# Title'")


def pages() -> tuple[list[Page], list[Page]]:
    """(chapters, labs), each in order; messages, glossary and syllabus are the last of the chapters."""
    chapters = [Page(str(path.relative_to(ROOT)), "chapter_" + path.stem, title_of(path))
                for path in [*sorted((ROOT / "theory").glob("[0-9]*.md")), *(ROOT / "theory" / name for name in ("messages.md", "glossary.md", "syllabus.md"))]]
    handouts = [ROOT / lab.starter.with_name("README.md") for lab in labs.reading_order()]
    return chapters, [Page(str(path.relative_to(ROOT)), path.parent.name, title_of(path)) for path in handouts]


TOOLS = ("", "simt", "simt/timing", "rung", "ops", "testing", "python", "cuda", "peers", "grade", "grade/corpus",
         "grade/slurm")  # folders of common/, in reading order


def tools() -> list[Page]:
    """What README leaves to pages of their own: the READMEs in common/."""
    sources = [ROOT / "common" / folder / "README.md" for folder in TOOLS]
    return [Page(str(path.relative_to(ROOT)), "_".join(["tool", *path.parent.relative_to(ROOT / "common").parts]), title_of(path))
            for path in sources]


CODE = re.compile(r"(`+)(?:(?!\1).)*\1|<!--.*?-->", re.S)


def code_span(code: str) -> str:
    """In double backticks: Doxygen takes a span in single ones for a quotation if a single quote is in it."""
    single = re.fullmatch(r"`([^`]+)`", code)
    return f"``{single[1]}``" if single else code


def outside_code(text: str, change) -> str:
    """`text` with change() applied to all that is neither in backticks nor in a comment."""
    parts, at = [], 0
    for code in CODE.finditer(text):
        parts += [change(text[at:code.start()]), code_span(code[0])]
        at = code.end()
    return "".join(parts) + change(text[at:])


def math(text: str) -> str:
    """$...$ and $$...$$ -> Doxygen's formulas."""
    text = re.sub(r"\$\$(.+?)\$\$", lambda m: r"\f[" + m[1] + r"\f]", text, flags=re.S)
    return re.sub(r"\$(?! )([^$\n]+?)(?<! )\$", lambda m: r"\f$" + m[1] + r"\f$", text)


class Links:
    """Where a link of one page leads on the site. Collects what has to be copied there."""

    def __init__(self, known: dict[str, Page]):
        self.known = known
        self.files: set[str] = set()  # of the repository, shown as plain text
        self.images: set[str] = set()

    def resolve(self, page_source: str, target: str) -> str:
        """Errors: FileNotFoundError if the target is not in the repository."""
        if re.match(r"[a-z]+:|#", target):
            return target
        path, _, fragment = target.partition("#")
        folder = PurePosixPath(page_source).parent
        inside = str(PurePosixPath(*normalised(folder / path)))
        if inside in self.known:
            return self.known[inside].html + ("#" + anchor(self.known[inside], fragment) if fragment else "")
        if not (ROOT / inside).exists():
            if "/" not in path and path.endswith(".html"):
                return target  # made by the site itself
            raise FileNotFoundError(f"{page_source} links to {target}, which is not there")
        if (ROOT / inside).is_dir():
            readme = inside + "/README.md"
            return self.known[readme].html if readme in self.known else "files.html"
        self.files.add(inside)
        return f"files/{inside}.txt"


def normalised(path: PurePosixPath) -> list[str]:
    parts: list[str] = []
    for part in path.parts:
        if part == "..":
            parts.pop()
        elif part != ".":
            parts.append(part)
    return parts


def anchor(page: Page, heading: str) -> str:
    """A heading's own id among all pages; from its text or from the fragment by which GitHub knows it."""
    return f"{page.id}_" + re.sub(r"[ -]", "_", re.sub(r"[^\w -]", "", heading.lower()))


def translate(page: Page, text: str, links: Links) -> str:
    """The page as Doxygen takes it: with an id, its formulas, images and links."""
    # "2. Title" would be the first item of a list, and becomes item 1.
    text = re.sub(r"\A# (?:(\d+)\. )?(.*)", lambda m: f"# {m[1] + ' · ' if m[1] else ''}{m[2]} {{#{page.id}}}", text, count=1)

    def image(m: re.Match) -> str:
        folder = PurePosixPath(page.source).parent
        path = str(PurePosixPath(*normalised(folder / m[2])))
        if not (ROOT / path).exists():
            raise FileNotFoundError(f"{page.source} shows {m[2]}, which is not there")
        links.images.add(path)
        return picture(path, m[1])

    def change(part: str) -> str:
        part = re.sub(r"!\[([^\]]*)\]\(([^)\s]+)\)", image, part)
        return math(part)

    def link(m: re.Match) -> str:
        target = links.resolve(page.source, m[2])
        return f'<a href="{target}">{inline(m[1])}</a>'

    lines, fenced = [], False
    for block in re.split(r"(^```[^\n]*\n.*?^```$|(?:^    [^\n]*\n)+)", text, flags=re.S | re.M):
        if block.startswith("```") or block.startswith("    "):
            lines.append(block)
        else:
            # Doxygen 1.9 ends a fold of its own with the paragraph, so that the answer would stand beside its summary.
            block = re.sub(r"(?m)^(##+ )(.+?)$", lambda m: f"{m[1]}{m[2]} {{#{anchor(page, m[2])}}}", block)
            block = re.sub(r"<details><summary>.*?</summary>|</details>", lambda m: f"\n{raw(m[0])}\n", block)
            block = re.sub(r"(?<!!)\[((?:[^\]\[]|\[[^\]]*\])+)\]\(([^)\s]+)\)", link, block)
            # Doxygen's ** reaches neither over a formula nor over code, and needs a space in front.
            block = re.sub(r"(`+)(?:(?!\1).)*\1|\*\*((?:`[^`]*`|[^*`])+)\*\*", lambda m: m[0] if m[1] else f"<b>{m[2]}</b>", block, flags=re.S)
            lines.append(outside_code(block, change))
    return re.sub(r"<!--.*?-->", "", "".join(lines), flags=re.S)


def inline(text: str) -> str:
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", text)


def picture(path: str, caption: str) -> str:
    """An image with its caption; the book's figures have a twin for the dark theme, which make_site.py draws."""
    name = path.replace("/", "_")
    caption = caption.replace('"', "&quot;")
    if Path(path).parent == FIGURES:
        twin = name.removesuffix(".svg") + "-dark.svg"
        shown = (f'<img class="light-mode-only" src="{name}" alt="{caption}">'
                 f'<img class="dark-mode-only" src="{twin}" alt="{caption}">')
    else:
        shown = f'<img class="on-paper" src="{name}" alt="{caption}">'
    return raw(f"<figure>{shown}<figcaption>{caption}</figcaption></figure>")


def raw(html: str) -> str:
    """HTML that Doxygen does not know, passed on as it is."""
    return f"\\htmlonly[block]\n{html}\n\\endhtmlonly"
