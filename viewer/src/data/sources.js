// Where clips come from: blocks inside the page, the server, or a running simulation.
import { Clip } from "./clip.js";
import { readPacket } from "./packet.js";

const BLOCK = 256; // frames in a packet of an exported page (src/view/export.cpp)
const MAX_LIVE_POSES = 6e6;

export function decodeBase64(text) {
  const binary = atob(text.trim());
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < bytes.length; ++i) bytes[i] = binary.charCodeAt(i);
  return bytes.buffer;
}

/** Clips from the page's own data blocks, or null if there are none. */
export async function readEmbedded() {
  const blocks = [...document.querySelectorAll('script[type="application/x-slipstick"]')];
  if (blocks.length === 0) return null;
  const clips = [];
  for (const block of blocks) {
    const { json, columns } = await readPacket(decodeBase64(block.textContent));
    block.remove();
    if (json.part === "clip") clips.push(new Clip(json, columns, BLOCK));
    else if (columns.position) clips.at(-1).setPoses(json.first, columns, json.count);
    else if (columns.joints || columns.sensors) clips.at(-1).setJoints(json.first, columns, json.every);
    else clips.at(-1).setContacts(json.first, columns, json.every);
  }
  return clips;
}

async function fetchPacket(address) {
  const response = await fetch(address, { cache: "no-store" });
  if (!response.ok) throw new Error(`the server said ${response.status}: is 'slipstick view' still running?`);
  return readPacket(await response.arrayBuffer());
}

function chooseChunk(bodies) {
  return Math.max(1, Math.min(256, Math.floor(200000 / Math.max(1, bodies))));
}

/** A clip of the server. Its frames are fetched piece by piece; what is looked at comes first. */
async function openClip(index) {
  const { json, columns } = await fetchPacket(`clip/${index}`);
  const clip = new Clip(json, columns, chooseChunk(json.bodies.length));
  const waiting = new Map();
  const load = (kind, chunk, take) => {
    const key = kind + chunk;
    if (!waiting.has(key)) {
      const first = chunk * clip.chunk, count = Math.min(clip.chunk, clip.frames - first);
      waiting.set(key, fetchPacket(`${kind}/${index}?first=${first}&count=${count}`)
        .then(({ json: j, columns: c }) => take(first, c, count, j)));
    }
    return waiting.get(key);
  };
  clip.loadPose = (chunk) => load("frames", chunk, (first, c, count) => clip.setPoses(first, c, count));
  clip.loadContacts = (chunk) => load("contacts", chunk, (first, c, count, j) => clip.setContacts(first, c, j.every));
  if (json.joints > 0 || json.sensors?.length) clip.loadJoints = (chunk) => load("joints", chunk, (first, c, count, j) => clip.setJoints(first, c, j.every));
  clip.loadBody = async (body) => (await fetchPacket(`body/${index}?body=${body}`)).columns;
  await clip.loadPose(0);
  return clip;
}

/** Fetches everything in the background, nearest to what is looked at first. */
export async function loadRest(clip, currentFrame, wantsContacts) {
  const chunks = Math.ceil(clip.frames / clip.chunk);
  const next = (pieces) => {
    const from = Math.floor(currentFrame() / clip.chunk);
    for (let i = 0; i < chunks; ++i) if (!pieces[(from + i) % chunks]) return (from + i) % chunks;
    return -1;
  };
  for (;;) {
    const contacts = wantsContacts() ? next(clip.contactChunks) : -1;
    const poses = next(clip.poseChunks);
    const here = Math.floor(currentFrame() / clip.chunk);
    if (contacts >= 0 && (contacts === here || poses < 0)) await clip.loadContacts(contacts);
    else if (poses >= 0) await clip.loadPose(poses);
    else if (wantsContacts()) return;
    else await new Promise((done) => setTimeout(done, 250));
  }
}

export async function readServer() {
  const { json } = await fetchPacket("info");
  if (json.live) return { live: true, clips: [] };
  const clips = [];
  for (let i = 0; i < json.clips; ++i) clips.push(await openClip(i));
  return { live: false, clips };
}

/** The running simulation. `on.clip`, `on.frame`, `on.reset`, `on.note`, `on.closed` are called as things come. */
export class LiveSource {
  constructor(on) {
    this.on = on;
    this.clip = null;
    this.chain = Promise.resolve();
    const address = new URL("live", location.href);
    address.protocol = "ws:";
    this.socket = new WebSocket(address);
    this.socket.binaryType = "arraybuffer";
    this.socket.onmessage = ({ data }) => {
      if (typeof data === "string") return on.note(JSON.parse(data).note);
      this.chain = this.chain.then(() => this.take(data)).catch((error) => on.note(String(error.message ?? error)));
    };
    this.socket.onclose = () => on.closed();
  }

  send(command) {
    if (this.socket.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(command));
  }

  async take(data) {
    const { json, columns } = await readPacket(data);
    if (json.part === "clip") {
      this.clip = new Clip(json, {}, 1);
      this.on.clip(this.clip, json);
    } else if (json.part === "frame") {
      const clip = this.clip;
      if (clip.frames > 0 && columns.series[0] <= clip.time[clip.frames - 1]) {
        if (columns.series[0] === clip.time[clip.frames - 1]) return this.on.frame(json, columns);
        clip.forget(clip.frames);
      }
      const limit = Math.max(200, Math.min(20000, Math.floor(MAX_LIVE_POSES / Math.max(1, clip.count))));
      if (clip.frames >= limit) clip.forget(Math.floor(limit / 4));
      clip.append(columns, columns);
      this.on.frame(json, columns);
    } else if (json.part === "reset") {
      this.clip?.forget(this.clip.frames);
      this.on.reset();
    } else if (json.part === "note") {
      this.on.note(json.text);
    }
  }
}
