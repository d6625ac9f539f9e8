"""The reference of the cells: a scene (the dictionary that the scene file is written from) integrated to about ten digits.

Maximal coordinates, angular velocities in world axes, accelerations and multipliers from one linear system, DOP853 of SciPy between
events. What has two sides (dry friction, bounded motors, ends of ranges, blocks that slide or stick) is a mode that holds between events.
Nothing here is code of the engine, nor its formulas.
"""
import math

import numpy as np
from scipy.integrate import solve_ivp

from reference_rows import Rows, cross, joint_rows

NAMES = {name: getattr(np, name) for name in ("sin", "cos", "tan", "exp", "sqrt", "tanh", "log")} | {"pi": math.pi}


def function_of_time(given):
    """A number, or a formula of t; its derivative by a complex step."""
    if isinstance(given, (int, float)):
        return (lambda t: given), (lambda t: 0.0)
    code = compile(str(given).replace("^", "**"), "formula", "eval")

    def value(t):
        return eval(code, {"__builtins__": {}}, {**NAMES, "t": t})
    return value, lambda t: value(t + 1e-30j).imag / 1e-30 if "t" in code.co_names else 0.0


def rotation(q):
    w, x, y, z = q / math.sqrt(q @ q)
    return np.array([[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                     [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                     [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]])


def as_quaternion(given):
    if given is None:
        return np.array([1.0, 0, 0, 0])
    if isinstance(given, dict):
        half = math.radians(given["angle_deg"]) / 2
        axis = np.asarray(given["axis"], float)
        return np.concatenate([[math.cos(half)], math.sin(half) * axis / np.linalg.norm(axis)])
    return np.asarray(given, float)


def as_matrix(inertia):
    xx, yy, zz, xy, xz, yz = (list(inertia) + [0, 0, 0])[:6]
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]], float)


class Box:
    """A rate that is held at a target by at most a bound: dry friction, a motor. Mode 0: held; +-1: it slips up or down."""

    def __init__(self, combo, target, bound, coordinate=None, normals=()):
        self.combo, self.target, self.bound = combo, target, bound
        self.coordinate, self.normals = coordinate, normals  # normals: held rows that bear the load, bound is mu


class End:
    """One end of a range: sign (value - at) >= 0, with the restitution e. Mode 0: open, 1: rests there."""

    def __init__(self, combo, coordinate, at, sign, e):
        self.combo, self.coordinate, self.at, self.sign, self.e = combo, coordinate, at, sign, e


class Reference:
    def __init__(self, scene):
        self.scene = scene
        self.gravity = np.asarray(scene.get("gravity", [0, 0, -9.81]), float)
        self._bodies(scene["bodies"])
        self.rows = Rows(self.x0, self.R0)
        self.held, self.targets = [], []     # combos of rows, and their targets
        self.polynomials, self.armatures, self.axis_forces, self.boxes, self.ends = [], [], [], [], []
        self.coordinates, self.start = [], []  # combos whose rates are integrated
        self.joints = {}
        for item in scene.get("joints", []):
            (kind, keys), = item.items()
            self._joint(kind, keys)
        for k, body in enumerate(self.given, 1):
            self._prescribed(k, body)
        self.springs = [self._spring(kind, g) for item in scene.get("forces", []) for kind, g in item.items()
                        if kind in ("spring", "damper")]
        self.loads = [self._load(g) for item in scene.get("forces", []) for kind, g in item.items() if kind == "load"]
        for g in scene.get("reference", {}).get("sliding", []):
            self._sliding(**g)
        self.rows.freeze()
        self._matrices()

    # ------------------------------------------------------------------ what there is

    def _bodies(self, bodies):
        self.given = [b for b in bodies if not b.get("fixed")]
        self.number = {"world": 0} | {b["name"]: 0 for b in bodies if b.get("fixed")}
        self.number |= {b["name"]: k for k, b in enumerate(self.given, 1)}
        n = self.n = len(self.given) + 1
        self.mass, self.inertia = np.zeros(n), np.zeros((n, 3, 3))
        self.x0, self.R0, self.q0 = np.zeros((n, 3)), np.tile(np.eye(3), (n, 1, 1)), np.tile([1.0, 0, 0, 0], (n, 1))
        self.offset = np.zeros((n, 3))  # of the centre of mass in the body's frame
        self.weight = np.ones(n)
        self.v0 = np.zeros((n, 2, 3))
        for k, b in enumerate(self.given, 1):
            self.mass[k], self.inertia[k] = b.get("mass", 1), as_matrix(b.get("inertia", [1, 1, 1]))
            self.q0[k] = as_quaternion(b.get("orientation"))
            self.R0[k] = rotation(self.q0[k])
            self.offset[k] = b.get("center_of_mass", [0, 0, 0])
            arm = self.R0[k] @ self.offset[k]
            self.x0[k] = b.get("position", [0, 0, 0]) + arm
            self.weight[k] = 0 if "kinematic" in b else b.get("gravity_scale", 1)
            motion = {key: [function_of_time(f)[0](0.0) for f in given] for key, given in b.get("kinematic", {}).items()}
            self.v0[k, 1] = (motion or b).get("angular_velocity", [0, 0, 0])
            self.v0[k, 0] = (motion or b).get("velocity", [0, 0, 0]) + np.cross(self.v0[k, 1], arm)

    def _prescribed(self, k, body):
        for name in body.get("lock", []):
            for e in {"rotation": ["rx", "ry", "rz"], "translation": ["x", "y", "z"]}.get(name, [name]):
                axis = np.eye(3)["xyz".index(e[-1])]
                self._hold([(1.0, self.rows.spin(0, k, 0, axis) if e[0] == "r" else self.rows.point(0, axis, self.x0[k], k, self.x0[k]))])
        motion = body.get("kinematic")
        if motion is None:
            return
        for i, axis in enumerate(np.eye(3)):
            for name, row in (("velocity", self.rows.point(0, axis, self.x0[k], k, self.x0[k])), ("angular_velocity", self.rows.spin(0, k, 0, axis))):
                self._hold([(1.0, row)], function_of_time(motion.get(name, [0, 0, 0])[i]))

    def _hold(self, combo, target=None):
        self.held.append(combo)
        self.targets.append(target)

    def _joint(self, kind, g):
        if kind in ("gear", "rack", "differential"):
            return self._coupling(kind, g)
        a, b = (self.number[name] for name in g["between"])
        out = joint_rows(kind, g, self.rows, a, b, self.x0[b if b else a] - self.R0[b if b else a] @ self.offset[b if b else a])
        for combo in out.held:
            self._hold(combo)
        axes = {}
        for name, combo in out.axes.items():
            axes[name] = len(self.coordinates)
            self.coordinates.append(combo)
            keys = g if len(out.axes) == 1 or name == "spin" else g.get(name, {})
            keys = {} if keys is True else keys
            self.start.append(keys.get("start", out.start[name]))
            if kind == "rope":
                keys = {"limits": ["none", g["length"]], "restitution": g.get("restitution", 0)}
            elif kind == "velocity_motor":
                keys = {"motor": {"speed": g["speed"], "max": g["max"]}}
            self._axis(axes[name], keys)
        self.joints[g.get("name", f"joint_{len(self.joints)}")] = axes

    def _axis(self, c, keys):
        combo = self.coordinates[c]
        if keys.get("armature"):
            self.armatures.append((combo, keys["armature"]))
        if keys.get("lock"):
            self._hold(combo)
        if keys.get("stiffness") or keys.get("damping"):
            k, d, rest = keys.get("stiffness", 0), keys.get("damping", 0), keys.get("rest", 0)
            self.axis_forces.append((combo, c, lambda t, q, u: -k * (q - rest) - d * u, k, rest))
        if keys.get("friction"):
            self.boxes.append(Box(combo, (lambda t, q: 0.0, lambda t, q, u: 0.0), keys["friction"]))
        if "limits" in keys:
            for at, sign in zip(keys["limits"], (1, -1)):
                if at != "none":
                    self.ends.append(End(combo, c, at, sign, keys.get("restitution", 0)))
        if "motor" in keys:
            self._motor(combo, c, keys["motor"])

    def _motor(self, combo, c, m):
        bound = m.get("max", math.inf)
        force = None
        if "torque" in m:
            f, _ = function_of_time(m["torque"])
            force = lambda t, q, u: f(t)
        elif "position" in m and "stiffness" in m:
            p, dp = function_of_time(m["position"])
            k, d = m["stiffness"], m.get("damping", 0)
            force = lambda t, q, u: k * (p(t) - q) - d * u
        elif "damping" in m:
            s, _ = function_of_time(m["speed"])
            d = m["damping"]
            force = lambda t, q, u: d * (s(t) - u)
        if force is not None:
            self.axis_forces.append((combo, c, lambda t, q, u: min(max(force(t, q, u), -bound), bound), 0, 0))
            return
        if "speed" in m:
            s, ds = function_of_time(m["speed"])
            target = (lambda t, q: s(t)), (lambda t, q, u: ds(t))
        else:
            p, dp = function_of_time(m["position"])
            tau, top = m.get("time", 0.1), m.get("max_speed", math.inf)
            wish = lambda t, q: (p(t) - q) / tau
            target = ((lambda t, q: min(max(wish(t, q), -top), top)),
                      (lambda t, q, u: (dp(t) - u) / tau if abs(wish(t, q)) < top else 0.0))
        self.boxes.append(Box(combo, target, bound, coordinate=c))

    def _of(self, name):
        joint, _, axis = name.partition(".")
        axes = self.joints[joint]
        return axes[axis] if axis else axes.get("turn", axes.get("spin", next(iter(axes.values()))))

    def _coupling(self, kind, g):
        c = [self._of(name) for name in g["joints"]]
        combo = [self.coordinates[k] for k in c]
        scaled = lambda factor, rows: [(factor * f, r) for f, r in rows]
        if kind == "gear" and "polynomial" in g:
            self.polynomials.append((combo[0], combo[1], c[1], np.polynomial.Polynomial(g["polynomial"])))
        elif kind == "gear":
            self._hold(combo[0] + scaled(-g["ratio"], combo[1]))
        elif kind == "rack":
            self._hold(combo[1] + scaled(-g["radius"], combo[0]))
        else:
            self._hold(combo[0] + scaled(-g.get("ratio", 1) / 2, combo[1] + combo[2]))

    def _spring(self, kind, g):
        a, b = (self.number[name] for name in g["between"])
        ends = [self.rows.place(body, p) for body, p in zip((a, b), g["at"])]
        return a, b, *ends, g.get("stiffness", 0), g.get("damping", 0), g.get("rest_length", np.linalg.norm(np.subtract(*g["at"])))

    def _load(self, g):
        k = self.number[g["body"]]
        read = lambda what: [function_of_time(f)[0] for f in g.get(what, [0, 0, 0])]
        return k, read("force"), read("torque"), np.asarray(g.get("at", self.offset[k]), float) - self.offset[k], g.get("frame") == "body"

    def _sliding(self, body, along, friction, belt=0):
        """A block that lies flat on a plane z = const of the world and slides along a direction: it does not turn nor leave."""
        k = self.number[body]
        x, z, side = np.asarray(along, float), np.array([0, 0, 1.0]), np.cross([0, 0, 1.0], along)
        for e in np.eye(3):
            self._hold([(1.0, self.rows.spin(0, k, 0, e))])
        self._hold([(1.0, self.rows.point(0, side, self.x0[k], k, self.x0[k]))])
        bears = len(self.held)
        self._hold([(1.0, self.rows.point(0, z, self.x0[k], k, self.x0[k]))])
        s, ds = function_of_time(belt)
        self.boxes.append(Box([(1.0, self.rows.point(0, x, self.x0[k], k, self.x0[k]))],
                              (lambda t, q: s(t), lambda t, q, u: ds(t)), friction, normals=(bears,)))

    def _matrices(self):
        def matrix(combos):
            out = np.zeros((len(combos), self.rows.count))
            for i, combo in enumerate(combos):
                for factor, row in combo:
                    out[i, self.rows.index(row)] += factor
            return out
        self.K_held, self.K_axes = matrix(self.held), matrix(self.coordinates)
        self.K_box, self.K_end = matrix([b.combo for b in self.boxes]), matrix([e.combo for e in self.ends])
        self.K_arm = matrix([c for c, _ in self.armatures])
        self.K_force = matrix([f[0] for f in self.axis_forces])
        self.K_poly = [(matrix([one])[0], matrix([two])[0]) for one, two, _, _ in self.polynomials]

    # ------------------------------------------------------------------ a state

    def initial(self):
        y = np.concatenate([self.x0[1:].ravel(), self.q0[1:].ravel(), self.v0[1:, 0].ravel(), self.v0[1:, 1].ravel(), self.start])
        return y

    def unpack(self, y):
        n = self.n - 1
        x, q, v, w = np.zeros((n + 1, 3)), np.zeros((n + 1, 4)), np.zeros((n + 1, 3)), np.zeros((n + 1, 3))
        q[0, 0] = 1
        x[1:], q[1:] = y[:3 * n].reshape(n, 3), y[3 * n:7 * n].reshape(n, 4)
        v[1:], w[1:] = y[7 * n:10 * n].reshape(n, 3), y[10 * n:13 * n].reshape(n, 3)
        R = np.empty((n + 1, 3, 3))
        for k in range(n + 1):
            R[k] = rotation(q[k])
        return x, q, R, v, w, y[13 * n:]

    def _forces(self, t, x, R, v, w):
        f = np.zeros((self.n, 2, 3))
        f[:, 0] = (self.mass * self.weight)[:, None] * self.gravity
        for a, b, pa, pb, k, d, rest in self.springs:
            ra, rb = R[a] @ pa, R[b] @ pb
            way = x[b] + rb - x[a] - ra
            rate = v[b] + np.cross(w[b], rb) - v[a] - np.cross(w[a], ra)
            size = np.linalg.norm(way)
            e = way / size if size > 0 else way
            pull = (k * way + d * rate) if rest == 0 else (k * (size - rest) + d * (e @ rate)) * e
            f[a, 0] += pull
            f[b, 0] -= pull
            f[a, 1] += np.cross(ra, pull)
            f[b, 1] -= np.cross(rb, pull)
        for k, force, torque, at, turns in self.loads:
            F, T = np.array([g(t) for g in force], float), np.array([g(t) for g in torque], float)
            if turns:
                F, T = R[k] @ F, R[k] @ T
            f[k, 0] += F
            f[k, 1] += T + np.cross(R[k] @ at, F)
        return f

    def accelerate(self, t, y, modes):
        """Accelerations, rates of coordinates, and the multipliers: of held rows, held boxes, closed ends."""
        x, q, R, v, w, axes = self.unpack(y)
        n = self.n
        J, bias, value = self.rows.evaluate(x, R, v, w)
        J = J[:, 1:].reshape(len(J), 6 * (self.n - 1))
        u = np.stack([v, w], 1)[1:].ravel()
        rate = J @ u
        M = np.zeros((6 * (n - 1),) * 2)
        f = self._forces(t, x, R, v, w)
        for k in range(1, n):
            world = R[k] @ self.inertia[k] @ R[k].T
            f[k, 1] -= np.cross(w[k], world @ w[k])
            at = 6 * (k - 1)
            M[at:at + 3, at:at + 3] = self.mass[k] * np.eye(3)
            M[at + 3:at + 6, at + 3:at + 6] = world
        f = f[1:].ravel()
        for row, (_, size) in zip(self.K_arm, self.armatures):
            g = row @ J
            M += size * np.outer(g, g)
            f -= size * (row @ bias) * g
        for row, (_, c, law, _, _) in zip(self.K_force, self.axis_forces):
            f += law(t, axes[c], row @ rate) * (row @ J)
        K, aim = [self.K_held], [np.array([0.0 if d is None else d[1](t) for d in self.targets])]
        for (one, two), (_, _, c, P) in zip(self.K_poly, self.polynomials):
            K.append((one - P.deriv()(axes[c]) * two)[None])
            aim.append([P.deriv(2)(axes[c]) * (two @ rate)**2])
        columns = []
        for i, (box, mode) in enumerate(zip(self.boxes, modes["box"])):
            speed = self.K_box[i] @ rate
            q_of = axes[box.coordinate] if box.coordinate is not None else 0
            if mode == 0:
                K.append(self.K_box[i][None])
                aim.append([box.target[1](t, q_of, speed)])
            elif box.normals:
                columns += [(k, -mode * box.bound * (self.K_box[i] @ J)) for k in box.normals]
            else:
                f -= mode * box.bound * (self.K_box[i] @ J)
        for i, mode in enumerate(modes["end"]):
            if mode:
                K.append(self.K_end[i][None])
                aim.append([0.0])
        K = np.concatenate(K)
        G = K @ J
        forces = G.T.copy()
        for k, column in columns:
            forces[:, k] += column
        m = len(G)
        system = np.block([[M, -forces], [G, np.zeros((m, m))]])
        right = np.concatenate([f, np.concatenate(aim) - K @ bias])
        if self.scene.get("reference", {}).get("redundant"):
            answer = np.linalg.lstsq(system, right, rcond=1e-11)[0]
        else:
            answer = np.linalg.solve(system, right)
        return answer[:len(u)], rate, answer[len(u):], (J, M, G, value)

    def derivative(self, t, y, modes):
        n = self.n - 1
        a, rate, _, _ = self.accelerate(t, y, modes)
        a = a.reshape(n, 2, 3)
        q, v, w = y[3 * n:7 * n].reshape(n, 4), y[7 * n:10 * n], y[10 * n:13 * n].reshape(n, 3)
        dq = np.empty((n, 4))  # w in world axes: dQ = 1/2 (0, w) Q
        dq[:, 0] = -0.5 * np.einsum("ij,ij->i", w, q[:, 1:])
        dq[:, 1:] = 0.5 * (w * q[:, :1] + cross(w, q[:, 1:]))
        return np.concatenate([v, dq.ravel(), a[:, 0].ravel(), a[:, 1].ravel(), self.K_axes @ rate])

    def energy(self, y):
        """Kinetic and potential; the coordinates of axes are those of y."""
        x, q, R, v, w, axes = self.unpack(y)
        total = 0.0
        for k in range(1, self.n):
            if "kinematic" in self.given[k - 1]:
                continue
            body = R[k].T @ w[k]
            total += 0.5 * self.mass[k] * v[k] @ v[k] + 0.5 * body @ self.inertia[k] @ body
            total -= self.mass[k] * self.weight[k] * self.gravity @ x[k]
        for a, b, pa, pb, k, _, rest in self.springs:
            total += 0.5 * k * (np.linalg.norm(x[b] + R[b] @ pb - x[a] - R[a] @ pa) - rest)**2
        for _, c, _, k, rest in self.axis_forces:
            total += 0.5 * k * (axes[c] - rest)**2
        if self.armatures:
            J, _, _ = self.rows.evaluate(x, R, v, w)
            rate = J[:, 1:].reshape(len(J), 6 * (self.n - 1)) @ np.stack([v, w], 1)[1:].ravel()
            total += sum(0.5 * size * (row @ rate)**2 for row, (_, size) in zip(self.K_arm, self.armatures))
        return total
