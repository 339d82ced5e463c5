"""A table as an Excel workbook (Office Open XML, ECMA-376), which LibreOffice reads too: one sheet, text cells that stay text whatever they look
like, numbers, a bold first line that stays in view. What else a workbook can have is not needed here."""

from __future__ import annotations

import io
import re
import zipfile
from xml.sax.saxutils import escape

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"
HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
TEXT, BOLD, NUMBER = 1, 2, 3  # styles
LONGEST_CELL = 32767

FILES = {
    "[Content_Types].xml": f'<Types xmlns="{PACKAGE}/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    '<Default Extension="xml" ContentType="application/xml"/>'
    '<Override PartName="/xl/workbook.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/>'
    '<Override PartName="/xl/worksheets/sheet1.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"/>'
    '<Override PartName="/xl/styles.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.styles+xml"/></Types>',
    "_rels/.rels": f'<Relationships xmlns="{PACKAGE}/relationships"><Relationship Id="rId1" Type="{OFFICE}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
    "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{PACKAGE}/relationships"><Relationship Id="rId1" Type="{OFFICE}/worksheet" Target="worksheets/sheet1.xml"/>'
    f'<Relationship Id="rId2" Type="{OFFICE}/styles" Target="styles.xml"/></Relationships>',
    # Number format 49 is "@", text: a cell that is edited stays text. 0 is "General".
    "xl/styles.xml": f'<styleSheet xmlns="{MAIN}"><fonts count="2"><font><sz val="11"/><name val="Calibri"/></font><font><b/><sz val="11"/><name val="Calibri"/></font></fonts>'
    '<fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill></fills>'
    '<borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders>'
    '<cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs>'
    '<cellXfs count="4"><xf numFmtId="0" fontId="0" fillId="0" borderId="0" xfId="0"/><xf numFmtId="49" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/>'
    '<xf numFmtId="49" fontId="1" fillId="0" borderId="0" xfId="0" applyNumberFormat="1" applyFont="1"/><xf numFmtId="0" fontId="0" fillId="0" borderId="0" xfId="0"/></cellXfs>'
    '<cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>',
}


def column(number: int) -> str:
    """0 is A, 26 is AA."""
    name = ""
    while number >= 0:
        name = chr(ord("A") + number % 26) + name
        number = number // 26 - 1
    return name


def _cell(place: str, value: str | float | int | None, bold: bool) -> str:
    if value is None or value == "":
        return ""
    if isinstance(value, str):
        # The format writes what XML cannot hold as _x0007_, and so must write that itself in another way.
        text = re.sub(r"_(?=x[0-9A-Fa-f]{4}_)", "_x005F_", value[:LONGEST_CELL])
        text = re.sub("[\x00-\x08\x0b-\x1f\ud800-\udfff\ufffe\uffff]", lambda m: f"_x{ord(m[0]):04X}_", text)
        return f'<c r="{place}" s="{BOLD if bold else TEXT}" t="inlineStr"><is><t xml:space="preserve">{escape(text)}</t></is></c>'
    return f'<c r="{place}" s="{NUMBER}"><v>{value:.10g}</v></c>'


def xlsx(rows: list[list[str | float | int | None]], name: str) -> bytes:
    """The first row is the head. The same rows give the same bytes."""
    lines = []
    for i, row in enumerate(rows):
        cells = "".join(_cell(f"{column(j)}{i + 1}", value, i == 0) for j, value in enumerate(row))
        lines.append(f'<row r="{i + 1}">{cells}</row>')
    wide = [min(40, max(8, *(len(str(row[j])) + 2 for row in rows[:200] if j < len(row)))) for j in range(len(rows[0]))]
    widths = "".join(f'<col min="{j + 1}" max="{j + 1}" width="{width}" customWidth="1"/>' for j, width in enumerate(wide))
    sheet = (f'<worksheet xmlns="{MAIN}"><sheetViews><sheetView workbookViewId="0"><pane xSplit="1" ySplit="1" topLeftCell="B2" activePane="bottomRight" state="frozen"/>'
             f'</sheetView></sheetViews><cols>{widths}</cols><sheetData>{"".join(lines)}</sheetData></worksheet>')
    book = f'<workbook xmlns="{MAIN}" xmlns:r="{OFFICE}"><sheets><sheet name="{escape(name)}" sheetId="1" r:id="rId1"/></sheets></workbook>'
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, text in {**FILES, "xl/workbook.xml": book, "xl/worksheets/sheet1.xml": sheet}.items():
            archive.writestr(zipfile.ZipInfo(path, (1980, 1, 1, 0, 0, 0)), (HEAD + text).encode(), zipfile.ZIP_DEFLATED)
    return stream.getvalue()
