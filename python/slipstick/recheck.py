"""Verifies a recording made with `slipstick run SCENE -o RUN.h5 --all` from its numbers alone (docs/recheck.md).

Needs NumPy and h5py, nothing of the engine: `python3 recheck.py RUN.h5` does the same as `slipstick recheck RUN.h5`.
Exit codes: 0 all that it can see holds, 1 something does not, 2 the file cannot be read."""
# mypy: ignore-errors
import argparse, sys
try:
    import h5py
    import numpy as np
except ImportError as missing:
    sys.exit(print(f"slipstick recheck: {missing}: apt-get install python3-numpy python3-h5py", file=sys.stderr) or 2)
LIMITS = {  # the worst that holds, as a share of what
    "time": (1e-9, "step"), "continuity": (1e-9, "size"), "motion": (1e-9, "size"), "way": (1 + 1e-6, "impulse/m"), "momentum": (1e-8, "momentum"),
    "angular momentum": (1e-8, "momentum"), "added inertia": (0.5, "momentum"), "gravity": (1e-9, "m g h"), "locks": (1e-8, "impulse"), "third law": (1e-3, "impulse"),
    "geometry": (1e-9, "size"), "friction kept": (1e-9, "mu"), "approach": (1e-5, "speeds"), "pull": (1e-5, "speeds"), "cone": (1e-5, "speeds"),
    "complementarity": (1e-5, "speeds"), "slip opposed": (1e-5, "speeds"), "touches": (1e-6, "impulse"), "impact energy": (1e-7, "energy"), "energy": (0.1, "energy"),
    "frames": (1e-6, "impulse"), "joints": (2e-2, "size"), "overlap": (2e-2, "size")}
TINY, INSTANTS, _ = 1e-300, ("impact", "projection", "fall", "carried", "touch", "early", "late"), np.seterr(all="ignore")
cross, text = np.cross, lambda value: value.decode() if isinstance(value, bytes) else str(value)
dot, apply = lambda a, b: (a * b).sum(-1), lambda m, v: np.einsum("...ij,...j->...i", m, v)
norm, back = lambda a: np.sqrt(dot(a, a)), lambda m, v: np.einsum("...ji,...j->...i", m, v)
skew, pile = lambda v: np.swapaxes(cross(v[..., None, :], np.eye(3)), -1, -2), lambda shape, at, rows: [sums := np.zeros(shape), np.add.at(sums, at, rows)][0]
rotation = lambda q: np.eye(3) + 2 * skew(q[..., 1:]) @ (q[..., :1, None] * np.eye(3) + skew(q[..., 1:]))  # of a quaternion w x y z
times = lambda q, w, v: np.concatenate([q[..., :1] * w - dot(q[..., 1:], v)[..., None], q[..., :1] * v + w * q[..., 1:] + cross(q[..., 1:], v)], -1)
turned = lambda q, a: times(q, np.cos(norm(a) / 2)[..., None], a / 2 * np.sinc(norm(a) / 2 / np.pi)[..., None])  # by a rotation vector
class Recheck:
    def __init__(self, file):
        self.f, at, b = file, file.attrs, file["bodies"]
        for wrong, why in (("parts" not in file, "has no parts of steps; record it with 'slipstick run SCENE -o RUN.h5 --all'"),
                           (at.get("interpolated"), "its parts have interpolated ends (event_state: hermite), which cannot be verified"),
                           (len(file["time"]) < 2, "has no whole step: there is nothing to verify")):
            if wrong:
                raise ValueError(why)
        self.step, self.alpha, self.gamma, self.gravity = (at[name] for name in ("step", "alpha", "gamma", "gravity"))
        self.names, self.kinds = file["names/bodies"].asstr()[:], np.array([text(kind) for kind in file["parts"].attrs["kinds"]])
        self.n, self.nb, self.time, self.offset = len(file["time"]), len(self.names), file["time"][:], file["parts/offset"][:]
        self.cone, self.by_slip, self.relative = text(at["friction_model"]) == "cone", at["friction_by_slip"], file["certificate/relative"][:]
        self.m, self.com, self.inertia, free = b["mass"][:], b["center_of_mass"][:], b["inertia"][:], b["free_basis"][:]
        self.dynamic, self.weight = file["names/body_kinds"][:] == 0, (self.m * b["gravity_scale"][:])[:, None] * self.gravity
        self.mobility, self.turns, self.slides = np.zeros((self.nb, 6, 6)), np.zeros((self.nb, 3, 3)), free[:, :3] @ np.swapaxes(free[:, :3], 1, 2)
        for i in np.flatnonzero(self.dynamic):
            s, mass = free[i][:, norm(free[i].T) > 0], np.diag([self.m[i]] * 6)
            mass[3:, 3:] = self.inertia[i]
            self.mobility[i] = s @ np.linalg.solve(s.T @ mass @ s, s.T) if s.size else 0
            spins = s[3:, norm(s[3:].T) > 0.5]  # two free turns have no momentum of their own, one and three have
            self.turns[i] = spins @ spins.T if spins.shape[1] != 2 else 0
        self.radius = np.sqrt(np.trace(self.inertia, axis1=1, axis2=2) / np.maximum(self.m, TINY))
        self.worst, self.unseen, self.mu, self.paid, self.moved, self.most, self.low = {name: (0.0, "") for name in LIMITS}, {}, {}, 0.0, 0.0, 0.0, np.inf
    def see(self, name, value, scale, place):  # the largest by its scale, and where; what is no number is the largest of all
        ratio = np.where(np.isfinite(value + scale), np.maximum(value, 0) / np.maximum(scale, TINY), np.inf)
        if ratio.size and ratio.max() > self.worst[name][0]:
            k = np.unravel_index(int(np.argmax(ratio)), ratio.shape)
            self.worst[name] = float(ratio[k]), place(*k)
    def skip(self, counts):
        self.unseen.update({what: self.unseen.get(what, 0) + int(count) for what, count in counts.items() if count})
    def run(self):
        states = [self.state(0)]
        self.size = np.max(norm(states[0][0][:, :3]), initial=0) + np.max(self.radius, initial=0) + TINY
        self.begin_places(), self.check_places(0)
        many = max(1, int(40000 * self.n / (1 + self.offset[self.n] * (self.nb + 1))))  # frames at a time
        for first in range(1, self.n, many):
            states = [states[-1]] + [self.state(k) for k in range(first, min(first + many, self.n))]
            self.check_parts(first, first + len(states) - 1, states)
        return all(value <= LIMITS[name][0] for name, (value, _) in self.worst.items())
    def state(self, k):  # pose and velocity of the centres of mass in a frame
        pose, v = self.f["pose"][k], self.f["velocity"][k]
        arm = apply(rotation(pose[:, 3:]), self.com)
        return np.hstack([pose[:, :3] + arm, pose[:, 3:]]), np.hstack([v[:, :3] + cross(v[:, 3:], arm), v[:, 3:]])
    def check_parts(self, first, last, states):
        p0, p1, f = self.offset[first], self.offset[last], self.f["parts"]
        part = {name: f[name][p0:p1] for name in f if name not in ("offset", "contacts", "links")}
        part["frame"], kind = np.repeat(np.arange(first, last), np.diff(self.offset[first : last + 1])), self.kinds[part["kind"]]
        part["kind"], part["moves"], part["still"] = kind, np.isin(kind, ["motion", "backward"]), np.isin(kind, INSTANTS)
        rows = [{name: table[name][o[0] : o[-1]] for name in table if name != "offset"} | {"part": np.repeat(np.arange(p1 - p0), np.diff(o))}
                for table in (f["contacts"], f["links"]) for o in [table["offset"][p0 : p1 + 1]]]
        at = lambda k, body=None: f"t = {part['time'][k]:.9g} s ({kind[k]})" + ("" if body is None else f", '{self.names[body]}'")
        part["R"], part["R'"] = rotation(part["pose_before"][..., 3:]), rotation(part["pose_after"][..., 3:])
        chain = np.flatnonzero(kind != "touch")  # those happen within the motion that comes next
        self.check_order(first, last, {name: values[chain] for name, values in part.items()}, states, lambda k, body=None: at(chain[k], body))
        place = self.check_motion(part, at)
        self.check_momentum(part, *rows, place, states, at), self.check_touches(part, rows[0], at)
        self.check_contacts(part, rows[0], place), self.check_frames(first, last, part, *rows)
        [self.check_places(k) for k in range(first, last)]
    def check_order(self, first, last, part, states, at):
        t, frame, end, each = self.time[first - 1 : last], part["frame"], part["time"] + part["length"], lambda k=0: f"frame {first + k}"
        begins, ends = np.r_[True, frame[1:] != frame[:-1]][: len(frame)], np.flatnonzero(np.r_[frame[1:] != frame[:-1], True][: len(frame)])
        self.see("time", np.abs(part["time"] - np.where(begins, t[frame - first], np.roll(end, 1))), self.step, at)
        self.see("time", np.maximum(np.abs(end[ends] - t[1:]), np.abs(np.diff(t) - self.step)) if len(ends) == last - first else np.inf, self.step, each)
        for i, name in enumerate(("pose", "velocity")):
            own = np.stack([state[i] for state in states])
            was = np.where(begins[:, None, None], own[frame - first], np.roll(part[name + "_after"], 1, 0))
            size = self.size if i == 0 else np.max(np.abs(part["velocity_after"]), initial=TINY)
            self.see("continuity", np.abs(part[name + "_before"] - was).max(-1), size, at)
            self.see("continuity", np.abs(part[name + "_after"][ends] - own[frame[ends] - first + 1]).max(-1), size, lambda k, b: at(ends[k], b))
    def check_motion(self, part, at):
        x, q, v, u, h = *np.split(part["pose_before"], [3], -1), part["velocity_before"], part["velocity_solved"], part["length"][:, None, None]
        own, weighted, still = np.where(self.dynamic[:, None], v, u), (part["kind"] == "motion")[:, None, None], part["still"][:, None]
        ahead = np.where(weighted, 1 - self.gamma, 0) * h  # the laws of contact hold at `place`, with gamma = 1 where the part begins
        place = x + ahead * own[..., :3], rotation(turned(q, ahead * back(part["R"], own[..., 3:])))
        way = (own + np.where(self.dynamic[:, None] & weighted, self.gamma / self.alpha, 1) * (u - own))[..., :3]
        goes, reached, turn = (part["moves"][:, None] | still) & np.ones(self.nb, bool), part["pose_after"], turned(q, h * back(place[1], u[..., 3:]))
        self.see("motion", np.where(goes, norm(reached[..., :3] - x - h * way), 0), self.size + norm(x) + h[..., 0] * norm(way), at)
        even = goes if self.alpha == self.gamma else goes & (~weighted[..., 0] | ~self.dynamic)
        self.see("motion", np.where(even, np.minimum(norm(turn - reached[..., 3:]), norm(turn + reached[..., 3:])), 0), 1, at)
        self.skip({"turns of bodies in a scheme whose alpha and gamma differ": (goes & ~even).sum()})
        self.see("continuity", np.where(still & self.dynamic & (part["kind"] != "carried")[:, None], np.abs(u - part["velocity_after"]).max(-1), 0), np.max(np.abs(part["velocity_after"]), initial=TINY), at)
        return *place, np.where(part["moves"][:, None] & self.dynamic, norm(way - v[..., :3]), 0)
    def check_touches(self, part, c, at):  # impacts within a motion act on it at its ends, so that it comes out where they lead
        kind, k, moves, late, touch = part["kind"], c["part"], np.flatnonzero(part["moves"]), part["kind"] == "late", part["kind"] == "touch"
        motion = np.cumsum(part["moves"]) - part["moves"] - late  # of a part: that which it belongs to
        begins, length = (np.append(part[name][moves], 0) for name in ("time", "length"))
        own, most, shape, ends = c["time"] - part["time"][k], length[motion[k]], (len(length), self.nb, 3), (c["kind"] & 8) != 0
        self.see("time", np.abs(own - np.where(ends, part["length"][k], np.where(touch[k], np.clip(own, 0, most), 0))), self.step, lambda i: at(k[i]))
        self.see("time", np.where(touch, np.abs(part["time"] - begins[motion]) + part["length"], 0), self.step, at)
        first, last, size, begun, ended = np.full((len(kind), self.nb), np.inf), np.full((len(kind), self.nb), -np.inf), np.zeros(shape[:2]), np.zeros(shape), np.zeros(shape)
        for body, sign in ((c["a"], -1), (c["b"], 1)):
            on, share = touch[k] & (body >= 0), (own / np.maximum(most, TINY))[:, None]
            for sums, values in ((begun, sign * (1 - share) * c["impulse"]), (ended, sign * share * c["impulse"]), (size, norm(c["impulse"]))):
                np.add.at(sums, (motion[k][on], body[on]), values[on])
            np.minimum.at(first, (k[on], body[on]), own[on]), np.maximum.at(last, (k[on], body[on]), own[on])
        self.see("time", np.where((last > first) & self.dynamic, last - first, 0), self.step, at)  # all that strikes a body does so at once
        spins = [apply(part["R"], apply(self.inertia, back(part["R"], part[name][..., 3:]))) for name in ("velocity_before", "velocity_after")]
        kicks, turned = [pile(shape, motion[on], part["load"][on, :, :3]) for on in (kind == "early", late)], spins[1] - spins[0]
        off = np.maximum(*(norm(apply(self.slides, kick - wanted)) for kick, wanted in zip(kicks, (begun, ended))))
        moments = [pile(shape, motion[on], turned[on]) for on in (touch, (kind == "early") | late)]
        where, speed = lambda i, body: f"touches of the motion at t = {begins[i]:.9g} s, '{self.names[body]}'", np.max(norm(part["velocity_before"][..., :3]), initial=0)
        turning, scale = norm(apply(self.turns, back(part["R"][0], moments[1] - moments[0]))), size + 1e-3 * self.m * speed
        self.see("touches", np.where(self.dynamic, off, 0), scale, where)
        self.see("touches", np.where(self.dynamic, turning, 0), norm(moments[0]) + self.radius * scale, where)
    def check_momentum(self, part, c, links, place, states, at):
        x, v, after, m, k = part["pose_before"][..., :3], part["velocity_before"], part["velocity_after"], self.m[:, None], c["part"]
        impulse, size = (sum(of(part[name]) for name in ("gravity", "load", "lock")) for of in (np.positive, np.abs))
        given, work, idle = (norm(part["velocity_solved"]) > 0) & ~self.dynamic, part["load"].copy(), norm(size) + norm(part["added"])
        paid = (norm(c["belt"]) > 0) | given[k, c["a"]] | given[k, c["b"]]  # prescribed motion and belts bring energy in
        def add(k, body, force, moment, arm, works):
            on, rows = body >= 0, np.concatenate([force, moment], -1)
            sizes = np.abs(rows) + np.concatenate([0 * force, np.abs(force) * norm(arm)[:, None]], -1)
            for sums, more, where in ((impulse, rows, on), (work, rows, on & works), (size, sizes, on)):
                np.add.at(sums, (k[where], body[where]), more[where])
        point, central = (c["point_a"] + c["point_b"]) / 2, (c["kind"] & 1)[:, None] == 1
        for body, sign in ((c["a"], -1), (c["b"], 1)):
            force, arm = sign * c["impulse"], np.where(central, place[0][k, body], point) - x[k, body]
            add(k, body, force, cross(arm, force) + sign * c["moment"], arm, paid)
        k, names = links["part"], self.f["links/name"].asstr()[:] if len(links["part"]) else []
        a, b = (self.f["links"][s][:][links["link"]] if len(k) else np.zeros(0, int) for s in "ab")
        for body, on in ((a, links["on_a"]), (b, links["on_b"])):
            add(k, body, on[:, :3], on[:, 3:], 0 * on[:, :3], body >= 0)
        apart, whole = x[k, b] - x[k, a], links["on_a"] + links["on_b"]  # all of it about the centre of mass of a
        whole[:, 3:] += cross(apart, links["on_b"][:, :3])
        scale, both, where = norm(links["on_a"]) + norm(links["on_b"]), (a >= 0) & (b >= 0), lambda i: f"{at(k[i])}, '{names[links['link'][i]]}'"
        none = np.where((a < 0) & (norm(links["on_a"]) > 0) | (b < 0) & (norm(links["on_b"]) > 0), np.inf, 0)  # acts on the world
        joint, arms = links["link"] < len(self.joint["a"]), norm(apart) + self.radius[a] + self.radius[b]
        self.see("third law", np.where(both, np.maximum(norm(whole[:, :3]), joint * norm(whole[:, 3:]) / (1 + arms)), none), scale, where)
        kept = (part["kind"] == "correction")[:, None, None]  # turns bodies as they are: what they have in their own axes stays
        turns = [back(r, w[..., 3:]) for r, w in ((part["R"], v), (part["R'"], after))]  # but what floats keeps its momenta as a whole:
        floats = kept[..., 0] & self.dynamic & (norm((after - v)[..., :3]) + norm(turns[1] - turns[0]) > 1e-9 * (norm(v) + norm(self.gravity) * self.step))
        (spun, spin), kept = (apply(self.inertia, turn) for turn in turns), kept & ~floats[..., None]
        way, to = np.where(kept, 0, part["pose_after"][..., :3] - x), np.where(kept[..., None], part["R"], part["R'"])
        angular = apply(to, spin) - apply(part["R"], spun) + cross(way, m * after[..., :3]) - impulse[..., 3:] - part["added"]
        linear, scale = m * (after - v)[..., :3] - impulse[..., :3], self.m * (norm(v[..., :3]) + norm(after[..., :3])) + norm(size[..., :3])
        groups, alone = [np.where(floats[..., None], values, 0).sum(1) for values in (linear, angular + cross(x, linear))], self.dynamic & ~floats
        self.see("momentum", np.where(alone, norm(linear), 0), scale, at), self.see("momentum", norm(groups[0]), np.where(floats, scale, 0).sum(1), at)
        self.see("way", place[2], norm(size[..., :3]) / np.maximum(self.m, TINY) + 1e-6 * norm(v[..., :3]) + 1e-9, at)
        push, scale = scale, norm(spin) + norm(spun) + norm(size[..., 3:]) + (norm(way) + 1e-3 * self.radius) * scale
        self.see("angular momentum", np.where(alone & (part["kind"] != "carried")[:, None], norm(angular), 0), scale, at)
        self.see("angular momentum", norm(groups[1]), np.where(floats, scale + norm(x) * push, 0).sum(1), at)
        lock = norm(apply(self.slides, part["lock"][..., :3])) / push, norm(apply(self.turns, back(part["R"], part["lock"][..., 3:]))) / scale
        bare = self.dynamic & ((part["kind"] != "carried")[:, None] | (norm(part["gravity"]) + norm(part["load"]) + norm(part["added"]) == 0))
        self.see("locks", np.where(bare, np.nan_to_num(np.maximum(*lock)), idle > 0), 1, at)
        self.see("added inertia", norm(part["added"]), scale, at)
        fallen = pile((len(set(part["frame"])), self.nb, 3), part["frame"] - part["frame"][:1], part["gravity"][..., :3])
        self.see("gravity", self.dynamic * norm(apply(self.slides, fallen - self.step * self.weight)), self.step * norm(self.weight), lambda i, body: f"frame {part['frame'][0] + i}, '{self.names[body]}'")
        kinetic = [(self.dynamic * (self.m * dot(w[..., :3], w[..., :3]) + dot(spins, back(r, w[..., 3:]))) / 2).sum(1)
                   for w, spins, r in ((v, spun, part["R"]), (after, spin, part["R'"]))]
        free = np.isin(part["kind"], ["impact", "projection", "touch"]) & (np.bincount(c["part"], paid, len(x)) == 0) & ~given.any(1)
        self.see("impact energy", np.where(free, kinetic[1] - kinetic[0], 0), kinetic[0] + 1e-12 * self.m.sum(), at)
        work = (dot(work, (v + after) / 2) * self.dynamic).sum(1)  # of loads, joints, springs and what moves as prescribed
        work[np.isin(part["kind"], ["touch", "early", "late"])] = 0
        for frame, state in zip(range(part["frame"][0], part["frame"][-1] + 1), states[1:]):
            mine, where = np.flatnonzero(part["frame"] == frame), lambda: f"frame {frame}"
            self.paid += work[mine].sum()
            energy = kinetic[1][mine[-1]] - (self.weight * state[0][:, :3])[self.dynamic].sum() - self.paid
            self.most, self.low, self.moved = max(self.most, kinetic[1][mine[-1]], self.moved), min(self.low, energy), self.moved + abs(work[mine].sum())
            self.see("energy", energy - self.low, self.most + 1e-2 * norm(self.weight).sum() * self.size, where), self.see("frames", abs(self.f["energy"][frame, 0] - kinetic[1][mine[-1]]), self.most + TINY, where)
    def check_contacts(self, part, c, place):
        k, a, b, n, force, mu, h = c["part"], c["a"], c["b"], c["normal"], c["impulse"], c["friction"], part["length"][c["part"]]
        point, ordinary, foreseen = (c["point_a"] + c["point_b"]) / 2, (c["kind"] & 1) == 0, (c["kind"] & 4) != 0
        where = lambda i: (f"t = {part['time'][k[i]]:.9g} s ({part['kind'][k[i]]}), '{self.names[a[i]]}' and '{self.names[b[i]]}' "
                           f"at ({', '.join(f'{p:.4g}' for p in point[i])})")
        apart = c["point_b"] - c["point_a"] - c["gap"][:, None] * n
        off = np.where(ordinary, np.where((c["kind"] & 32) == 0, norm(apart), np.abs(dot(apart, n))), 0)  # 32: carried here from the end
        self.see("geometry", np.maximum(off, 1e3 * np.abs(norm(n) - 1) * self.size), self.size, where)
        ends, own_way = (c["kind"] & 8) != 0, (c["kind"] & 16) != 0  # of what rolls: acts at the end; its row knows the end
        inverse, slip, h, last = np.zeros((len(k), 3, 3)), [c["belt"].copy() for _ in range(3)], np.where(ends, 0, h), ends[:, None]
        for body, sign in ((a, -1), (b, 1)):
            r = np.where(last[..., None], part["R'"][k, body], place[1][k, body])
            arm, rows = point - np.where(last, part["pose_after"][k, body, :3], place[0][k, body]), np.zeros((len(k), 3, 6))
            rows[:, :, :3] = np.eye(3)
            rows[:, :, 3:] = np.stack([back(r, cross(arm, np.broadcast_to(e, arm.shape))) for e in np.eye(3)], 1)
            inverse += np.einsum("kij,kjl,kml->kim", rows, self.mobility[body], rows)
            for speed, name in zip(slip, ("solved", "before", "after")):
                w = np.where(last, part["velocity_after"][k, body], part["velocity_" + name][k, body])
                speed += sign * (w[:, :3] + cross(w[:, 3:], arm))
        own, across = (np.maximum(one, TINY) for along in [dot(n, apply(inverse, n))] for one in (along, (np.trace(inverse, axis1=1, axis2=2) - along) / 2))
        friction, slides = force - (pushes := dot(n, force))[:, None] * n, slip[0] - (speed := dot(n, slip[0]))[:, None] * n
        scale = sum(norm(w) for w in slip) + own * norm(force) + norm(self.gravity) * self.step + 1e-6
        scale *= np.clip(self.relative[part["frame"][k]] * 1e7, 1, 1e3)  # where a step says itself that it is less exact
        law, moving = ordinary & (part["moves"] | np.isin(part["kind"], ["impact", "touch"]))[k], ordinary & part["moves"][k]
        bent = np.where((self.gamma < 1) & moving, 2 * norm(self.gravity) * self.step + 1e-5 * self.size / self.step, 0)  # rows in the middle: gaps of the start are corrected by so much
        self.see("approach", np.where(law & ~own_way & ~foreseen, -speed - bent - np.where(h > 0, np.maximum(c["gap"], 0) / np.maximum(h, TINY), 0), 0), scale, where)
        self.see("pull", np.where(law, -pushes * own, 0), scale, where), self.see("cone", np.where(law, (norm(friction) - mu * pushes * (1 if self.cone else 2 ** 0.5)) * own, 0), scale, where)
        rest = np.where(c["asked"] != 0, np.abs(speed - c["asked"]), np.minimum(np.abs(speed), own * np.abs(pushes)))
        rigid, more = moving & (text(self.f.attrs["scheme"]) != "spook"), np.where((pushes > 0) & ~own_way, c["asked"] - bent - np.maximum(-c["gap"], 0) / self.step, 0)  # than its overlap needs
        self.see("complementarity", np.where((c["asked"] != 0) & ~(part["moves"][k] & (pushes > 0)), np.inf, np.where(rigid, np.maximum(rest, more), 0)), scale, where)
        held, same = friction - slides / across[:, None], moving & ~own_way & ((c["kind"] & 2) == 0) & self.cone
        most = np.minimum(1, mu * np.maximum(pushes, 0) / np.maximum(norm(held), TINY))[:, None]
        self.see("slip opposed", np.where(same, norm(slides + across[:, None] * (held - most * held)), 0), scale, where)
        self.skip({"moments on what lands, of what carries it until then": (part["kind"] == "carried").sum(), "contacts on the ways of centres of mass": (~ordinary).sum(), "how far contacts close whose rows know the end of their way": foreseen.sum(),
                   "directions of friction that is not the same in all directions": (moving & ~same & ~own_way).sum(), "how rows of what rolls push, which have the slip of both ends": own_way.sum(), "tangents of points found at the end": ((c["kind"] & 32) != 0).sum(),
                   "how far compliant contacts of spook push": (moving & ~rigid).sum(), "limits of spinning and rolling friction": (norm(c["moment"]) > 0).sum(), "how much impacts give back": (law & ~moving & (pushes > 0)).sum()})
        known = mu if self.by_slip else [self.mu.setdefault(pair, own_mu) for *pair, own_mu in zip(c["shape_a"].tolist(), c["shape_b"].tolist(), mu.tolist()) for pair in [tuple(pair)]]
        self.see("friction kept", np.where(ordinary, np.abs(mu - np.array(known)), 0), 1, where)
    def check_frames(self, first, last, part, c, links):
        f, n, nj, offset = self.f, self.nb + 1, len(self.joint["a"]), self.f["contacts/offset"][first : last + 1]
        rows, frames = slice(offset[0], offset[-1]), np.repeat(np.arange(first, last), np.diff(offset))
        key = [(frame * n + a.astype(int) + 1) * n + b + 1 for frame, a, b in
               ((frames, f["contacts/a"][rows], f["contacts/b"][rows]), (part["frame"][c["part"]], c["a"], c["b"]))]
        keys, place = np.unique(np.concatenate(key), return_inverse=True)
        size = pile(len(keys), place, norm(values := np.concatenate([f["contacts/impulse"][rows], -c["impulse"]])))
        self.see("frames", norm(pile((len(keys), 3), place, values)), np.maximum(size, 1e-6 * np.max(size, initial=0)), lambda i: f"frame {keys[i] // n // n}, contacts")
        mine, told = links["link"] < nj, f["joint/reaction"][first:last, :, :3]
        on = np.where((self.f["links/b"][:][links["link"]] >= 0)[:, None], links["on_b"], -links["on_a"]) if nj else links["on_b"]
        force = pile((last - first, nj, 3), (part["frame"][links["part"]][mine] - first, links["link"][mine]), on[mine, :3] / self.step)
        off, scale = np.zeros((last - first, n, 3)), np.zeros((last - first, n))  # of bodies: redundant joints share otherwise in frames
        for body, sign in ((self.joint["a"], -1), (self.joint["b"], 1)):
            np.add.at(off, (slice(None), body), sign * (force - told)), np.add.at(scale, (slice(None), body), norm(told))
        off, scale = norm(off)[:, :-1] * self.dynamic, scale[:, :-1]
        self.see("frames", off, scale + 1e-6 * np.max(scale, initial=TINY), lambda i, j: f"frame {first + i}, joints of '{self.names[j]}'")
    def begin_places(self):
        f, s, n = self.f["links"], self.f["shapes"], len(self.f["names/joints"])
        self.joint = {name: f[name][:n] for name in ("a", "b", "anchor_a", "anchor_b", "axis")}
        self.joint["name"], self.joint["kind"], self.reference = f["name"].asstr()[:n], np.array([text(kind) for kind in f.attrs["kinds"]])[f["kind"][:n]], None
        self.rigid = np.isin(self.joint["kind"], ["ball", "hinge", "slider", "fixed", "rod"]) & (f["compliance"][:n] == 0)
        self.skip({f"whether joints of kind '{kind}' hold": (~self.rigid & (self.joint["kind"] == kind)).sum() for kind in self.joint["kind"]} |
                  {"ends of ranges, motors and friction of joints": n})
        kind, solid = np.array([text(kind) for kind in s.attrs["kinds"]])[s["kind"][:]], s["visual_only"][:] == 0
        known = (all_known := solid & np.isin(kind, ("sphere", "disk", "plane") + (() if self.f.attrs["planar"] else ("box",)))) & (all_known.sum() <= 2000)
        self.skip({f"overlaps of shapes of kind '{each}'": (solid & ~known & (kind == each)).sum() for each in kind})
        self.shape = {name: s[name][:][known] for name in ("body", "pose", "radius", "filter")} | {"name": self.names[s["body"][:][known]]}
        self.rank = np.where(kind == "plane", 0, np.where(kind == "box", 1, 2))[known]
        self.half = np.where((self.rank == 1)[:, None], s["size"][:][known] / 2, self.shape["radius"][:, None])
        i, j = (np.argsort(self.rank, kind="stable")[k] for k in np.triu_indices(len(self.rank), 1))  # planes, boxes, balls
        a, b, group, bits = self.shape["body"][i], self.shape["body"][j], self.f["bodies/group"][:], self.shape["filter"]
        may = (a != b) & (self.dynamic[a] | self.dynamic[b]) & ((group[a] != group[b]) | (group[a] < 0))
        may &= (((bits[i, 0] & bits[j, 1]) | (bits[j, 0] & bits[i, 1])) != 0) & ~np.isin(np.minimum(a, b) * self.nb + np.maximum(a, b), self.f["bodies/pairs_without_contact"][:].astype(int) @ [self.nb, 1])
        self.pairs, self.bound = (i[may], j[may]), np.where(self.rank == 0, np.inf, np.where(self.rank == 1, norm(self.half), self.half[:, 0]))
    def check_places(self, k):
        j, r = self.joint, rotation((pose := np.vstack([self.f["pose"][k], [0, 0, 0, 1, 0, 0, 0]]))[:, 3:])
        if self.rigid.any():
            arms, axis, turn = [apply(r[j[s]], j["anchor_" + s]) for s in "ab"], apply(r[j["a"]], j["axis"]), np.swapaxes(r[j["a"]], 1, 2) @ r[j["b"]]
            gap = pose[j["b"], :3] + arms[1] - pose[j["a"], :3] - arms[0]
            length, turn0 = self.reference = self.reference or (norm(gap), turn)  # as the recording begins
            off = np.where(j["kind"] == "slider", norm(gap - dot(gap, axis)[:, None] * axis), np.abs(norm(gap) - np.where(j["kind"] == "rod", length, 0)))
            bodies, twist = np.append(self.radius, 0)[j["a"]] + np.append(self.radius, 0)[j["b"]] + 1e-3 * self.size, turn @ np.swapaxes(turn0, 1, 2)
            size, where = norm(arms[0]) * (j["a"] >= 0) + norm(arms[1]) * (j["b"] >= 0) + bodies + length, lambda i: f"frame {k}, '{j['name'][i]}'"
            bent = np.isin(j["kind"], ["hinge", "slider", "fixed"]) * np.where(j["kind"] == "hinge", norm(apply(twist, j["axis"]) - j["axis"]), norm((twist - np.eye(3)).reshape(-1, 9)) / 2 ** 0.5)
            self.see("joints", np.where(self.rigid, np.maximum(off / size, bent), 0), 1, where)
        r, (i, j) = r[self.shape["body"]], self.pairs
        x, turn = pose[self.shape["body"], :3] + apply(r, self.shape["pose"][:, :3]), r @ rotation(self.shape["pose"][:, 3:])
        i, j = (pair[near] for near in [norm(x[i] - x[j]) < self.bound[i] + self.bound[j]] for pair in (i, j))
        least = np.maximum(np.minimum(np.where(self.rank[i] == 0, np.inf, self.half[i].min(-1)), self.half[j].min(-1)), 1e-6 * self.size)
        self.see("overlap", self.calc_depth(i, j, x, turn), least, lambda p: f"frame {k}, '{self.shape['name'][i[p]]}' and '{self.shape['name'][j[p]]}'")
    def calc_depth(self, i, j, x, turn):
        d, n, mine, other = x[j] - x[i], turn[i][:, :, 2], self.half[i], self.half[j]
        in_plane = np.where(self.rank[j] == 1, dot(np.abs(back(turn[j], n)), other), other[:, 0]) - dot(n, d)
        local, a, b = back(turn[i], d), np.swapaxes(turn[i], 1, 2), np.swapaxes(turn[j], 1, 2)
        ball_in_box = other[:, 0] + np.maximum((mine - np.abs(local)).min(-1), 0) - norm(local - np.clip(local, -mine, mine))
        axes = np.concatenate([a, b, cross(a[:, :, None], b[:, None]).reshape(-1, 9, 3)], 1)  # that may separate boxes
        length, reach = norm(axes), sum(np.abs(axes @ np.swapaxes(t, 1, 2)) @ half[..., None] for t, half in ((a, mine), (b, other)))
        boxes = np.where(length > 1e-6, (reach - np.abs(axes @ d[..., None]))[..., 0] / np.maximum(length, 1e-6), np.inf).min(1)
        return np.select([self.rank[i] == 0, self.rank[j] == 1, self.rank[i] == 1], [in_plane, boxes, ball_in_box], mine[:, 0] + other[:, 0] - norm(d))

def main(words: "list[str]") -> int:
    parser = argparse.ArgumentParser(prog="slipstick recheck", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("recording", metavar="RUN.h5", help="made with 'slipstick run SCENE -o RUN.h5 --all'")
    path = parser.parse_args(words).recording
    try:
        with h5py.File(path, "r") as file:
            good, ended = (check := Recheck(file)).run(), text(file.attrs.get("ended", "killed, or it goes on"))
    except (OSError, KeyError, ValueError, IndexError, TypeError) as error:
        print(f"slipstick recheck: {path}: {' '.join(str(error).split())}", file=sys.stderr)
        return 2
    print(f"{path}: {check.n} frames, {check.offset[check.n]} parts of steps, {check.nb} bodies; the run: {ended}")
    for (name, (value, place)), (limit, unit) in zip(check.worst.items(), LIMITS.values()):
        print(f"{'ok  ' if value <= limit else 'FAIL'} {name:16} {value:8.1e} of {unit:9} (limit {limit:.0e})  {place}")
    print("It cannot see:", *(f"\n  {what} ({count})" for what, count in sorted(check.unseen.items())))
    return 0 if good else 1

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
