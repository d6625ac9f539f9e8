// Small vectors and quaternions (w x y z, as in recordings) on plain arrays.

export function rotate(q, v, out = [0, 0, 0]) {
  const [w, x, y, z] = q;
  const tx = 2 * (y * v[2] - z * v[1]), ty = 2 * (z * v[0] - x * v[2]), tz = 2 * (x * v[1] - y * v[0]);
  const rx = v[0] + w * tx + (y * tz - z * ty);
  const ry = v[1] + w * ty + (z * tx - x * tz);
  const rz = v[2] + w * tz + (x * ty - y * tx);
  out[0] = rx; out[1] = ry; out[2] = rz;
  return out;
}

export const inverse = (q) => [q[0], -q[1], -q[2], -q[3]];
export const add = (a, b) => [a[0] + b[0], a[1] + b[1], a[2] + b[2]];
export const subtract = (a, b) => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
export const times = (a, s) => [a[0] * s, a[1] * s, a[2] * s];
export const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
export const norm = (a) => Math.hypot(a[0], a[1], a[2]);
export const unit = (a) => { const n = norm(a); return n > 0 ? times(a, 1 / n) : [0, 0, 1]; };
export const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];

export function multiply(p, q) {
  return [
    p[0] * q[0] - p[1] * q[1] - p[2] * q[2] - p[3] * q[3],
    p[0] * q[1] + p[1] * q[0] + p[2] * q[3] - p[3] * q[2],
    p[0] * q[2] - p[1] * q[3] + p[2] * q[0] + p[3] * q[1],
    p[0] * q[3] + p[1] * q[2] - p[2] * q[1] + p[3] * q[0],
  ];
}

/** The column-major matrix of position p, quaternion (w x y z) and scale, into m at offset o. */
export function compose(px, py, pz, w, x, y, z, sx, sy, sz, m, o) {
  const x2 = x + x, y2 = y + y, z2 = z + z;
  const xx = x * x2, xy = x * y2, xz = x * z2, yy = y * y2, yz = y * z2, zz = z * z2;
  const wx = w * x2, wy = w * y2, wz = w * z2;
  m[o] = (1 - (yy + zz)) * sx; m[o + 1] = (xy + wz) * sx; m[o + 2] = (xz - wy) * sx; m[o + 3] = 0;
  m[o + 4] = (xy - wz) * sy; m[o + 5] = (1 - (xx + zz)) * sy; m[o + 6] = (yz + wx) * sy; m[o + 7] = 0;
  m[o + 8] = (xz + wy) * sz; m[o + 9] = (yz - wx) * sz; m[o + 10] = (1 - (xx + yy)) * sz; m[o + 11] = 0;
  m[o + 12] = px; m[o + 13] = py; m[o + 14] = pz; m[o + 15] = 1;
}

/** The quaternion that turns z into the unit vector d. */
export function fromZ(dx, dy, dz, out) {
  if (dz < -0.999999) { out[0] = 0; out[1] = 1; out[2] = 0; out[3] = 0; return out; }
  const w = 1 + dz, n = 1 / Math.hypot(w, dx, dy);
  out[0] = w * n; out[1] = -dy * n; out[2] = dx * n; out[3] = 0;
  return out;
}

export function quantile(values, fraction) {
  if (values.length === 0) return 0;
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(fraction * sorted.length))];
}
