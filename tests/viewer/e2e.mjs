// The viewer in a real Chromium: node e2e.mjs SLIPSTICK [PART OF A NAME]. Run by tests/viewer/run.
import { strict as assert } from "node:assert";
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const { chromium } = createRequire(join(here, "../../viewer/package.json"))("playwright-core");
const program = process.argv[2], wanted = process.argv[3] ?? ""; // a part of a test's name: only that one
const folder = mkdtempSync(join(tmpdir(), "slipstick-e2e-"));
const HOSTILE = "<img src=x onerror=\"window.hacked=1\"></script><script>window.hacked=1</script>";

const SCENE = `slipstick: 1
name: '${HOSTILE.replaceAll("'", "''")}'
let: {fan_speed: 3, n: 1, twice: 2*fan_speed}
bodies:
  - {name: floor, fixed: true, shapes: [{plane: {normal: [0, 0, 1], offset: 0}}]}
  - {name: '${HOSTILE.replaceAll("'", "''")}', mass: 1, position: [0, 0, 0.15], shapes: [{box: {size: [0.3, 0.3, 0.3]}}]}
  - {name: slider, mass: 2, position: [0.8, 0, 0.1], velocity: [1, 0, 0], shapes: [{box: {size: [0.2, 0.2, 0.2]}}]}
  - {name: ball, mass: 1, position: [-0.8, 0, 0.6], shapes: [{sphere: {radius: 0.15}}]}
  - {name: lamp, mass: 3, position: [0, 1, 0.8], shapes: [{sphere: {radius: 0.1}}]}
  - {name: fan, mass: 1, position: [0, -1, 0.8], shapes: [{box: {size: [0.4, 0.05, 0.05]}}]}
  - {name: wheel, mass: 1, position: [0.5, -1, 0.8], shapes: [{cylinder: {radius: 0.1, length: 0.05}}]}
  - {name: sledge, mass: 2, position: [1, -1, 0.8], shapes: [{box: {size: [0.1, 0.1, 0.1]}}]}
joints:
  - ball: {name: '<b>hook</b>', between: [world, lamp], at: [0, 1, 0.8]}
  - hinge: {name: spindle, between: [world, fan], at: [0, -1, 0.8], axis: [0, 0, 1], motor: {speed: fan_speed, max: 50}}
  - hinge: {name: second, between: [world, wheel], at: [0.5, -1, 0.8], axis: [0, 0, 1]}
  - gear: {name: pair, joints: [spindle, second], ratio: -2}
  - slider: {name: rail, between: [world, sledge], axis: [1, 0, 0], motor: {position: 0.2, max: 200}}
sensors:
  - joint: {name: turned, joint: spindle}
  - body: {name: tip, body: ball}
simulation: {duration: 1, step: 1/100}
`;

const SHORT = `slipstick: 1
gravity: [0, 0, 0]
bodies:
  - {name: west, mass: 1e-9, position: [-1e-3, 0, 0], velocity: [0.1, 0, 0], shapes: [{sphere: {radius: 2e-4}}]}
  - {name: east, mass: 1e-9, position: [1e-3, 0, 0], velocity: [-0.1, 0, 0], shapes: [{sphere: {radius: 2e-4}}]}
simulation: {duration: 4e-3, step: 1e-5}
`;

const CART = `slipstick: 1
materials: {default: {friction: 0}}
bodies:
  - {name: floor, fixed: true, shapes: [{plane: {normal: [0, 0, 1], offset: 0}}]}
  - {name: cart, mass: 1, position: [0, 0, 0.1], velocity: [1, 0, 0], shapes: [{box: {size: [0.4, 0.2, 0.2]}}]}
  - {name: flag, mass: 0.1, position: [0, 0, 0.3], velocity: [1, 0, 0], shapes: [{box: {size: [0.05, 0.05, 0.2]}}]}
joints:
  - fixed: {between: [cart, flag], at: [0, 0, 0.2]}
simulation: {duration: 10, step: 1/100}
`;

function run(...words) {
  const done = spawnSync(program, words, { cwd: folder, encoding: "utf8" });
  assert.equal(done.status, 0, done.stderr);
}

const servers = new Set();
process.on("exit", () => { for (const server of servers) server.kill("SIGKILL"); }); // those of tests that failed

/** Starts `slipstick view` and gives its address. */
async function serve(...words) {
  const process_ = spawn(program, ["view", ...words, "--no-open"], { cwd: folder, stdio: ["ignore", "pipe", "inherit"] });
  servers.add(process_);
  process_.once("exit", () => servers.delete(process_));
  const url = await new Promise((done) => process_.stdout.once("data", (text) => done(String(text).trim())));
  return { url, stop: () => new Promise((done) => { process_.once("exit", done); process_.kill("SIGTERM"); }) };
}

let browser;
const PATIENCE = +(process.env.SLIPSTICK_PATIENCE_MS ?? 300000);  // ms: how long a test waits for what must come; none asserts how soon it comes
const problems = [];

async function open(url, viewport = { width: 1280, height: 720 }) {
  const page = await browser.newPage({ viewport });
  page.setDefaultTimeout(PATIENCE);
  page.on("console", (m) => { if (["error", "warning"].includes(m.type()) && !/GPU stall|swiftshader|WebGL/i.test(m.text())) problems.push(m.text()); });
  page.on("pageerror", (e) => problems.push(String(e)));
  await page.goto(url);
  await page.waitForSelector('#app[data-ready="1"]', { timeout: PATIENCE });
  return page;
}

/** Asks until it is so. (Playwright's own waiting needs eval inside the page, which the page's policy forbids.) */
async function until(page, what, text) {
  const deadline = Date.now() + PATIENCE;
  while (!(await page.evaluate(what))) {
    assert.ok(Date.now() < deadline, `${text ?? what}; problems: ${problems}`);
    await new Promise((done) => setTimeout(done, 50));
  }
}
/** Waits for two frames of the browser: what was asked for has been drawn, and the camera has been told. */
const drawn = (page) => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
const seen = (page, what) => page.evaluate(what);
/** Where a body is on the screen. */
const bodyAt = (page, name) => page.evaluate((n) => {
  const app = window.slipstick;
  return app.stage.project(app.stage.sides[0].bodies.bodyPose(app.clip.findBody(n)).position);
}, name);

const tests = {
  async "a recording loads, plays, seeks, and shows its certificate"(page) {
    await until(page, "slipstick.clip.loaded === slipstick.clip.frames", "all frames come");
    assert.equal(await seen(page, "slipstick.clip.frames"), 101);
    await page.keyboard.press("Home");
    assert.equal(await seen(page, "slipstick.time"), 0);
    await page.keyboard.press("Space");
    await until(page, "slipstick.time > 0.05", "it plays");
    // On a slow machine it may have come to its end: then the first press begins again, from the start, and the second pauses.
    for (let presses = 0; presses < 50; presses++) {
      const { playing } = await seen(page, "({ playing: slipstick.playing })");
      await page.keyboard.press("Space");
      if (playing && (await seen(page, "!slipstick.playing"))) break;
      assert.ok(presses < 49, "the space bar pauses");
    }
    const box = await page.locator(".scrub").boundingBox();
    await page.mouse.click(box.x + box.width / 2, box.y + box.height / 2);
    const middle = await seen(page, "slipstick.time");
    assert.ok(Math.abs(middle - 0.5) < 0.02, `a click in the middle of the timeline goes there: ${middle}`);
    await page.keyboard.press("End");
    await page.keyboard.press("ArrowLeft");
    await until(page, "Math.abs(slipstick.time - 0.99) < 1e-9", "one frame back");
    await until(page, "/certified.*residual.*penetration/.test(document.querySelector('.certificate').textContent)", "the certificate");
    const picture = await page.locator(".view").screenshot();
    assert.ok(picture.length > 8000, "a picture of one colour would be smaller");
  },

  async "contacts: forces carry the weight, one slips, cones are there"(page) {
    for (const key of ["c", "v", "k"]) await page.keyboard.press(key);
    await page.evaluate("slipstick.seek(0.1)");
    await until(page, "slipstick.frame === 10 && slipstick.stage.sides[0].contacts.total.count >= 8", "contacts are drawn");
    const t = await seen(page, "slipstick.stage.sides[0].contacts.total");
    assert.ok(Math.abs(t.force - 3 * 9.81) < 0.5, `normal forces of two blocks: ${t.force} N`);
    assert.equal(t.slipping, 4, "the slider's four corners");
    assert.equal(await seen(page, "slipstick.stage.sides[0].contacts.cones.mesh.count"), 8);
    assert.match(await page.locator(".legend").innerText(), /sticks[\s\S]*slips[\s\S]* N[\s\S]*all used/);
  },

  async "a body is chosen with the mouse; its name is text"(page) {
    await page.evaluate("slipstick.seek(0)");
    await drawn(page);
    const [x, y] = await bodyAt(page, HOSTILE);
    await page.mouse.click(x, y);
    await page.click('[data-tab="body"]');
    await until(page, "document.querySelector('.body-name')", "the body's data");
    assert.equal(await page.locator(".body-name").innerText(), HOSTILE);
    assert.match(await page.locator(".facts").innerText(), /mass\s+1 kg/);
    assert.equal(await page.locator("h1").innerText(), HOSTILE);
    assert.equal(await seen(page, "window.hacked"), undefined);
    await page.keyboard.press("Escape");
    assert.equal(await seen(page, "slipstick.state.selected"), -1);
  },

  async "the joints of the chosen body are listed"(page) {
    await page.evaluate("slipstick.seek(50)");
    await page.evaluate("slipstick.select(slipstick.clip.findBody('lamp'))");
    await page.click('[data-tab="body"]');
    await until(page, "document.querySelector('table.joints td')", "the joints");
    const cells = await page.locator("table.joints td").allInnerTexts();
    assert.equal(cells[0], "<b>hook</b>");
    assert.ok(Math.abs(parseFloat(cells[4]) - 3 * 9.81) < 0.1, `it carries the weight: ${cells}`);
    await page.keyboard.press("Escape");
  },

  async "joints: drawn as what they are, listed with their forces, plotted when chosen"(page) {
    await page.click('[data-tab="joints"]');
    await page.evaluate("slipstick.seek(1)");
    await until(page, "document.querySelectorAll('.joint-row').length === 5 && document.querySelector('[data-joint=spindle] td:nth-child(3)').textContent !== ''", "five joints");
    const cells = (name) => page.locator(`[data-joint="${name}"] td`).allInnerTexts();
    const number = (text) => parseFloat(text.replace("−", "-"));
    const spindle = await cells("spindle"), second = await cells("second"), rail = await cells("rail");
    assert.ok(Math.abs(number(spindle[2]) - 3) < 0.01, `the motor keeps its speed: ${spindle}`);
    assert.ok(Math.abs(number(second[2]) + 1.5) < 0.01, `and the gear its ratio: ${second}`);
    assert.ok(Math.abs(number(spindle[4]) - 9.81) < 0.01, `the hinge carries the fan: ${spindle}`);
    assert.ok(number(rail[1]) > 0.15 && number(rail[1]) <= 0.201, `the slider is driven to its place: ${rail}`);
    const shapes = await seen(page, "slipstick.stage.sides[0].joints.items.map((i) => `${i.link.name} ${i.shape}`)");
    for (const wanted of ["<b>hook</b> ball", "spindle pin", "spindle turn", "second pin", "rail rail", "rail carriage", "rail push"]) assert.ok(shapes.includes(wanted), `${wanted} in ${shapes}`);
    const wheels = await seen(page, "slipstick.stage.sides[0].joints.items.filter((i) => i.shape.startsWith('gear')).map((i) => i.scale[0])");
    assert.ok(wheels.length === 2 && Math.abs(wheels[0] + wheels[1] - 0.5) < 1e-6 && Math.abs(wheels[1] / wheels[0] - 2) < 1e-6, `gears that fit: ${wheels}`);
    await page.click('[data-joint="spindle"]');
    await until(page, "slipstick.joints.cards.find((c) => c.key === 'joint_position').full?.[1]?.length === 101", "its plots");
    const at = await seen(page, "slipstick.joints.cards.find((c) => c.key === 'joint_position').full[1][100]");
    assert.ok(Math.abs(at - 3) < 0.05, `three radians in a second: ${at}`);
    await until(page, "/2\\.9\\d* rad|3\\.0\\d* rad|3 rad/.test(document.querySelector('[data-plot=joint_position] .u-legend').textContent)", "the legend has the value at this time");
    await page.keyboard.press("Escape");
    assert.equal(await seen(page, "slipstick.state.joint"), -1);
    const sensors = await page.locator("[data-sensor]").allInnerTexts();
    assert.equal(sensors.length, 4, `one number of the joint, three of the body: ${sensors}`);
    assert.ok(Math.abs(number(sensors[0].split(" ").at(-1)) - at) < 0.01, `the sensor reads the joint: ${sensors[0]}`);
    await page.click('[data-sensor="turned"]');
    await until(page, `Math.abs(slipstick.joints.sensorCard.full?.[1]?.[100] - ${at}) < 1e-6`, "its plot");
    await page.click('[data-sensor="turned"]');
  },

  async "F zooms on the chosen body; Esc closes the help"(page) {
    await page.evaluate("slipstick.stage.home(); slipstick.select(slipstick.clip.findBody('lamp'))");
    const far = await seen(page, "slipstick.stage.camera.position.distanceTo(slipstick.stage.controls.target)");
    await page.keyboard.press("f");
    await drawn(page);
    const near = await seen(page, "slipstick.stage.camera.position.distanceTo(slipstick.stage.controls.target)");
    assert.ok(near < 0.7 * far, `nearer: ${far} to ${near}`);
    assert.ok(await seen(page, "slipstick.stage.controls.target.toArray().every((x, i) => Math.abs(x - [0, 1, 0.8][i]) < 1e-6)"), "the lamp is in the middle");
    await page.keyboard.press("?");
    assert.equal(await seen(page, "slipstick.help.open"), true);
    await page.keyboard.press("Escape");
    assert.equal(await seen(page, "slipstick.help.open"), false);
    assert.ok(await seen(page, "slipstick.state.selected") >= 0, "the body stays chosen");
    await page.keyboard.press("Escape");
    await page.keyboard.press("h");
  },

  async "plots follow the timeline and are saved"(page) {
    await page.click('[data-tab="plots"]');
    await until(page, "document.querySelectorAll('.plot canvas').length === 3", "three plots");
    await page.evaluate("slipstick.select(slipstick.clip.findBody('ball'))");
    await page.click('[data-chip="speed"]');
    await until(page, "slipstick.plots.cards.at(-1).full?.[1]?.length === 101", "the ball's speed");
    const speed = await seen(page, "slipstick.plots.cards.at(-1).full[1][20]");
    assert.ok(Math.abs(speed - 9.81 * 0.2) < 1e-6, `free fall: ${speed}`);
    const over = await page.locator('[data-plot="energy"] .u-over').boundingBox();
    await page.mouse.click(over.x + 0.25 * over.width, over.y + 20);
    assert.ok(Math.abs(await seen(page, "slipstick.time") - 0.25) < 0.02, "a click in a plot goes there");
    const [csv] = await Promise.all([page.waitForEvent("download"), page.click('[data-plot="energy"] .link >> nth=0')]);
    const rows = readFileSync(await csv.path(), "utf8").trim().split("\n");
    assert.equal(rows.length, 102);
    assert.match(rows[0], /time \[s\].*kinetic \[J\]/);
    const [png] = await Promise.all([page.waitForEvent("download"), page.click('[data-plot="energy"] .link >> nth=1')]);
    assert.equal(readFileSync(await png.path()).subarray(1, 4).toString(), "PNG");
  },
};

async function testExport() {
  const page = await open(`file://${join(folder, "page.html")}`, { width: 390, height: 780 });
  assert.equal(await seen(page, "slipstick.clip.frames"), 51, "thinned to what an eye can follow");
  assert.equal(await seen(page, "slipstick.end"), 1, "it ends where the run ends");
  assert.ok(Math.abs(await seen(page, "slipstick.clip.joint(50, 1)[1]") - 3) < 0.01, "what joints do is in it");
  await page.evaluate("slipstick.seek(1)");
  await until(page, "slipstick.stage.sides[0].bodies.position.length === 24");
  const z = await seen(page, "slipstick.stage.sides[0].bodies.bodyPose(1).position[2]");
  assert.ok(Math.abs(z - 0.15) < 1e-3, `the block stands: ${z}`);
  assert.equal(await page.locator("h1").innerText(), HOSTILE);
  assert.equal(await seen(page, "window.hacked"), undefined);
  assert.equal(await seen(page, "document.documentElement.scrollWidth <= innerWidth"), true, "fits a phone");
  await page.evaluate("slipstick.seek(0.7); slipstick.setSpeed(4); slipstick.toggle()");
  await until(page, "slipstick.time === 1 && !slipstick.playing && slipstick.frame === 50", "it plays to the end and stays there");
  await page.close();
}

/** A scene of 4 ms and 2 mm: it is shown for seconds, in ms, and fills the picture. */
async function testShort() {
  writeFileSync(join(folder, "short.yaml"), SHORT);
  run("run", "short.yaml", "-o", "short.h5", "-q");
  const server = await serve("short.h5");
  const page = await open(server.url);
  assert.equal(await seen(page, "slipstick.speed"), 1e-3);
  await until(page, "/ms/.test(document.querySelector('.total').textContent) && slipstick.time > 0", "the clock counts ms");
  assert.match(await page.locator(".clock").innerText(), /^\d\.\d{3} \/ 4\.000 ms$/);
  await page.keyboard.press("Home");
  await drawn(page);
  const [left, right] = [await bodyAt(page, "west"), await bodyAt(page, "east")];
  assert.ok(right[0] - left[0] > 150, `2 mm fill a good part of the picture: ${left} ${right}`);
  await page.keyboard.press("]");
  assert.equal(await seen(page, "slipstick.speed"), 2e-3, "twice as fast");
  await page.close();
  await server.stop();
}

/** The camera of a running scene follows it beyond its first picture, until somebody moves it; H shows all again. */
async function testLiveCamera() {
  writeFileSync(join(folder, "cart.yaml"), CART);
  const server = await serve("cart.yaml", "--live", "--duration", "1e4");
  const page = await open(server.url);
  const inView = async () => {
    const [x, y] = await bodyAt(page, "cart");
    const box = await page.locator(".view").boundingBox();
    return x > box.x && x < box.x + box.width && y > box.y && y < box.y + box.height;
  };
  /** The camera follows a little later than the frames, and after the last one it has to be there. */
  const comesIntoView = async (text) => {
    const deadline = Date.now() + 30000;
    while (!(await inView())) {
      assert.ok(Date.now() < deadline, text);
      await new Promise((done) => setTimeout(done, 50));
    }
  };
  for (const [speed, end] of [[1, 1], [4, 3], [4, 20]]) { // out of the first picture; farther; far away
    await page.evaluate(`slipstick.live.send({ do: "speed", speed: ${speed} }); slipstick.goLive()`);
    await until(page, `slipstick.clip.end > ${end}`, "it drives");
    await page.keyboard.press("Space");
    await until(page, "slipstick.livePaused", "it pauses");
    await comesIntoView(`the cart is in the picture at ${await seen(page, "slipstick.clip.end")} s`);
  }
  const box = await page.locator(".view").boundingBox();
  await page.mouse.move(box.x + 40, box.y + box.height - 40);
  await page.mouse.down();
  await page.mouse.move(box.x + 100, box.y + box.height - 60, { steps: 3 });
  await page.mouse.up();
  const held = await seen(page, "slipstick.stage.frame.radius"), before = await seen(page, "slipstick.clip.end");
  await page.keyboard.press("Space");
  await until(page, `slipstick.clip.end > ${before} + 4`, "it drives on");
  assert.equal(await seen(page, "slipstick.stage.frame.radius"), held, "who has moved the camera keeps it");
  await page.keyboard.press("h");
  await page.keyboard.press("Space");
  await until(page, "slipstick.livePaused", "it pauses");
  await comesIntoView("H shows all of it");
  await page.close();
  await server.stop();
}

async function testComparison() {
  const server = await serve("run.h5", "other.h5");
  const page = await open(server.url);
  await until(page, "slipstick.plots.cards[0].key === 'distance' && slipstick.plots.cards[0].full?.[1].at(-1) > 1e-6", "a distance is plotted");
  await page.evaluate("slipstick.setCompare('side')");
  await drawn(page);
  await page.close();
  await server.stop();
}

async function testLive() {
  const server = await serve("scene.yaml", "--live", "--duration", "1e5");
  const page = await open(server.url);
  await until(page, "slipstick.clip.end > 0.3", "it runs");
  await page.keyboard.press("Space");
  await until(page, "slipstick.livePaused", "it pauses");
  const paused = await seen(page, "slipstick.clip.end");
  await page.keyboard.press("ArrowRight");
  await until(page, `slipstick.clip.end > ${paused}`, "a single step");
  await page.keyboard.press("r");
  await until(page, "slipstick.clip.end === 0", "it starts again");
  await drawn(page);
  const [x, y] = await bodyAt(page, HOSTILE);
  await page.mouse.move(x, y);
  await page.mouse.down();
  await page.mouse.move(x, y - 120, { steps: 4 });
  await page.keyboard.press("Space");
  await until(page, "slipstick.stage.sides[0].bodies.bodyPose(1).position[2] > 0.25", "the hand lifts the block");
  await page.mouse.up();
  await until(page, "slipstick.stage.sides[0].bodies.bodyPose(1).position[2] < 0.2", "it falls again");
  await page.selectOption('.live-bar select[aria-label="solver"]', "lemke");
  await until(page, "slipstick.liveBar.solver.querySelector('select').value === 'lemke'", "another solver");
  await testStrangers(server.url);
  await page.close();
  await server.stop();
}

/** Sliders of motors and variables; the run waits for the window, keeps to its duration and is recorded. */
async function testDrive() {
  const server = await serve("scene.yaml", "--live", "--duration", "60", "--record", "live.h5");
  await new Promise((done) => setTimeout(done, 300));
  const page = await open(server.url);
  assert.ok(await seen(page, "slipstick.clip.time[0]") < 0.2, "it has waited for the window");
  assert.match(await page.locator(".recording").innerText(), /live\.h5/);
  await page.click('[data-tab="drive"]');
  const slide = (what, value) => page.evaluate(([selector, v]) => {
    const input = document.querySelector(selector);
    input.value = v;
    input.dispatchEvent(new Event("input"));
    input.dispatchEvent(new Event("change"));
  }, [what, value]);
  const speed = "slipstick.clip.joint(slipstick.clip.frames - 1, 1)[1]";
  await until(page, `Math.abs(${speed} - 3) < 0.01`, "the fan turns as the scene says");
  await slide('[data-motor="spindle"]', -4);
  await until(page, `Math.abs(${speed} + 4) < 0.05`, "and then as its slider says");
  assert.match(await page.locator('label:has([data-motor="spindle"]) output').innerText(), /−4.* rad\/s/);
  await page.click('[data-release="spindle"]');
  await until(page, `Math.abs(${speed} - 3) < 0.01`, "and then as the scene says again");
  assert.equal(await page.locator("[data-variable]").count(), 2, "'twice' follows from another and has no slider");
  await slide('[data-variable="fan_speed"]', 5);
  await until(page, `slipstick.clip.frames > 0 && Math.abs(${speed} - 5) < 0.01`, "it begins again with another variable");
  assert.equal(await page.locator('[aria-label="fan_speed, exactly"]').inputValue(), "5");
  await page.evaluate("slipstick.live.send({ do: 'speed', speed: 100 })"); // what is left of a minute
  await until(page, "slipstick.livePaused && Math.abs(slipstick.clip.end - 60) < 1e-6", "it keeps to its duration");
  await until(page, "/duration of 60 s is over/.test(document.querySelector('.note').textContent)", "and says so");
  await page.keyboard.press("Space");
  await until(page, "slipstick.clip.end > 60.05", "and goes on when asked to");
  await page.click('[data-tab="joints"]');
  await until(page, "document.querySelector('[data-joint=spindle] td:nth-child(3)').textContent.startsWith('5')", "joints are listed live");
  await until(page, "parseFloat(document.querySelector('[data-sensor=turned] b').textContent) > 0", "and sensors");
  await page.close();
  await server.stop();
  for (const [file, frames] of [["live.h5", 2], ["live_2.h5", 6001], ["live_3.h5", 3]]) run("table", file, "--what", "energy", "-o", `${frames}.csv`);
  assert.equal(readFileSync(join(folder, "6001.csv"), "utf8").trim().split("\n").length, 6002, "the whole run is in its file");
}

/** A page from elsewhere that even knows the address gets nothing; nor does a wrong token. */
async function testStrangers(url) {
  const other = createServer((request, response) => response.end("<!doctype html><title>elsewhere</title>"));
  await new Promise((done) => other.listen(0, "127.0.0.1", done));
  const page = await browser.newPage();
  await page.goto(`http://127.0.0.1:${other.address().port}/`);
  const tried = await page.evaluate(async (target) => {
    const socket = new WebSocket(target.replace("http:", "ws:") + "live");
    const opened = await new Promise((done) => { socket.onopen = () => done(true); socket.onerror = () => done(false); });
    const read = await fetch(target + "info").then((r) => r.ok, () => false);
    return { opened, read };
  }, url);
  assert.deepEqual(tried, { opened: false, read: false });
  const wrong = await page.goto(url.replace(/[0-9a-f]{32}/, "0".repeat(32)));
  assert.equal(wrong.status(), 403);
  await page.close();
  other.close();
}

async function main() {
  writeFileSync(join(folder, "scene.yaml"), SCENE);
  run("run", "scene.yaml", "-o", "run.h5", "-q");
  run("run", "scene.yaml", "--step", "1/40", "-o", "other.h5", "-q");
  run("view", "run.h5", "--export", "page.html");
  browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox", "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader", "--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-first-run"] });
  let failed = 0, passed = 0;
  const check = async (name, body) => {
    if (!name.includes(wanted)) return;
    const start = Date.now();
    try {
      await body();
      assert.deepEqual(problems.splice(0), [], "no errors on the console");
      console.log(`ok      ${name} (${Date.now() - start} ms)`);
      passed++;
    } catch (error) {
      console.log(`FAILED  ${name}: ${error.stack ?? error}`);
      failed++;
    }
  };
  const server = await serve("run.h5");
  const page = await open(server.url);
  for (const [name, body] of Object.entries(tests)) await check(name, () => body(page));
  await page.close();
  await server.stop();
  await check("an exported page opens from disk, on a phone", testExport);
  await check("a recording of milliseconds and millimetres", testShort);
  await check("two recordings are compared", testComparison);
  await check("live: the camera keeps the scene in the picture", testLiveCamera);
  await check("live: play, pause, step, reset, drag, change solver; strangers are refused", testLive);
  await check("live: sliders of motors and variables, duration, recording", testDrive);
  await browser.close();
  rmSync(folder, { recursive: true });
  console.log(`${passed} passed, ${failed} failed`);
  process.exit(failed ? 1 : 0);
}

assert.ok(existsSync(program), "usage: node e2e.mjs SLIPSTICK");
await main();
