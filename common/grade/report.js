
"use strict";
// Sorts the table of all submissions by the column whose head is pressed, and hides the rows that the filter does not match.
// Without it the page is whole: the rows then stay in the order of names.
const body = document.querySelector("#class tbody");
const heads = Array.from(document.querySelectorAll("#class thead th"));
const key = (row, column) => row.cells[column].dataset.sort;

heads.forEach((head, column) => {
  head.querySelector("button").addEventListener("click", () => {
    const numeric = head.classList.contains("number");
    // Points: the best first. Names: from A.
    const first = numeric ? "descending" : "ascending";
    const other = numeric ? "ascending" : "descending";
    const order = head.getAttribute("aria-sort") === first ? other : first;
    heads.forEach((h) => h.setAttribute("aria-sort", h === head ? order : "none"));
    const sign = order === "ascending" ? 1 : -1;
    const compare = numeric
      ? (a, b) => Number(key(a, column)) - Number(key(b, column))
      : (a, b) => key(a, column).localeCompare(key(b, column), undefined, {numeric: true});
    Array.from(body.rows).sort((a, b) => sign * compare(a, b)).forEach((row) => body.appendChild(row));
  });
});

const filter = document.getElementById("filter");
filter.addEventListener("input", () => {
  const wanted = filter.value.trim().toLowerCase();
  let shown = 0;
  for (const row of body.rows) {
    row.hidden = !row.textContent.toLowerCase().includes(wanted);
    if (!row.hidden) shown++;
  }
  document.getElementById("shown").textContent = wanted ? `${shown} of ${body.rows.length} rows` : "";
});
