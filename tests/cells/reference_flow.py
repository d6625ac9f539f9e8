"""The flow of the reference: pieces between events, impacts at the ends of ranges, sticking and slipping."""
import numpy as np
from scipy.integrate import solve_ivp

from reference import Reference


class Flow(Reference):
    TOLERANCE = 1e-11

    def __init__(self, scene):
        super().__init__(scene)
        self.events = []  # (time, what)
        self.y, self.t = self.initial(), 0.0
        self.modes = {"box": [1] * len(self.boxes), "end": [0] * len(self.ends)}
        self._touch_at_start()
        for i in range(len(self.boxes)):
            speed = self._slip(i, 0.0, self.y)
            self.modes["box"][i] = int(np.sign(speed)) if abs(speed) > 1e-9 else self._hold_or_slip(i)

    # ------------------------------------------------------------------ quantities of events

    def _rates(self, y):
        x, q, R, v, w, axes = self.unpack(y)
        J, _, value = self.rows.evaluate(x, R, v, w)
        return J[:, 1:].reshape(len(J), 6 * (self.n - 1)), np.stack([v, w], 1)[1:].ravel(), axes

    def _slip(self, i, t, y):
        J, u, axes = self._rates(y)
        box = self.boxes[i]
        q = axes[box.coordinate] if box.coordinate is not None else 0
        return self.K_box[i] @ J @ u - box.target[0](t, q)

    def _gap(self, i, y):
        end = self.ends[i]
        return end.sign * (y[13 * (self.n - 1) + end.coordinate] - end.at)

    def _multipliers(self, t, y, modes):
        """Of held rows; of held boxes by number; of closed ends by number."""
        l = self.accelerate(t, y, modes)[2]
        k = len(self.held) + len(self.polynomials)
        held = [i for i, m in enumerate(modes["box"]) if m == 0]
        closed = [i for i, m in enumerate(modes["end"]) if m]
        return l, dict(zip(held, l[k:])), {i: self.ends[i].sign * f for i, f in zip(closed, l[k + len(held):])}

    def _reserve(self, i, t, y, modes):
        """What a held box could do beside what it does, and the sign of that."""
        l, held, _ = self._multipliers(t, y, modes)
        box = self.boxes[i]
        bound = box.bound * sum(l[k] for k in box.normals) if box.normals else box.bound
        return bound - abs(held[i]), np.sign(held[i])

    def _hold_or_slip(self, i):
        modes = {"box": list(self.modes["box"]), "end": list(self.modes["end"])}
        modes["box"][i] = 0
        reserve, sign = self._reserve(i, self.t, self.y, modes)
        return 0 if reserve >= 0 else -int(sign)

    def _watches(self):
        out = []
        for i, mode in enumerate(self.modes["box"]):
            if mode == 0:
                if np.isfinite(self.boxes[i].bound):
                    out.append(("slips", i, lambda t, y, i=i: self._reserve(i, t, y, self.modes)[0]))
            else:
                out.append(("holds", i, lambda t, y, i=i, mode=mode: mode * self._slip(i, t, y)))
        for i, mode in enumerate(self.modes["end"]):
            if mode:
                out.append(("leaves", i, lambda t, y, i=i: self._multipliers(t, y, self.modes)[2][i]))
            else:
                out.append(("meets", i, lambda t, y, i=i: self._gap(i, y)))
        for _, _, watch in out:
            watch.terminal, watch.direction = True, -1
        return out

    # ------------------------------------------------------------------ events

    def _impact(self, hit):
        """Ends in `hit` {number: speed wanted after}, what is held stays held, what rests at an end does not go in."""
        x, q, R, v, w, axes = self.unpack(self.y)
        J, u, _ = self._rates(self.y)
        _, _, _, (_, M, G, _) = self.accelerate(self.t, self.y, {"box": [1] * len(self.boxes), "end": self.modes["end"]})
        rows = np.concatenate([G] + [(self.K_end[i] @ J)[None] for i in hit])
        aim = np.concatenate([G @ u, list(hit.values())])
        m = len(rows)
        system = np.block([[M, -rows.T], [rows, np.zeros((m, m))]])
        after = np.linalg.lstsq(system, np.concatenate([M @ u, aim]), rcond=1e-13)[0][:len(u)].reshape(-1, 2, 3)
        n = self.n - 1
        self.y[7 * n:10 * n], self.y[10 * n:13 * n] = after[:, 0].ravel(), after[:, 1].ravel()

    def _approach(self, i):
        J, u, _ = self._rates(self.y)
        return self.K_end[i] @ J @ u

    def _touch_at_start(self):
        for i in range(len(self.ends)):
            if abs(self._gap(i, self.y)) < 1e-9 and abs(self._approach(i)) < 1e-9:
                self.modes["end"][i] = 1
                if self._multipliers(0.0, self.y, self.modes)[2][i] < 0:
                    self.modes["end"][i] = 0

    def _handle(self, what, i):
        if what == "meets" and any(k == i and self.t - t < 0.02 for t, name, k in self.events if name == "meets"):
            raise RuntimeError("the reference sees no bounces shorter than its steps")
        self.events.append((self.t, what, i))
        if what == "leaves":
            self.modes["end"][i] = 0
        elif what == "slips":
            self.modes["box"][i] = -int(self._reserve(i, self.t, self.y, self.modes)[1])
        elif what == "holds":
            self.modes["box"][i] = self._hold_or_slip(i)
        else:
            speed = self._approach(i)
            e = self.ends[i].e
            self._impact({i: -e * speed})
            if e * abs(speed) < 1e-9:
                self.modes["end"][i] = 1
                if self._multipliers(self.t, self.y, self.modes)[2][i] < 0:
                    self.modes["end"][i] = 0
            for k, mode in enumerate(self.modes["box"]):  # slips may have turned round, or ended what was held
                slip = self._slip(k, self.t, self.y)
                self.modes["box"][k] = int(np.sign(slip)) if abs(slip) > 1e-9 else self._hold_or_slip(k)

    def run(self, until):
        while self.t < until:
            watches = self._watches()
            piece = solve_ivp(lambda t, y: self.derivative(t, y, self.modes), (self.t, until), self.y, method="DOP853",
                              rtol=self.TOLERANCE, atol=1e-2 * self.TOLERANCE, max_step=0.02 if watches else np.inf,
                              events=[watch for _, _, watch in watches])
            if piece.status < 0:
                raise RuntimeError(piece.message)
            self.y, self.t = piece.y[:, -1].copy(), piece.t[-1]
            if piece.status == 1:
                for (what, i, _), times in zip(watches, piece.t_events):
                    if len(times):
                        self._handle(what, i)
            if len(self.events) > 1000:
                raise RuntimeError("the reference has more than 1000 events")
        return self

    def violation(self):
        """How far the rows with values have drifted from where they were at the start: an error of the reference itself."""
        def values(y):
            x, q, R, v, w, _ = self.unpack(y)
            return self.K_held @ self.rows.evaluate(x, R, v, w)[2]
        with_value = ~self.K_held[:, self.rows.first["spin"]:].any(axis=1)  # turns and rows of speed alone have none
        return float(np.abs(values(self.y) - values(self.initial()))[with_value].max(initial=0))


def consistent(scene, seed=0, size=1.0):
    """The scene with velocities that its joints allow: what is nearest (in kinetic energy) to given or random ones."""
    free = Flow.__new__(Flow)
    Reference.__init__(free, scene)
    y = free.initial()
    n = free.n - 1
    rng = np.random.default_rng(seed)
    # Motors have what they ask for from the start; friction and belts do not hold.
    modes = {"box": [0 if box.coordinate is not None else 1 for box in free.boxes], "end": [0] * len(free.ends)}
    _, _, _, (J, M, G, _) = free.accelerate(0.0, y, modes)
    u = np.stack([free.v0[1:, 0], free.v0[1:, 1]], 1).ravel()
    wish = u + size * rng.normal(size=u.shape) * np.tile([0.3, 0.3, 0.3, 1, 1, 1], n)
    aim = [0.0 if target is None else target[0](0.0) for target in free.targets] + [0.0] * len(free.polynomials)
    aim += [box.target[0](0.0, free.start[box.coordinate] if box.coordinate is not None else 0)
            for box, mode in zip(free.boxes, modes["box"]) if mode == 0]
    m = len(G)
    system = np.block([[M, -G.T], [G, np.zeros((m, m))]])
    after = np.linalg.lstsq(system, np.concatenate([M @ wish, aim]), rcond=1e-12)[0][:len(u)].reshape(n, 2, 3)
    out = dict(scene, bodies=[dict(b) for b in scene["bodies"]])
    moving = [b for b in out["bodies"] if not b.get("fixed")]
    for k, b in enumerate(moving):
        if "kinematic" in b:
            continue
        arm = free.R0[k + 1] @ free.offset[k + 1]
        if "rotation" in b.get("lock", []):
            after[k, 1] = 0  # rounding
        b["angular_velocity"] = [float(a) for a in after[k, 1]]
        b["velocity"] = [float(a) for a in after[k, 0] - np.cross(after[k, 1], arm)]
    return out
