"""Rows of the reference: every joint as rates of geometry, in maximal coordinates with angular velocities in WORLD axes.

A row is a rate that is linear in the velocities (v, w of all bodies); it comes with its value where it has one, and with what its
derivative has beside the accelerations. Five kinds make all joints: two directions (dot), a point along a direction of the other body
(point), a length (length), a turn about a direction (spin), matter at a point along a direction of its own body (skid).
Nothing here is taken from the engine: formulas are derived afresh, in other axes.
"""
import numpy as np


def cross(a, b):
    return a[..., [1, 2, 0]] * b[..., [2, 0, 1]] - a[..., [2, 0, 1]] * b[..., [1, 2, 0]]


def dot(a, b):
    return np.einsum("ij,ij->i", a, b)


def unit(a):
    a = np.asarray(a, float)
    return a / np.linalg.norm(a)


def sides(axis):
    """Two directions at right angles to the axis and to each other."""
    axis = unit(axis)
    first = unit(np.cross(axis, np.eye(3)[np.argmin(np.abs(axis))]))
    return first, np.cross(axis, first)


class Rows:
    """All rows of a mechanism, evaluated side by side. Bodies count from 1; 0 is the world."""

    KINDS = ("dot", "point", "length", "spin", "skid", "disk")

    def __init__(self, position, rotation):
        self.x0, self.R0 = position, rotation  # of all bodies at t = 0, the world first
        self.given = {kind: [] for kind in self.KINDS}

    def direction(self, body, d):
        return self.R0[body].T @ unit(d)

    def place(self, body, p):
        return self.R0[body].T @ (np.asarray(p, float) - self.x0[body])

    def add(self, kind, *what):
        self.given[kind].append(what)
        return kind, len(self.given[kind]) - 1

    def dot(self, a, da, b, db):
        return self.add("dot", a, self.direction(a, da), b, self.direction(b, db))

    def point(self, a, e, pa, b, pb):
        return self.add("point", a, self.direction(a, e), self.place(a, pa), b, self.place(b, pb))

    def length(self, a, pa, b, pb):
        return self.add("length", a, self.place(a, pa), b, self.place(b, pb))

    def spin(self, a, b, of, axis):
        return self.add("spin", a, b, of, self.direction(of, axis))

    def skid(self, b, e, pb):
        return self.add("skid", b, self.direction(b, e), self.place(b, pb))

    def disk(self, b, normal, along, axle, radius):
        """Matter at the lowest point of a disk (a sphere: no axle) over a plane of the world, along a direction of the world."""
        axle = None if axle is None else self.direction(b, axle)
        return self.add("disk", b, unit(normal), unit(along), axle, radius)

    def freeze(self):
        self.first, at = {}, 0
        for kind in self.KINDS:
            self.first[kind] = at
            at += len(self.given[kind])
        self.count = at
        columns = {kind: [np.array(c) for c in zip(*self.given[kind])] for kind in self.KINDS if kind != "disk"}
        self.columns = columns

    def index(self, key):
        return self.first[key[0]] + key[1]

    def evaluate(self, x, R, v, w):
        """J (rows x bodies x 2 x 3), what the derivative of J u has beside J u', and the values."""
        J = np.zeros((self.count, len(x), 2, 3))
        bias, value = np.zeros(self.count), np.zeros(self.count)
        for kind in self.KINDS:
            if self.given[kind]:
                rows = slice(self.first[kind], self.first[kind] + len(self.given[kind]))
                getattr(self, "_" + kind)(J[rows], bias[rows], value[rows], x, R, v, w)
        return J, bias, value

    @staticmethod
    def _turned(R, body, local):
        return np.einsum("nij,nj->ni", R[body], local)

    def _dot(self, J, bias, value, x, R, v, w):
        A, a, B, b = self.columns["dot"]
        a, b, k = self._turned(R, A, a), self._turned(R, B, b), np.arange(len(A))
        J[k, A, 1], J[k, B, 1] = cross(a, b), cross(b, a)
        da, db = cross(w[A], a), cross(w[B], b)
        bias[:] = 2 * dot(da, db) + dot(cross(w[A], da), b) + dot(cross(w[B], db), a)
        value[:] = dot(a, b)

    def _ends(self, A, a, B, b, x, R, v, w):
        ra, rb = self._turned(R, A, a), self._turned(R, B, b)
        va, vb = cross(w[A], ra), cross(w[B], rb)
        return ra, rb, x[B] + rb - x[A] - ra, v[B] + vb - v[A] - va, cross(w[B], vb) - cross(w[A], va)

    def _point(self, J, bias, value, x, R, v, w):
        A, e, a, B, b = self.columns["point"]
        e, k = self._turned(R, A, e), np.arange(len(A))
        ra, rb, d, rate, turn = self._ends(A, a, B, b, x, R, v, w)
        J[k, A, 0], J[k, B, 0] = -e, e
        J[k, A, 1], J[k, B, 1] = cross(e, d + ra), cross(rb, e)
        de = cross(w[A], e)
        bias[:] = dot(cross(w[A], de), d) + 2 * dot(de, rate) + dot(e, turn)
        value[:] = dot(e, d)

    def _length(self, J, bias, value, x, R, v, w):
        A, a, B, b = self.columns["length"]
        ra, rb, d, rate, turn = self._ends(A, a, B, b, x, R, v, w)
        k, size = np.arange(len(A)), np.sqrt(dot(d, d))
        e = d / size[:, None]
        J[k, A, 0], J[k, B, 0], J[k, A, 1], J[k, B, 1] = -e, e, cross(e, ra), cross(rb, e)
        bias[:] = dot(e, turn) + (dot(rate, rate) - dot(e, rate)**2) / size
        value[:] = size

    def _spin(self, J, bias, value, x, R, v, w):
        A, B, C, c = self.columns["spin"]
        c, k = self._turned(R, C, c), np.arange(len(A))
        J[k, A, 1], J[k, B, 1] = -c, c
        bias[:] = dot(w[B] - w[A], cross(w[C], c))

    def _skid(self, J, bias, value, x, R, v, w):
        B, e, b = self.columns["skid"]
        e, r, k = self._turned(R, B, e), self._turned(R, B, b), np.arange(len(B))
        J[k, B, 0], J[k, B, 1] = e, cross(r, e)
        turn = cross(w[B], r)
        bias[:] = dot(cross(w[B], e), v[B] + turn) + dot(e, cross(w[B], turn))

    def _disk(self, J, bias, value, x, R, v, w):
        for k, (b, n, along, axle, radius) in enumerate(self.given["disk"]):
            c, dc = -radius * n, np.zeros(3)
            if axle is not None:
                u = R[b] @ axle
                m, du = n - (n @ u) * u, np.cross(w[b], u)
                dm = -(n @ du) * u - (n @ u) * du
                size = np.linalg.norm(m)
                c, dc = -radius * m / size, -radius * (dm / size - m * (m @ dm) / size**3)
            J[k, b, 0], J[k, b, 1] = along, np.cross(c, along)
            bias[k] = along @ np.cross(w[b], dc)


class JointRows:
    """What a joint of a scene holds, and its coordinates: sums of rows, [(factor, row), ...]."""

    def __init__(self):
        self.held, self.axes, self.start = [], {}, {}

    def hold(self, *rows):
        self.held += [[(1.0, row)] for row in rows]

    def axis(self, name, row, start=0.0):
        self.axes[name] = [(1.0, row)]
        self.start[name] = start


def joint_rows(kind, g, rows, a, b, middle):
    """`g`: the keys of the joint, a and b: numbers of its bodies, middle: where it is if it does not say."""
    out = JointRows()
    at = g.get("at", middle)
    globals()["_" + {"distance": "rod"}.get(kind, kind)](out, g, rows, a, b, at)
    return out


def _pin(out, rows, a, b, at, directions=np.eye(3)):
    out.hold(*[rows.point(a, e, at, b, at) for e in directions])


def _ball(out, g, rows, a, b, at):
    _pin(out, rows, a, b, at)


def _parallel(out, rows, a, b, axis):
    out.hold(*[rows.dot(a, s, b, axis) for s in sides(axis)])


def _same_turn(out, rows, a, b):
    x, y, z = np.eye(3)
    out.hold(rows.dot(a, x, b, y), rows.dot(a, y, b, z), rows.dot(a, z, b, x))


def _hinge(out, g, rows, a, b, at):
    _pin(out, rows, a, b, at)
    _parallel(out, rows, a, b, g["axis"])
    out.axis("turn", rows.spin(a, b, a, g["axis"]))


def _slider(out, g, rows, a, b, at):
    _pin(out, rows, a, b, at, sides(g["axis"]))
    _same_turn(out, rows, a, b)
    out.axis("slide", rows.point(a, g["axis"], at, b, at))


def _fixed(out, g, rows, a, b, at):
    _pin(out, rows, a, b, at)
    _same_turn(out, rows, a, b)


def _rod(out, g, rows, a, b, at):
    ends = g["at"]
    row = rows.length(a, ends[0], b, ends[1])
    if not {"motor", "limits", "friction", "stiffness", "damping"} & set(g):
        out.hold(row)
    out.axis("length", row, start=float(np.linalg.norm(np.subtract(ends[1], ends[0]))))


def _rope(out, g, rows, a, b, at):
    ends = g["at"]
    out.axis("length", rows.length(a, ends[0], b, ends[1]), start=float(np.linalg.norm(np.subtract(ends[1], ends[0]))))


def _cylindrical(out, g, rows, a, b, at):
    _pin(out, rows, a, b, at, sides(g["axis"]))
    _parallel(out, rows, a, b, g["axis"])
    out.axis("slide", rows.point(a, g["axis"], at, b, at))
    out.axis("turn", rows.spin(a, b, a, g["axis"]))


def _screw(out, g, rows, a, b, at):
    _cylindrical(out, g, rows, a, b, at)
    out.held.append(out.axes["slide"] + [(-g["pitch"] / (2 * np.pi) * f, r) for f, r in out.axes["turn"]])


def _universal(out, g, rows, a, b, at):
    _pin(out, rows, a, b, at)
    out.hold(rows.dot(a, g["axis"], b, g["axis_b"]))
    out.axis("first", rows.spin(a, b, a, g["axis"]))
    out.axis("second", rows.spin(a, b, b, g["axis_b"]))


def _planar(out, g, rows, a, b, at):
    x = unit(g.get("x_axis", sides(g["normal"])[0]))
    _pin(out, rows, a, b, at, [g["normal"]])
    _parallel(out, rows, a, b, g["normal"])
    out.axis("x", rows.point(a, x, at, b, at))
    out.axis("y", rows.point(a, np.cross(unit(g["normal"]), x), at, b, at))
    out.axis("turn", rows.spin(a, b, a, g["normal"]))


def _point_on_line(out, g, rows, a, b, at):
    _pin(out, rows, a, b, at, sides(g["axis"]))
    out.axis("slide", rows.point(a, g["axis"], at, b, at))


def _in_plane(out, g, rows, a, b, at):
    _pin(out, rows, a, b, at, [g["normal"]])


def _generic(out, g, rows, a, b, at):
    """No turn free, one, or all three (which then have no coordinates here)."""
    z, x = unit(g["axis"]), unit(g["x_axis"])
    frame = {"x": x, "y": np.cross(z, x), "z": z}
    for name, e in frame.items():
        if name in g["free"]:
            out.axis(name, rows.point(a, e, at, b, at))
        else:
            out.hold(rows.point(a, e, at, b, at))
    turns = [name for name in ("rx", "ry", "rz") if name in g["free"]]
    if not turns:
        _same_turn(out, rows, a, b)
    elif len(turns) == 1:
        axis = frame[turns[0][1]]
        _parallel(out, rows, a, b, axis)
        out.axis(turns[0], rows.spin(a, b, a, axis))


def _wheel(out, g, rows, a, b, at):
    up, axle = unit(g["up"]), unit(g["axis"])
    along = np.cross(up, axle)
    _pin(out, rows, a, b, at, [axle, along])
    travel = rows.point(a, up, at, b, at)
    out.hold(rows.dot(a, up, b, axle))
    if "suspension" in g:
        out.axis("suspension", travel)
    else:
        out.hold(travel)
    if "steer" in g:
        out.axis("steer", rows.spin(a, b, a, up))
    else:
        out.hold(rows.dot(a, along, b, axle))
    out.axis("spin", rows.spin(a, b, b, axle))


def _rolling(out, g, rows, a, b, at):
    """On a plane of the world."""
    for e in (*sides(g["normal"]), g["normal"]):
        out.hold(rows.disk(b, g["normal"], e, g.get("axle"), g["radius"]))


def _knife_edge(out, g, rows, a, b, at):
    """Against the world."""
    out.hold(rows.skid(b, g["axis"], at))


def _velocity_motor(out, g, rows, a, b, at):
    """Of an axis of the world."""
    if g.get("turn"):
        out.axis("drive", rows.spin(a, b, a, g["axis"]))
    else:
        out.axis("drive", rows.point(a, g["axis"], at, b, at))
