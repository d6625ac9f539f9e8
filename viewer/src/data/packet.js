// Reads packets: src/view/packet.h describes them.

async function inflate(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** Four planes of bytes to signed integers. */
function fromPlanes(bytes, count) {
  const values = new Int32Array(count);
  for (let i = 0; i < count; ++i) {
    const z = bytes[i] | (bytes[count + i] << 8) | (bytes[2 * count + i] << 16) | (bytes[3 * count + i] << 24);
    values[i] = (z >>> 1) ^ -(z & 1);
  }
  return values;
}

function scaled(integers, scale) {
  if (scale === 1) return integers;
  const values = new Float32Array(integers.length);
  for (let i = 0; i < integers.length; ++i) values[i] = integers[i] * scale;
  return values;
}

/** For each contact the row that it was written as a difference from, or -1 (src/view/clip_contacts.cpp). */
function findPredecessors(counts, a, b) {
  const predecessor = new Int32Array(a.length).fill(-1);
  let before = new Map();
  let row = 0;
  for (const count of counts) {
    const now = new Map();
    for (const end = row + count; row < end; ++row) {
      const pair = (a[row] + 1) * 4294967296 + (b[row] + 1);
      let rows = now.get(pair);
      if (!rows) now.set(pair, (rows = []));
      const old = before.get(pair);
      if (old && rows.length < old.length) predecessor[row] = old[rows.length];
      rows.push(row);
    }
    before = now;
  }
  return predecessor;
}

function unpredict(values, width, predecessor) {
  for (let row = 0; row < predecessor.length; ++row) {
    const from = predecessor[row];
    if (from >= 0) for (let k = 0; k < width; ++k) values[row * width + k] += values[from * width + k];
  }
}

function checkColumn(column, room) {
  const whole = (n) => Number.isSafeInteger(n) && n >= 0;
  if (![column.rows, column.width, column.at, column.bytes].every(whole) || column.at + column.bytes > room) {
    throw new Error("the data is damaged");
  }
}

/** Bytes to {json, columns: {name: typed array}}. */
export async function readPacket(buffer) {
  const head = new DataView(buffer);
  if (buffer.byteLength < 8 || head.getUint32(0, true) !== 0x31564c53) throw new Error("this is not viewer data");
  const length = head.getUint32(4, true);
  const json = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 8, length)));
  const start = 8 + length;
  const columns = {};
  let predecessor = null;
  for (const column of json.columns) {
    checkColumn(column, buffer.byteLength - start);
    let bytes = new Uint8Array(buffer, start + column.at, column.bytes);
    if (column.deflate) bytes = await inflate(bytes);
    const count = column.rows * column.width;
    const size = column.type === "f64" ? 8 : 4;
    if (bytes.byteLength !== count * size) throw new Error("the data is damaged");
    if (column.type !== "packed") {
      const Numbers = column.type === "f64" ? Float64Array : Float32Array;
      columns[column.name] = bytes.byteOffset % size === 0
        ? new Numbers(bytes.buffer, bytes.byteOffset, count) : new Numbers(bytes.slice().buffer);
      continue;
    }
    const values = fromPlanes(bytes, count);
    if (column.delta) for (let i = column.width; i < count; ++i) values[i] += values[i - column.width];
    if (column.predict === "pair") {
      predecessor ??= findPredecessors(columns.contact_count, columns.a, columns.b);
      unpredict(values, column.width, predecessor);
    }
    columns[column.name] = scaled(values, column.scale);
  }
  return { json, columns };
}
