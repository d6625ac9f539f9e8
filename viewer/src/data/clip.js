// A clip: what is drawn, one row of series per frame, and frames and contacts as far as they have come.

const SERIES = ["residual", "relative", "penetration", "joint_error", "iterations", "escalations", "grade",
  "contact_count"];
const JOINT_NUMBERS = 9;

export class Clip {
  constructor(json, columns, chunk) {
    this.json = json;
    this.bodies = json.bodies;
    this.count = this.bodies.length;
    this.chunk = chunk; // frames in one piece of poses or contacts
    this.frames = json.frames;
    this.time = Array.from(columns.time ?? []);
    this.series = { energy: Array.from(columns.energy ?? []) };
    for (const name of SERIES) this.series[name] = Array.from(columns[name] ?? []);
    this.events = [];
    this.addEvents(columns.events ?? []);
    this.poseChunks = [];
    this.contactChunks = [];
    this.jointChunks = [];
    this.loaded = 0; // frames whose poses are here
    this.version = 0; // grows when frames are added or dropped
    this.loadPose = null; // (chunk index) => Promise, set by the source
    this.loadContacts = null;
    this.loadJoints = null;
  }

  get start() { return this.time[0] ?? 0; }
  get end() { return this.time[this.frames - 1] ?? 0; }

  addEvents(rows) {
    for (let i = 0; i + 5 < rows.length; i += 6) {
      this.events.push({ time: rows[i], kind: this.json.event_kinds?.[rows[i + 1]] ?? "event", a: rows[i + 2],
        b: rows[i + 3], before: rows[i + 4], after: rows[i + 5] });
    }
  }

  /** Index of the last frame at or before a time, with the fraction of the way to the next. */
  at(time) {
    const t = this.time;
    let low = 0, high = this.frames - 1;
    if (high < 0) return { frame: 0, next: 0, fraction: 0 };
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (t[middle] <= time) low = middle; else high = middle - 1;
    }
    const next = Math.min(low + 1, this.frames - 1);
    const span = t[next] - t[low];
    return { frame: low, next, fraction: span > 0 ? Math.min(1, Math.max(0, (time - t[low]) / span)) : 0 };
  }

  setPoses(first, columns, count) {
    this.poseChunks[Math.floor(first / this.chunk)] = columns;
    this.loaded += count;
    this.version++;
  }

  setContacts(first, columns, every) {
    const starts = new Uint32Array(columns.contact_count.length + 1);
    columns.contact_count.forEach((n, i) => { starts[i + 1] = starts[i] + n; });
    this.contactChunks[Math.floor(first / this.chunk)] = { ...columns, starts, every };
    this.version++;
  }

  setJoints(first, columns, every) {
    this.jointChunks[Math.floor(first / this.chunk)] = { joints: columns.joints, sensors: columns.sensors, every };
    this.version++;
  }

  /** What joint j does at a frame: position, speed, motor force, reaction force (3) and moment (3); null while it is not here. */
  joint(frame, j) {
    const piece = this.jointChunks[Math.floor(frame / this.chunk)];
    if (!piece?.joints) return null;
    const row = Math.floor((frame % this.chunk) / piece.every), at = (row * this.json.joints + j) * JOINT_NUMBERS;
    return piece.joints.subarray(at, at + JOINT_NUMBERS);
  }

  /** The k-th number of the scene's sensors at a frame; NaN while it is not here. */
  sensor(frame, k) {
    const piece = this.jointChunks[Math.floor(frame / this.chunk)];
    if (!piece?.sensors) return NaN;
    return piece.sensors[Math.floor((frame % this.chunk) / piece.every) * this.json.sensors.length + k];
  }

  /** Poses of a frame: {position, orientation, from} with `from` the first body's index, or null. */
  poses(frame) {
    const piece = this.poseChunks[Math.floor(frame / this.chunk)];
    if (!piece) return null;
    return { position: piece.position, orientation: piece.orientation, row: (frame % this.chunk) * this.count };
  }

  /** Contacts of a frame: {a, b, point, ..., from, to}, or null while they are not here. */
  contacts(frame) {
    const piece = this.contactChunks[Math.floor(frame / this.chunk)];
    if (!piece) return null;
    const row = Math.floor((frame % this.chunk) / piece.every);
    return { ...piece, from: piece.starts[row], to: piece.starts[row + 1] };
  }

  bodyPosition(frame, body, out) {
    const p = this.poses(frame);
    if (!p) return false;
    const i = (p.row + body) * 3;
    out[0] = p.position[i]; out[1] = p.position[i + 1]; out[2] = p.position[i + 2];
    return true;
  }

  bodyOrientation(frame, body, out) {
    const p = this.poses(frame);
    if (!p) return false;
    const i = (p.row + body) * 4;
    for (let k = 0; k < 4; ++k) out[k] = p.orientation[i + k];
    return true;
  }

  findBody(name) { return this.bodies.findIndex((b) => b.name === name); }
  bodyName(index) { return index < 0 ? "world" : this.bodies[index].name; }

  /** All chunks of contacts, for what adds them up over the run. */
  async needAllContacts() {
    const chunks = Math.ceil(this.frames / this.chunk);
    for (let i = 0; i < chunks; ++i) if (!this.contactChunks[i]) await this.loadContacts?.(i);
  }

  async needAllJoints() {
    const chunks = Math.ceil(this.frames / this.chunk);
    for (let i = 0; i < chunks; ++i) if (!this.jointChunks[i]) await this.loadJoints?.(i);
  }

  // ---- live: one frame a chunk

  append(columns, contacts) {
    const s = columns.series;
    this.time.push(s[0]);
    this.series.energy.push(s[1], s[2], s[3]);
    SERIES.forEach((name, i) => this.series[name].push(s[4 + i]));
    this.poseChunks.push({ position: columns.position, orientation: columns.orientation, velocity: columns.velocity });
    this.contactChunks.push({ ...contacts, starts: new Uint32Array([0, contacts.a.length]), every: 1 });
    this.jointChunks.push(columns.joints || columns.sensors ? { joints: columns.joints, sensors: columns.sensors, every: 1 } : undefined);
    this.addEvents(columns.events);
    this.frames++;
    this.loaded++;
    this.version++;
  }

  /** Drops the oldest frames. */
  forget(count) {
    this.time.splice(0, count);
    this.series.energy.splice(0, 3 * count);
    for (const name of SERIES) this.series[name].splice(0, count);
    this.poseChunks.splice(0, count);
    this.contactChunks.splice(0, count);
    this.jointChunks.splice(0, count);
    this.events = this.events.filter((e) => e.time >= this.time[0]);
    this.frames -= count;
    this.loaded -= count;
    this.version++;
  }
}
