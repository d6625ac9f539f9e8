"""The rows of the matrix, second part: drives, loads, dry friction, ranges, contacts, prescribed bodies, rows that hold speeds."""
from cells import A, B, C, FLOOR, PIN, TILTED, X, Y, Z, Cell, joint, scene
from reference_flow import consistent

HINGE = {"at": [0, 0, 0], "axis": Y}


def arm(kind="hinge", bodies=(A,), forces=(), **keys):
    keys = {**(HINGE if kind == "hinge" else {"axis": Z}), **keys}
    return consistent(scene(list(bodies), [joint(kind, ["world", "a"], **keys)], forces), 0, size=0)


def chain(kind, seed=2, forces=(), **keys):
    return consistent(scene([A, B], [PIN, joint(kind, "ab", **keys)], forces), seed)


def drive_cells():
    def pair(name, motor, weak=None, lossy=2, **marks):
        yield Cell("drive", name + ", hinge", arm(motor=motor), lossy=lossy, driven=True, **marks)
        yield Cell("drive", name + ", slider", arm("slider", motor=motor), lossy=lossy, driven=True, **marks)
        yield Cell("drive", name + ", in a chain", chain("hinge", at=[0.9, 0, 0], axis=Y, motor=weak or motor), lossy=1, driven=True, **marks)
    yield from pair("speed(t)", {"speed": "1 + sin(2*t)", "max": 1e4})
    yield from pair("position(t)", {"position": "0.2*t + 0.1*sin(3*t)", "max": 1e4, "time": 0.2})
    yield from pair("position(t), limited speed", {"position": "2*t", "max": 1e4, "time": 0.1, "max_speed": 0.7})
    yield from pair("position with stiffness", {"position": 0.4, "stiffness": 60, "damping": 3})
    yield from pair("position(t) with stiffness, undamped", {"position": "0.4*sin(2*t)", "stiffness": 60, "damping": 0})
    yield from pair("speed with damping", {"speed": "sin(2*t)", "damping": 3})
    yield from pair("torque(t)", {"torque": "4*sin(3*t) + 2"}, {"torque": "0.3*sin(3*t) + 0.1"})
    yield from pair("torque(t) at its bound", {"torque": "20*t", "max": 6}, {"torque": "t", "max": 0.3})
    yield from pair("speed, at its bound", {"speed": 3, "max": 7}, {"speed": 3, "max": 0.3}, events=True)
    free = [dict(A, velocity=[0.5, 0, 0], angular_velocity=[0, 0, 1])]
    yield Cell("drive", "velocity motor at its bound", scene(free, [joint("velocity_motor", ["world", "a"], axis=X, speed=5, max=2)]), lossy=1, driven=True)
    yield Cell("drive", "velocity motor, turn", scene(free, [joint("velocity_motor", ["world", "a"], axis=Z, speed=30, max=0.3, turn=True)]), lossy=1, driven=True)
    rod = joint("rod", ["world", "a"], at=[[0, 0, 1], [0.6, 0, 0]], length=1.1661903789690602, motor={"torque": "10 + 4*sin(3*t)"})
    yield Cell("drive", "cylinder with force(t)", scene([A], [rod]), lossy=1, driven=True)
    steered = {"suspension": {"stiffness": 600}, "steer": {"motor": {"torque": "0.3*cos(4*t)"}}}
    yield Cell("drive", "wheel, steer and spin", consistent(scene([A, B], [PIN, joint("wheel", "ab", at=[0.9, 0, 0], axis=Y, up=Z, motor={"torque": "0.2*t"}, **steered)]), 2), lossy=1, driven=True, axis=True)


def load_cells():
    load = lambda **keys: {"load": {"body": "a", **keys}}
    free = [dict(A, velocity=[1, 0, 3], angular_velocity=[1, 2, -1])]
    f, tau = ["3*sin(4*t)", "2*t", 1], [0, "0.1*cos(3*t)", "0.05*t"]
    for where, make in (("in flight", lambda *g: scene(free, [], g)), ("on a hinge", lambda *g: arm(forces=g)),
                        ("on a ball joint", lambda *g: consistent(scene([A, B], [PIN, joint("hinge", "ab", at=[0.9, 0, 0], axis=Y)], g), 2))):
        marks = {"flight": where == "in flight", "loaded": True, "lossy": 1}
        yield Cell("load", f"force(t) {where}", make(load(force=f)), **marks)
        yield Cell("load", f"force(t) off the centre, {where}", make(load(force=f, at=[0.1, 0.2, 0])), **marks)
        yield Cell("load", f"torque(t) {where}", make(load(torque=tau)), **marks)
        yield Cell("load", f"of the body, {where}", make(load(force=f, torque=tau, at=[0, 0.1, 0], frame="body")), **marks)
    steady = scene(free, [], [load(force=[2, 1, 0], at=[0, 0.1, 0])], input={"body": "a", "force": [0.0, 0.5, 1.0]})
    yield Cell("input", "constant, in flight", steady, lossy=1, flight=True, loaded=True)
    yield Cell("input", "constant, on a hinge", dict(arm(), input={"body": "a", "force": [1.0, 0, 2.0]}), lossy=1, loaded=True)


def friction_cells():
    fast = [dict(A, angular_velocity=[0, 3, 0], velocity=[0, 0, -1.5])]
    flat = lambda *bodies, **keys: dict(consistent(scene(list(bodies), [joint("hinge", ["world", "a"], **HINGE, **keys)]), 0, size=0))
    yield Cell("dry friction", "hinge, slips", flat(*fast, friction=0.4), lossy=0.3, time=0.3, driven=True)
    yield Cell("dry friction", "hinge, slips and turns round", flat(*fast, friction=0.8), lossy=3, driven=True, events=True)
    still = flat(*fast, friction=3)
    still["gravity"] = [0, 0, 0]
    yield Cell("dry friction", "hinge, comes to rest", still, lossy=2, driven=True, events=True)
    slide = scene([dict(A, velocity=[0, 0, 1.2])], [joint("slider", ["world", "a"], axis=Z, friction=12, stiffness=150)])
    yield Cell("dry friction", "slider with a spring, sticks", slide, lossy=2, driven=True, events=True)
    yield Cell("dry friction", "slider, slips", scene([dict(A, velocity=[0, 0, 6])], [joint("slider", ["world", "a"], axis=Z, friction=3)]), lossy=0.4, time=0.4, driven=True)
    yield Cell("dry friction", "hinge in a chain", chain("hinge", at=[0.9, 0, 0], axis=Y, friction=0.05), lossy=0.5, time=0.5, driven=True, events=True)
    sway = [dict(A, velocity=[0, 0, 2])]
    yield Cell("dry friction", "cylindrical, slide and turn", consistent(scene(sway, [joint("cylindrical", ["world", "a"], at=[0, 0, 0], axis=TILTED, slide={"friction": 1}, turn={"friction": 0.1})]), 1, size=2), lossy=0.3, time=0.3, driven=True)
    yield Cell("dry friction", "held by friction while the arm is driven", consistent(scene([A, B], [joint("hinge", ["world", "a"], at=[0, 0, 0], axis=Y, friction=40),
               {"hinge": {"name": "k", "between": ["a", "b"], "at": [0.9, 0, 0], "axis": Y, "motor": {"torque": "0.5*sin(3*t)"}}}]), 0, size=0), lossy=2, driven=True)


def range_cells():
    for e in (0, 0.5, 1):
        name = {0: "plastic", 0.5: "half elastic", 1: "elastic"}[e]
        time = 1.0 if e != 0.5 else 0.8
        limits = {"limits": [-9, 0.8], "restitution": e}
        yield Cell("range", f"hinge, {name}", arm(**limits), lossy=time, time=time, driven=True, events=True)
        slider = {"axis": Z, "limits": [-0.6, 9], "restitution": e}
        yield Cell("range", f"slider, {name}", scene([A], [joint("slider", ["world", "a"], **slider)]), lossy=0.6, time=0.6, driven=True, events=True)
        rope = {"at": [[0, 0, 0], [0.6, 0, 0]], "length": 1.0, "restitution": e}
        yield Cell("range", f"rope goes taut, {name}", scene([dict(A, position=[0.6, 0, 0], velocity=[0.5, 0.3, 0])], [joint("rope", ["world", "a"], **rope)]), lossy=0.6, time=0.6, driven=True, events=True)
        chained = {"at": [0.9, 0, 0], "axis": Y, "limits": [-0.5, 0.5], "restitution": e}
        yield Cell("range", f"hinge in a chain, {name}", consistent(scene([A, B], [PIN, joint("hinge", "ab", **chained)]), 2, size=2), lossy=0.6, time=0.6, driven=True, events=True)
    rest = arm(limits=[-9, 0.0])
    yield Cell("range", "rests at its end", rest, lossy=2, driven=True)
    rod = joint("rod", ["world", "a"], at=[[0, 0, 1], [0.6, 0, 0]], length=1.1661903789690602, limits=[0.9, 1.5], restitution=0.5)
    yield Cell("range", "rod", scene([A], [rod]), lossy=0.52, time=0.52, driven=True, events=True)
    yield Cell("range", "pushed off its end by a motor", arm(limits=[-9, 0.0], motor={"torque": "-12*t"}), lossy=1, driven=True, events=True)


def block(mu=0.4, velocity=(0, 0, 0), mass=2.0, forces=(), joints=(), bodies=(), belt=0, **more):
    shape = {"box": {"size": [1.0, 0.6, 0.2]}}
    floor = dict(FLOOR, shapes=[dict(FLOOR["shapes"][0], surface_velocity=[belt, 0, 0])] if belt else FLOOR["shapes"])
    base = {"name": "block", "mass": mass, "inertia": [0.0667, 0.1733, 0.2267], "position": [0, 0, 0.1], "velocity": list(velocity), "shapes": [shape]}
    return scene([floor, base, *bodies], joints, forces, materials={"default": {"friction": mu, "restitution": 0}},
                 reference={"sliding": [{"body": "block", "along": [1, 0, 0], "friction": mu, "belt": belt}]}, **more)


def contact_cells():
    marks = {"driven": True, "contact": True}
    push = lambda f: {"load": {"body": "block", "force": [f, 0, 0]}}
    yield Cell("contact", "block slides", block(velocity=[3, 0, 0]), time=0.5, lossy=0.5, **marks)
    yield Cell("contact", "block slides and stops", block(velocity=[1, 0, 0]), lossy=1, events=True, **marks)
    yield Cell("contact", "block rests under a push", block(forces=[push("3*sin(5*t)")]), lossy=1, **marks)
    yield Cell("contact", "block is pushed loose", block(forces=[push("16*t")]), lossy=1, events=True, **marks)
    yield Cell("contact", "block on a belt", block(belt=1.5), lossy=1, events=True, **marks)
    swing = {"name": "a", "mass": 0.3, "inertia": [0.002, 0.003, 0.004], "position": [0.3, 0, 0.2]}
    pin = lambda **keys: {"hinge": {"name": "j", "between": ["block", "a"], "at": [0, 0, 0.2], "axis": Y, **keys}}
    yield Cell("contact", "pendulum on a block at rest", block(bodies=[swing], joints=[pin()], mu=0.9), **marks)
    yield Cell("contact", "pendulum on a block that slides", block(bodies=[dict(swing, velocity=[2, 0, 0])], joints=[pin()], mu=0.3, velocity=[2, 0, 0]), time=0.4, lossy=0.4, **marks)
    yield Cell("contact", "arm with torque(t) on a block at rest", block(bodies=[swing], joints=[pin(motor={"torque": "0.6*sin(4*t)"})], mu=0.9), lossy=1, **marks)
    yield Cell("contact", "arm with speed(t) on a block at rest", block(bodies=[swing], joints=[pin(motor={"speed": "2*sin(4*t)", "max": 100})], mu=0.9), lossy=1, **marks)
    yield Cell("contact", "sprung arm on a block at rest", block(bodies=[swing], joints=[pin(stiffness=6)], mu=0.9), axis=True, **marks)
    yield Cell("contact", "sprung arm on a block that slides", block(bodies=[dict(swing, velocity=[2, 0, 0])], joints=[pin(stiffness=6)], mu=0.3, velocity=[2, 0, 0]), time=0.4, lossy=0.4, **marks)
    yield Cell("contact", "two blocks and a spring", block(velocity=[1, 0, 0], forces=[{"spring": {"between": ["world", "block"], "at": [[-3, 0, 0.1], [0, 0, 0.1]], "stiffness": 80, "rest_length": 3.0}}]), lossy=1, events=True, **marks)
    for model in ("pyramid", "box"):
        yield Cell("law", f"{model}: block slides and stops", dict(block(velocity=[1, 0, 0]), law={"friction": model}), lossy=1, events=True, **marks)
    for model in ("poisson", "newton", "simplified", "moreau"):
        for e in (0.5, 1):
            yield Cell("law", f"{model}: ball falls, e = {e}", ball(e, model), lossy=0.6, time=0.6, events=True, ball=True, **marks)


def ball(e, law):
    """Above a plane the height of a ball is a slide with an end: that is how the reference sees it."""
    body = {"name": "a", "mass": 1.0, "inertia": [0.004, 0.004, 0.004], "position": [0, 0, 0.6], "velocity": [0.5, 0, 0]}
    seen = scene([FLOOR, dict(body, shapes=[{"sphere": {"radius": 0.1}}])], [], materials={"default": {"friction": 0, "restitution": e}}, law={"impact": law})
    line = {"generic": {"name": "fall", "between": ["world", "a"], "at": [0, 0, 0.6], "axis": Z, "x_axis": X, "free": ["x", "y", "z"], "z": {"limits": [-0.5, 9], "restitution": e}}}
    return dict(seen, instead={"bodies": [body], "joints": [line]})


def prescribed_cells():
    moved = lambda **motion: {"name": "base", "kinematic": motion, "position": [0, 0, 0]}
    hung = lambda base, kind="hinge", **keys: consistent(scene([base, A], [joint(kind, ["base", "a"], **keys)]), 1)
    yield Cell("prescribed", "hinge on a shaken base", hung(moved(velocity=["sin(5*t)", 0, "0.5*cos(3*t)"]), at=[0, 0, 0], axis=Y), lossy=1, driven=True)
    yield Cell("prescribed", "ball on a turning base", hung(moved(angular_velocity=[0, 0, "1 + t"]), "ball", at=[0.1, 0, 0]), lossy=1, driven=True)
    yield Cell("prescribed", "hinge on a turning base", hung(moved(angular_velocity=[0, 0, "1 + t"]), at=[0.1, 0, 0], axis=Y), lossy=1, driven=True)
    yield Cell("prescribed", "slider on a turning base", hung(moved(angular_velocity=[0, 0, 1.5]), "slider", axis=X), lossy=1, driven=True)
    yield Cell("prescribed", "sprung slider on a turning base", hung(moved(angular_velocity=[0, 0, 1.5]), "slider", axis=X, stiffness=60), lossy=1, driven=True, axis=True)


def speed_row_cells():
    sphere = dict(A, position=[0, 0, 0.3], inertia=[0.02, 0.03, 0.04])
    roll = lambda body, size=4, **keys: consistent(scene([body], [joint("rolling", ["world", "a"], normal=Z, **keys)]), 2, size=size)
    yield Cell("speeds held", "rolling ball, uneven inertia", roll(sphere, radius=0.3), nonholonomic=True)
    wheel = dict(A, position=[0, 0, 0.3], inertia=[0.02, 0.04, 0.02])
    rolls = dict(wheel, angular_velocity=[0.3, 12, 0.5], velocity=[3.6, 0, 0])
    yield Cell("speeds held", "rolling disk", roll(rolls, size=0, radius=0.3, axle=Y), nonholonomic=True)
    leans = dict(rolls, orientation={"axis": [1, 0, 0], "angle_deg": 25}, position=[0, 0, 0.3 * 0.9063077870366499])
    yield Cell("speeds held", "rolling disk, leaning", roll(leans, size=0, radius=0.3, axle=[0, 0.9063077870366499, 0.42261826174069944]), nonholonomic=True)
    sled = dict(A, position=[0.1, 0, 0])
    flat = {"planar": {"name": "ice", "between": ["world", "a"], "at": [0, 0, 0], "normal": Z, "x_axis": X}}
    knife = {"knife_edge": {"name": "edge", "between": ["world", "a"], "at": [0, 0, 0], "axis": Y}}
    yield Cell("speeds held", "Chaplygin's sleigh", consistent(scene([sled], [flat, knife]), 3, size=4), nonholonomic=True)
    yield Cell("speeds held", "knife edge on a slope", consistent(scene([A | {"position": [0, 0, 0]}], [flat, knife], gravity=[0, 4, 0]) | {"gravity": [0, 4.0, 0]}, 4, size=2), nonholonomic=True)
    yield Cell("speeds held", "knife edge in space", consistent(scene([sled], [knife]), 3, size=2), nonholonomic=True)


def option_pairs():
    """What the columns of options are tried on too: tied joints (they are in all groups)."""
    return []


def all_cells():
    import cells
    for make in (cells.joint_cells, cells.coupling_cells, cells.spring_cells, cells.rotor_cells, drive_cells, load_cells, friction_cells,
                 range_cells, contact_cells, prescribed_cells, speed_row_cells):
        yield from make()
