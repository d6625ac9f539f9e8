"""The rows of the matrix: small scenes, each with one kind of joint, drive, spring, limit, coupling, load or contact at work.

A cell is (group, name, scene, marks). Marks say what a scheme's promise depends on:
  driven    motors, dry friction, bounds, contacts: what docs/schemes.md excepts from second order with fixed steps
  turning   springs on axes whose axis turns
  lossy     the reference itself loses or gains energy: energies are held against its own at the time `lossy`
  events    impacts, sticking: times of events are those of a step where they are not located
"""
from reference_flow import consistent

A = {"name": "a", "mass": 1.0, "inertia": [0.02, 0.03, 0.04], "position": [0.5, 0, 0]}
B = {"name": "b", "mass": 0.7, "inertia": [0.01, 0.02, 0.015], "position": [1.2, 0, 0]}
C = {"name": "c", "mass": 0.5, "inertia": [0.01, 0.01, 0.02], "position": [0.5, 1, 0]}
FLOOR = {"name": "floor", "fixed": True, "shapes": [{"plane": {"normal": [0, 0, 1], "offset": 0}}]}
PIN = {"ball": {"name": "pin", "between": ["world", "a"], "at": [0, 0, 0]}}
Z, Y, X = [0, 0, 1], [0, 1, 0], [1, 0, 0]
TILTED = [0.6, 0, 0.8]
FAR = {"gravity": [0, 0, 0]}  # for what would fall for twenty seconds: 2 km, beside which no energy of a joint is seen


class Cell:
    def __init__(self, group, name, scene, lossy=0, planar=False, time=1.0, refuse=None, **marks):
        self.group, self.name, self.scene = group, name, scene
        self.lossy, self.time, self.planar, self.marks = lossy, time, planar, marks

    def __repr__(self):
        return f"{self.group}: {self.name}"


def scene(bodies, joints, forces=(), **more):
    return {"slipstick": 1, "gravity": [0, 0, -9.81], "bodies": bodies, "joints": list(joints), "forces": list(forces), **more}


def joint(kind, between, **keys):
    return {kind: {"name": "j", "between": list(between), **keys}}


def joint_keys(at):
    """Every kind that holds positions, with its keys, as a joint at a point."""
    p = [at, [at[0] + 0.3, 0, 0.1]]
    return {
        "ball": ("ball", {"at": at}),
        "hinge": ("hinge", {"at": at, "axis": Y}),
        "hinge, axis along": ("hinge", {"at": at, "axis": TILTED}),
        "slider": ("slider", {"at": at, "axis": TILTED}),
        "fixed": ("fixed", {"at": at}),
        "rod": ("rod", {"at": p, "length": float((0.09 + 0.01)**0.5)}),
        "cylindrical": ("cylindrical", {"at": at, "axis": TILTED}),
        "screw": ("screw", {"at": at, "axis": TILTED, "pitch": 0.4}),
        "universal": ("universal", {"at": at, "axis": Z, "axis_b": Y}),
        "planar": ("planar", {"at": at, "normal": Y, "x_axis": X}),
        "point on line": ("point_on_line", {"at": at, "axis": TILTED}),
        "in plane": ("in_plane", {"at": at, "normal": TILTED}),
        "generic x rz": ("generic", {"at": at, "axis": Z, "x_axis": X, "free": ["x", "rz"]}),
        "generic y z": ("generic", {"at": at, "axis": Z, "x_axis": X, "free": ["y", "z"]}),
        "generic rx ry rz x": ("generic", {"at": at, "axis": Z, "x_axis": X, "free": ["rx", "ry", "rz", "x"]}),
        "wheel": ("wheel", {"at": at, "axis": Y, "up": Z}),
        "wheel, steered": ("wheel", {"at": at, "axis": Y, "up": Z, "steer": {}, "suspension": {"stiffness": 400}}),
    }


def joint_cells():
    for name, (kind, keys) in joint_keys([0, 0, 0]).items():
        if kind != "fixed":
            yield Cell("joint to the world", name, consistent(scene([A], [joint(kind, ["world", "a"], **keys)]), 1))
    for name, (kind, keys) in joint_keys([0.9, 0, 0]).items():
        leaves = kind in ("slider", "cylindrical", "screw", "planar", "point_on_line", "in_plane", "generic")
        yield Cell("joint in a chain", name, consistent(scene([A, B], [PIN, joint(kind, "ab", **keys)], **(FAR if leaves else {})), 2),
                   axis="stiffness" in str(keys))
    for name, (kind, keys) in joint_keys([0.9, 0, 0]).items():
        yield Cell("joint in flight", name, consistent(scene([A, B], [joint(kind, "ab", **keys)], **FAR), 3, size=3),
                   axis="stiffness" in str(keys), flight=True)
    rope = {"at": [[0, 0, 0], [0.6, 0, -0.8]], "length": 1.0}
    bob = dict(A, position=[0.6, 0, -0.8], velocity=[0, 2.4, 0])
    yield Cell("joint to the world", "rope, taut", scene([bob], [joint("rope", ["world", "a"], **rope)]), rope=True, keeps=True)
    yield Cell("joint to the world", "rope, taut, fast", scene([dict(bob, velocity=[-0.8, 4.4, -0.6])], [joint("rope", ["world", "a"], **rope)]), rope=True, keeps=True)
    yield Cell("joint to the world", "rope, slack", scene([dict(bob, velocity=[-0.2, 0.4, 4])], [joint("rope", ["world", "a"], **{**rope, "length": 3})]), time=0.5, lossy=0.5)
    fast = consistent(scene([A, B], [PIN, joint("hinge", "ab", at=[0.9, 0, 0], axis=Y)]), 4, size=6)
    yield Cell("joint in a chain", "hinge, fast", fast, time=0.5)
    far = consistent(scene([dict(A, center_of_mass=[0.1, 0.05, -0.1], orientation={"axis": [1, 2, 2], "angle_deg": 40}), B],
                           [PIN, joint("universal", "ab", at=[0.9, 0, 0], axis=Z, axis_b=Y)]), 5)
    yield Cell("joint in a chain", "universal, centre of mass aside", far)
    point = scene([dict(A, lock=["rotation"]), B], [joint("rod", ["world", "a"], at=[[0, 0, 0], [0.5, 0, 0]], length=0.5),
                                                    {"ball": {"name": "k", "between": ["a", "b"], "at": [0.9, 0, 0]}}])
    yield Cell("body", "lock rotation", consistent(point, 6))
    yield Cell("body", "no weight", consistent(scene([dict(A, gravity_scale=0), B], [PIN, joint("hinge", "ab", at=[0.9, 0, 0], axis=Y)]), 7))
    yield Cell("body", "free turn", consistent(scene([A], []), 8, size=4), flight=True, alone=True)


def coupling_cells():
    arms = [A, dict(B, position=[2.4, 0, 0.3])]
    hinges = [{"hinge": {"name": "j0", "between": ["world", "a"], "at": [0, 0, 0], "axis": Y}},
              {"hinge": {"name": "j1", "between": ["world", "b"], "at": [2, 0, 0], "axis": Y}}]
    slide = {"slider": {"name": "j1", "between": ["world", "b"], "at": [2, 0, 0], "axis": TILTED}}
    gear = lambda **keys: {"gear": {"name": "g", "joints": ["j0", "j1"], **keys}}
    yield Cell("coupling", "gear", scene(arms, hinges + [gear(ratio=-1.5)]))
    yield Cell("coupling", "gear polynomial", scene(arms, hinges + [gear(polynomial=[0, 0.5, 0.3])]))
    yield Cell("coupling", "gear polynomial, cubic", scene(arms, hinges + [gear(polynomial=[0, 1, 0.2, -0.1])]))
    yield Cell("coupling", "rack", scene(arms, [hinges[0], slide, {"rack": {"name": "g", "joints": ["j0", "j1"], "radius": 0.3}}]))
    third = [{"hinge": {"name": "j2", "between": ["world", "c"], "at": [0, 1, 0], "axis": Y}}]
    yield Cell("coupling", "differential", consistent(scene(arms + [C], hinges + third + [{"differential": {"name": "g", "joints": ["j0", "j1", "j2"], "ratio": 1.4}}]), 3))
    two = [{"hinge": {"name": "j0", "between": ["base", "a"], "at": [0.1, 0, 0], "axis": Y}},
           {"hinge": {"name": "j1", "between": ["base", "b"], "at": [0.8, 0, 0], "axis": [0, 0.6, 0.8]}}]
    base = {"name": "base", "mass": 2.0, "inertia": [0.1, 0.1, 0.15], "position": [0.4, 0, 0.1]}
    yield Cell("coupling", "gear in flight", consistent(scene([base, A, B], two + [gear(ratio=2)], **FAR), 5, size=2), flight=True)
    yield Cell("coupling", "gear polynomial in flight", consistent(scene([base, A, B], two + [gear(polynomial=[0, 0.5, 0.3])], **FAR), 5, size=2), flight=True)
    pin = {"ball": {"name": "pin", "between": ["world", "base"], "at": [0, 0, 0]}}
    yield Cell("coupling", "gear on a swinging base", consistent(scene([base, A, B], [pin] + two + [gear(ratio=2)]), 6))
    yield Cell("coupling", "gear polynomial on a swinging base", consistent(scene([base, A, B], [pin] + two + [gear(polynomial=[0, 0.5, 0.3])]), 6))
    slid = [two[0], {"slider": {"name": "j1", "between": ["base", "b"], "at": [0.8, 0, 0], "axis": X}}]
    yield Cell("coupling", "rack on a swinging base", consistent(scene([base, A, B], [pin] + slid + [{"rack": {"name": "g", "joints": ["j0", "j1"], "radius": 0.05}}]), 6))
    mixed = [{"cylindrical": {"name": "j0", "between": ["world", "a"], "at": [0, 0, 0], "axis": X}}, hinges[1]]
    yield Cell("coupling", "gear, slide of a cylindrical joint", scene(arms, mixed + [{"gear": {"name": "g", "joints": ["j0.slide", "j1"], "ratio": 0.4}}]))


def spring_cells():
    pinned = lambda kind, seed=2, **keys: consistent(scene([A, B], [PIN, joint(kind, "ab", **keys)]), seed)
    hinge = {"at": [0, 0, 0], "axis": Y}
    to_world = lambda kind, **keys: scene([A], [joint(kind, ["world", "a"], **keys)])
    yield Cell("spring", "on a hinge", to_world("hinge", **hinge, stiffness=20), keeps=True, axis=True)
    yield Cell("spring", "on a hinge, wound", to_world("hinge", **hinge, stiffness=5, rest=7.0), keeps=True, axis=True)
    yield Cell("spring", "on a hinge, damped", to_world("hinge", **hinge, stiffness=20, damping=0.4), lossy=10, axis=True)
    yield Cell("spring", "damper on a hinge", to_world("hinge", **hinge, damping=0.3), lossy=10, axis=True)
    yield Cell("spring", "on a hinge between moving bodies", pinned("hinge", at=[0.9, 0, 0], axis=Y, stiffness=15), axis=True)
    yield Cell("spring", "on a slider", to_world("slider", axis=Z, stiffness=300), keeps=True, axis=True)
    yield Cell("spring", "on a slider, damped", to_world("slider", axis=Z, stiffness=300, damping=2), lossy=10, axis=True)
    yield Cell("spring", "on a slider between moving bodies", pinned("slider", axis=X, stiffness=200), axis=True)
    yield Cell("spring", "on both axes of a universal joint", pinned("universal", at=[0.9, 0, 0], axis=Z, axis_b=Y, first={"stiffness": 8}, second={"stiffness": 12}), axis=True)
    yield Cell("spring", "on a cylindrical joint", pinned("cylindrical", at=[0.9, 0, 0], axis=TILTED, slide={"stiffness": 200}, turn={"stiffness": 3}), axis=True)
    yield Cell("spring", "on a planar joint", pinned("planar", at=[0.9, 0, 0], normal=Y, x_axis=X, x={"stiffness": 200}, y={"stiffness": 150}, turn={"stiffness": 5}), axis=True)
    yield Cell("spring", "on a rod", scene([dict(A, velocity=[0, 0, 1.5])], [joint("rod", ["world", "a"], at=[[0, 0, 1], [0.6, 0, 0]], length=1.2, stiffness=300, rest=1.2)]), axis=True)
    spring = lambda **keys: {"spring": {"between": ["world", "a"], "at": [[0, 0, 1], [0.6, 0, 0]], **keys}}
    loose = [dict(A, velocity=[0, 1, 0], angular_velocity=[1, 0, 2])]
    yield Cell("spring", "between points", scene(loose, [], [spring(stiffness=100, rest_length=1.0)]))
    yield Cell("spring", "between points, without length", scene(loose, [], [spring(stiffness=60, rest_length=0)]))
    yield Cell("spring", "between points, damped", scene(loose, [], [spring(stiffness=100, rest_length=1.0, damping=3)]), lossy=5)
    yield Cell("spring", "damper between points", scene(loose, [], [{"damper": {"between": ["world", "a"], "at": [[0, 0, 1], [0.6, 0, 0]], "damping": 4}}]), lossy=2)
    pair = consistent(scene([A, B], [], [{"spring": {"between": ["a", "b"], "at": [[0.6, 0, 0.1], [1.1, 0, 0]], "stiffness": 80, "rest_length": 0.4}}], **FAR), 4, size=2)
    yield Cell("spring", "between free bodies", pair, flight=True)
    hung = consistent(scene([A, B], [PIN, joint("hinge", "ab", at=[0.9, 0, 0], axis=Y)], [{"spring": {"between": ["world", "b"], "at": [[1.2, 0, 1], [1.3, 0, 0]], "stiffness": 60, "rest_length": 0.9}}]), 2)
    yield Cell("spring", "at a chain", hung)
    strut = scene([dict(A, velocity=[0, 1, 0])], [], [{"spring": {"between": ["world", "a"], "at": [[0.5, 0, 1], [0.5, 0, 0]], "stiffness": 1e5, "rest_length": 1.0 - 9.81e-5}}])
    yield Cell("spring", "stiff, as a rod", strut, stiff=True, time=0.4)
    wagon = {"name": "base", "mass": 5.0, "inertia": [0.3, 0.3, 0.4], "position": [0, 0, 0.5]}
    rail = {"slider": {"name": "rail", "between": ["world", "base"], "axis": Z}}
    yield Cell("spring", "suspension of a wheel", scene([wagon, dict(A, position=[0, 0.5, 0])], [rail, joint("wheel", ["base", "a"], at=[0, 0.5, 0], axis=Y, up=Z, suspension={"stiffness": 600})],
                                                       [{"spring": {"between": ["world", "a"], "at": [[0, 0.5, -0.5], [0, 0.5, 0]], "stiffness": 900}}]))


def rotor_cells():
    yield Cell("armature", "hinge to the world", scene([A], [joint("hinge", ["world", "a"], at=[0, 0, 0], axis=Y, armature=0.3)]))
    yield Cell("armature", "slider to the world", scene([A], [joint("slider", ["world", "a"], axis=TILTED, armature=0.6)]))
    chain = lambda kind, seed=2, **keys: consistent(scene([A, B], [PIN, joint(kind, "ab", **keys)]), seed)
    yield Cell("armature", "hinge in a chain", chain("hinge", at=[0.9, 0, 0], axis=Z, armature=0.15))
    yield Cell("armature", "slider in a chain", chain("slider", axis=X, armature=0.5, stiffness=100), axis=True)
    yield Cell("armature", "universal in a chain", chain("universal", at=[0.9, 0, 0], axis=Z, axis_b=Y, first={"armature": 0.05}, second={"armature": 0.08}))
    for name, axis in (("hinge in flight", Y), ("hinge in flight, axis along", TILTED)):
        yield Cell("armature", name, consistent(scene([A, B], [joint("hinge", "ab", at=[0.9, 0, 0], axis=axis, armature=0.1)], **FAR), 3, size=3), flight=True)
    yield Cell("armature", "motor torque in a chain", chain("hinge", at=[0.9, 0, 0], axis=Y, armature=0.15, motor={"torque": "sin(3*t)"}), lossy=1, driven=True)
    yield Cell("armature", "slider in flight", consistent(scene([A, B], [joint("slider", "ab", at=[0.9, 0, 0], axis=TILTED, armature=0.4)], **FAR), 3, size=2), flight=True)
    yield Cell("armature", "both axes of a cylindrical joint in flight", consistent(scene([A, B], [joint("cylindrical", "ab", at=[0.9, 0, 0], axis=TILTED, slide={"armature": 0.4}, turn={"armature": 0.1})], **FAR), 4, size=2), flight=True)
    base = {"name": "base", "mass": 2.0, "inertia": [0.1, 0.1, 0.15], "position": [0.4, 0, 0.1]}
    arms = [{"ball": {"name": "pin", "between": ["world", "base"], "at": [0, 0, 0]}},
            {"hinge": {"name": "j0", "between": ["base", "a"], "at": [0.1, 0, 0], "axis": Y, "armature": 0.2}},
            {"hinge": {"name": "j1", "between": ["base", "b"], "at": [0.8, 0, 0], "axis": [0, 0.6, 0.8], "armature": 0.05}}]
    yield Cell("armature", "two rotors on one body", consistent(scene([base, A, B], arms), 6))
    yield Cell("armature", "two rotors with a gear", consistent(scene([base, A, B], arms + [{"gear": {"name": "g", "joints": ["j0", "j1"], "ratio": 2}}]), 6), coupled=True)
