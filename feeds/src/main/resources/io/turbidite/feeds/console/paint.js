// How a bed and a memory component are painted: laminae, dead entries, outlines.

import { heightShare } from './beds.js';
import { between, colour } from './theme.js';

const KIND_COLOURS = { btree: 'btree', rtree: 'rtree', inverted: 'text', pm: 'pm' };

function paletteOf(index) {
  if (index.name === 'primary') {
    return 'primary';
  }
  return index.name.includes('primary') ? 'keys' : KIND_COLOURS[index.kind] ?? 'btree';
}

function shape(pen, { x, y, width, height }) {
  const round = Math.min(3, width / 2, height / 2);
  pen.beginPath();
  pen.roundRect(x, y, width, Math.max(0.5, height), round);
}

export function paintBed(pen, bed, index, wet = 0, chosen = false) {
  const palette = paletteOf(index);
  pen.save();
  shape(pen, bed);
  pen.fillStyle = between(colour(`${palette}-new`), colour(`${palette}-old`), bed.age);
  pen.fill();
  pen.clip();
  laminae(pen, bed);
  if (bed.dead > 0) {
    const height = Math.max(2, bed.height * bed.dead);
    pen.fillStyle = colour('dead');
    pen.globalAlpha *= 0.72;
    pen.fillRect(bed.x, bed.y + bed.height - height, bed.width, height);
    pen.globalAlpha /= 0.72;
  }
  if (wet > 0) {
    const before = pen.globalAlpha;
    pen.globalAlpha = before * wet;
    pen.fillStyle = colour('water');
    pen.fillRect(bed.x, bed.y, bed.width, bed.height);
  }
  pen.restore();
  if (bed.component.quarantine) {
    outline(pen, bed, colour('bad'), 2, []);
  } else if (bed.unchecked !== null) {
    const [from, to] = bed.unchecked;
    outline(pen, { ...bed, x: from, width: to - from }, colour('text'), 1.2, [4, 3]);
  }
  if (bed.component.underWork) {
    outline(pen, bed, colour('water'), 2, []);
  }
  if (chosen) {
    outline(pen, bed, colour('text'), 2.5, []);
  }
}

function outline(pen, bed, stroke, width, dash) {
  pen.save();
  pen.strokeStyle = stroke;
  pen.lineWidth = width;
  pen.setLineDash(dash);
  shape(pen, { x: bed.x + width / 2, y: bed.y + width / 2,
      width: Math.max(1, bed.width - width), height: Math.max(1, bed.height - width) });
  pen.stroke();
  pen.restore();
}

/** Fine layers inside a bed: their places come from its file's number, so they stay where they are. */
function laminae(pen, bed) {
  const layers = Math.min(6, Math.floor(bed.height / 7));
  if (layers === 0 || bed.width < 8) {
    return;
  }
  pen.strokeStyle = colour('lamina');
  pen.lineWidth = 0.8;
  let seed = (bed.component.file * 2_654_435_761) % 4_294_967_296;
  for (let i = 1; i <= layers; i++) {
    seed = (seed * 1_664_525 + 1_013_904_223) % 4_294_967_296;
    const y = bed.y + (bed.height * (i - 0.5 + 0.35 * (seed / 4_294_967_296 - 0.5))) / layers;
    const swing = 1.2 * (seed / 4_294_967_296 - 0.3);
    pen.beginPath();
    pen.moveTo(bed.x, y);
    pen.bezierCurveTo(bed.x + bed.width * 0.3, y - swing, bed.x + bed.width * 0.7, y + swing, bed.x + bed.width, y);
    pen.stroke();
  }
}

export function paintMemory(pen, lane, description) {
  const { memory } = lane;
  const limit = description.memoryBudgetBytes ?? 64 * 1024 * 1024;
  const full = memory.entries > 0 ? Math.max(0.08, heightShare(memory.bytes, limit)) : 0;
  pen.save();
  shape(pen, memory);
  pen.fillStyle = colour('water-ground');
  pen.fill();
  pen.clip();
  pen.fillStyle = colour('water');
  pen.fillRect(memory.x, memory.y + memory.height * (1 - full), memory.width, memory.height * full);
  pen.restore();
}
