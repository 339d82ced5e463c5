// The interactive roofline. `measurements` (measurements.js) is a list of plots/results/*.json; more can be dropped on the
// page. Nothing is fetched: the page works from the file system.
'use strict';

const colours = ['#5b6770', '#1f77b4', '#2a9d63', '#d2691e', '#a03c8c', '#b8860b', '#c0392b', '#4b5bd7', '#17a2b8', '#8c564b', '#e377c2',
  '#7a8b00'];
const byId = (id) => document.getElementById(id);

// In CSS pixels, so that letters keep their size; on a narrow screen the legend goes into the chart's empty corner.
const size = {width: 960, height: 560, left: 70, right: 150, top: 20, bottom: 50};
function fit() {
  const room = byId('chart').clientWidth;
  size.width = Math.max(340, Math.min(1100, room));
  size.height = size.width < 600 ? 420 : 560;
  size.right = size.width < 600 ? 15 : 150;
}

// ---- Data ------------------------------------------------------------------------------------------------------------

const labOf = (point) => point.lab || 'own';
const shapeOf = (point) => `${point.rows} x ${point.cols}` + (point.k ? `, K = ${point.k}` : '');
const flops = (point) => point.nominal_flops;  // per element as many as the operator has
const bytesOf = (point, kind) => point[kind] || point.nominal_bytes;

// Why a file is not one of measurements; '' if it is.
function problemOf(result) {
  if (typeof result !== 'object' || result === null || !Array.isArray(result.points)) return 'it has no list "points"';
  result.points = result.points.filter((p) => p.seconds !== null);  // without a prediction
  if (typeof result.machine !== 'string') return 'it does not name its "machine"';
  if (typeof result.roofs !== 'object' || !(result.roofs.copy_gbs > 0)) return 'it has no "roofs" with a "copy_gbs"';
  const bad = result.points.findIndex((p) => !(p.seconds > 0 && p.rows > 0 && p.cols > 0 && p.nominal_flops > 0 &&
    typeof p.variant === 'string'));
  return bad < 0 ? '' : `point ${bad} has no time, shape, FLOP or variant`;
}

function shown() {
  const machine = measurements[byId('machine').value];
  const wanted = {lab: byId('lab').value, dtype: byId('dtype').value, shape: byId('shape').value};
  const points = machine.points.filter((p) =>
    (!wanted.lab || labOf(p) === wanted.lab) && (!wanted.dtype || p.dtype === wanted.dtype) &&
    (!wanted.shape || shapeOf(p) === wanted.shape));
  return {machine, points};
}

// ---- Drawing ---------------------------------------------------------------------------------------------------------

function node(name, attributes, parent, text) {
  const made = document.createElementNS('http://www.w3.org/2000/svg', name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  if (parent) parent.appendChild(made);
  return made;
}

// Logarithmic scale: value -> pixel.
function scale(low, high, from, to) {
  const a = Math.log10(low), b = Math.log10(high);
  return (value) => from + (Math.log10(value) - a) / (b - a) * (to - from);
}

function decades(low, high) {
  const list = [];
  for (let e = Math.ceil(Math.log10(low)); e <= Math.log10(high) + 1e-9; e++) list.push(10 ** e);
  return list;
}

const short = (value) => value >= 1e5 || value < 1e-3 ? value.toExponential(0) : String(+value.toPrecision(3));

function describe(point) {
  const counted = (kind) => point[kind] ? `${(point[kind] / (point.rows * point.cols)).toPrecision(3)} bytes per element` : 'not counted';
  const us = (seconds) => (seconds * 1e6).toPrecision(4);
  const time = point.predicted ? `predicted: ${us(point.seconds)} us (${us(point.predicted.low)} to ${us(point.predicted.high)})` : `${us(point.seconds)} us`;
  const limit = point.predicted ? `${point.predicted.words}\n` : '';
  return `${labOf(point)} ${point.variant} ${point.dtype} (${point.source})\n${shapeOf(point)}, ${point.input}\n` +
    `${time}, ${(flops(point) / point.seconds / 1e9).toPrecision(3)} GFLOP/s\n` + limit +
    `sector bytes: ${counted('l1_bytes')}\nfootprint: ${counted('footprint_bytes')}\n` +
    `footprint at ${(bytesOf(point, 'footprint_bytes') / point.seconds / 1e9).toPrecision(4)} GB/s`;
}

function draw() {
  fit();
  const {machine, points} = shown();
  const roofs = machine.roofs;
  const xs = points.flatMap((p) => [flops(p) / bytesOf(p, 'l1_bytes'), flops(p) / bytesOf(p, 'footprint_bytes')]);
  const ys = points.map((p) => flops(p) / p.seconds / 1e9);
  const peak = roofs.fma_gflops || Math.max(1, ...ys) * 2;
  const low = {x: Math.min(0.1, ...xs) / 2, y: Math.min(1, ...ys) / 2};
  const high = {x: Math.max(peak / roofs.copy_gbs, ...xs) * 3, y: Math.max(peak, ...ys) * 2};
  const x = scale(low.x, high.x, size.left, size.width - size.right);
  const y = scale(low.y, high.y, size.height - size.bottom, size.top);

  const svg = node('svg', {viewBox: `0 0 ${size.width} ${size.height}`, role: 'group',
    'aria-label': `roofline of ${machine.machine}: ${points.length} points`});
  for (const value of decades(low.x, high.x)) {
    node('line', {x1: x(value), x2: x(value), y1: size.top, y2: size.height - size.bottom, class: 'grid'}, svg);
    node('text', {x: x(value), y: size.height - size.bottom + 18, 'text-anchor': 'middle'}, svg, short(value));
  }
  for (const value of decades(low.y, high.y)) {
    node('line', {x1: size.left, x2: size.width - size.right, y1: y(value), y2: y(value), class: 'grid'}, svg);
    node('text', {x: size.left - 6, y: y(value) + 4, 'text-anchor': 'end'}, svg, short(value));
  }
  node('text', {x: (size.left + size.width - size.right) / 2, y: size.height - 8, 'text-anchor': 'middle'}, svg, 'FLOP per byte');
  node('text', {x: 14, y: size.height / 2, 'text-anchor': 'middle', transform: `rotate(-90 14 ${size.height / 2})`}, svg, 'GFLOP/s');

  for (const [name, gbs] of [['read', roofs.read_gbs], ['copy', roofs.copy_gbs]]) {
    if (!gbs) continue;
    const start = Math.max(low.x, low.y / gbs), ridge = Math.min(peak / gbs, high.x);
    node('path', {d: `M${x(start)} ${y(start * gbs)}L${x(ridge)} ${y(ridge * gbs)}`, class: `roof ${name}`}, svg);
    const at = Math.sqrt(start * ridge);
    node('text', {x: x(at) - 6, y: y(at * gbs) - (name === 'read' ? 14 : -16), 'text-anchor': name === 'read' ? 'end' : 'start'}, svg,
      `${name} ${gbs} GB/s`);
  }
  if (roofs.fma_gflops) {
    node('path', {d: `M${x(peak / roofs.copy_gbs)} ${y(peak)}L${x(high.x)} ${y(peak)}`, class: 'roof'}, svg);
    node('text', {x: x(high.x), y: y(peak) - 6, 'text-anchor': 'end'}, svg, `FMA ${roofs.fma_gflops} GFLOP/s`);
  }

  const labs = [...new Set(machine.points.map(labOf))].sort();
  const legend = size.right > 100 ? {x: size.width - size.right + 20, y: 40} :
    {x: size.width - size.right - 110, y: size.height - size.bottom - 22 * labs.length};
  labs.forEach((lab, i) => {
    node('circle', {cx: legend.x, cy: legend.y + 22 * i, r: 5, fill: colours[i % colours.length]}, svg);
    node('text', {x: legend.x + 10, y: legend.y + 5 + 22 * i}, svg, lab);
  });
  for (const point of points) {
    const colour = colours[labs.indexOf(labOf(point)) % colours.length];
    const at = {l1: x(flops(point) / bytesOf(point, 'l1_bytes')), foot: x(flops(point) / bytesOf(point, 'footprint_bytes')),
      y: y(flops(point) / point.seconds / 1e9)};
    const group = node('g', {class: 'point', tabindex: 0, role: 'img', 'aria-label': describe(point).replaceAll('\n', '; ')}, svg);
    node('line', {x1: at.l1, x2: at.foot, y1: at.y, y2: at.y, stroke: colour, class: 'span'}, group);
    node('line', {x1: at.foot, x2: at.foot, y1: at.y - 5, y2: at.y + 5, stroke: colour, 'stroke-width': 2}, group);
    if (point.predicted) {  // hollow, with an error bar
      const [least, most] = [point.predicted.high, point.predicted.low].map((seconds) => y(flops(point) / seconds / 1e9));
      node('line', {x1: at.l1, x2: at.l1, y1: least, y2: most, stroke: colour, class: 'band'}, group);
    }
    node('circle', {cx: at.l1, cy: at.y, r: point.source === 'solution' ? 5 : 8, ...(point.predicted ?
      {fill: 'transparent', stroke: colour, 'stroke-width': 2} : {fill: colour})}, group);
    for (const type of ['mouseenter', 'focus', 'click']) group.addEventListener(type, () => showTip(group, point));
    for (const type of ['mouseleave', 'blur']) group.addEventListener(type, hideTip);
  }
  byId('chart').replaceChildren(svg);
  drawTable(points);
}

function drawTable(points) {
  const table = document.createElement('table');
  const row = (cells, kind) => {
    const tr = table.insertRow();
    for (const cell of cells) tr.appendChild(document.createElement(kind)).textContent = cell;
  };
  row(['variant', 'type', 'shape', 'us', 'GFLOP/s', 'L1 bytes per element', 'footprint per element'], 'th');
  for (const p of points) {
    const each = (kind) => p[kind] ? (p[kind] / (p.rows * p.cols)).toPrecision(3) : '';
    row([`${labOf(p)} ${p.variant}`, p.dtype, shapeOf(p), (p.seconds * 1e6).toPrecision(4),
      (flops(p) / p.seconds / 1e9).toPrecision(3), each('l1_bytes'), each('footprint_bytes')], 'td');
  }
  byId('table').replaceChildren(table);
}

function showTip(group, point) {
  const tip = byId('tip');
  tip.textContent = describe(point);
  tip.hidden = false;
  const box = group.querySelector('circle').getBoundingClientRect();
  const left = Math.min(box.right + 8, document.documentElement.clientWidth - tip.offsetWidth - 8);
  tip.style.left = `${Math.max(8, left) + window.scrollX}px`;
  const above = box.bottom + 8 + tip.offsetHeight > document.documentElement.clientHeight;
  tip.style.top = `${(above ? box.top - 8 - tip.offsetHeight : box.bottom + 8) + window.scrollY}px`;
}

function hideTip() { byId('tip').hidden = true; }

// ---- Controls --------------------------------------------------------------------------------------------------------

function fill(select, options, all) {
  const before = select.value;
  select.replaceChildren();
  if (all) options = [['', all], ...options];
  for (const [value, text] of options) select.appendChild(new Option(text, value));
  if (options.some(([value]) => String(value) === before)) select.value = before;
}

// The shape with the most points: a chart of one shape compares variants, one of all shapes shows a cloud.
function usualShape(machine) {
  const count = new Map();
  for (const p of machine.points) count.set(shapeOf(p), (count.get(shapeOf(p)) || 0) + 1);
  return [...count.entries()].sort((a, b) => b[1] - a[1])[0]?.[0] ?? '';
}

function refresh(newMachine) {
  fill(byId('machine'), measurements.map((m, i) =>
    [i, `${m.machine}${m.backend === 'predicted' ? ', predicted' : ''} (${m.date || 'no date'})`]));
  if (newMachine !== undefined) byId('machine').value = newMachine;
  const {points} = measurements[byId('machine').value];
  const each = (of) => [...new Set(points.map(of))].sort().map((v) => [v, v]);
  fill(byId('lab'), each(labOf), 'all');
  fill(byId('dtype'), each((p) => p.dtype), 'all');
  fill(byId('shape'), each(shapeOf), 'all');
  draw();
}

function say(text, wrong) {
  byId('message').textContent = text;
  byId('message').className = wrong ? 'wrong' : '';
}

async function add(files) {
  for (const file of files) {
    try {
      const result = JSON.parse(await file.text());
      const problem = problemOf(result);
      if (problem) throw new Error(problem);
      measurements.push(result);
      refresh(measurements.length - 1);
      say(`${file.name}: ${result.points.length} points of ${result.machine}`);
    } catch (error) {
      say(`${file.name} holds no measurements: ${error.message}. What is wanted is a file that make lab02 or make ladder wrote to plots/local/.`, true);
    }
  }
}

function theme(dark) {
  document.documentElement.classList.toggle('dark', dark);
  byId('theme').setAttribute('aria-pressed', dark);
  byId('theme').textContent = dark ? 'light' : 'dark';
}

byId('theme').addEventListener('click', () => theme(!document.documentElement.classList.contains('dark')));
theme(window.matchMedia('(prefers-color-scheme: dark)').matches);
byId('machine').addEventListener('change', () => refresh());
for (const id of ['lab', 'dtype', 'shape']) byId(id).addEventListener('change', draw);
byId('file').addEventListener('change', (event) => add(event.target.files));
document.addEventListener('dragover', (event) => { event.preventDefault(); document.body.classList.add('dropping'); });
document.addEventListener('dragleave', () => document.body.classList.remove('dropping'));
document.addEventListener('drop', (event) => {
  event.preventDefault();
  document.body.classList.remove('dropping');
  add(event.dataTransfer.files);
});
window.addEventListener('resize', () => { if (measurements.length) draw(); });
document.addEventListener('keydown', (event) => { if (event.key === 'Escape') hideTip(); });
if (measurements.length) {
  refresh(0);
  byId('shape').value = usualShape(measurements[0]);
  draw();
} else {
  say('Nothing was measured yet: run make ladder, then make docs.', true);
}
