"""A simulation: step it, look at it, drive it."""
from __future__ import annotations

from typing import Any, Callable, Mapping, NamedTuple, Optional, Sequence, Union

import numpy as np
import numpy.typing as npt

from . import _engine, _html
from ._engine import State, StepReport
from ._errors import unknown
from ._problem import Problem, Prototype, SolverFailures, as_prototype
from ._recording import LiveView, Page
from ._recording import view as _view
from ._run import run as _run
from ._scene import PathLike, Scene, _index
from ._text import as_yaml

Array = npt.NDArray[np.float64]
Vector = Union[Sequence[float], Array]
Choice = Union[str, Mapping[str, Mapping[str, Any]]]


class Energy(NamedTuple):
    """Joules."""

    kinetic: float
    potential: float


class Event(NamedTuple):
    """Something that happened inside a step of a scheme that locates events."""

    time: float  # s
    kind: str  # impact, takeoff, stick or slip
    a: int  # body, or -1 for the world
    b: int
    normal_speed_before: float  # m/s
    normal_speed_after: float


class JointAxis(NamedTuple):
    """One coordinate of a joint: m and N, or rad and N m. Forces are means over the last step, along the coordinate."""

    name: str
    position: float
    velocity: float
    motor_force: float
    limit_force: float
    friction_force: float
    spring_force: float


class Body:
    """A body of a simulation: `position`, `orientation`, `velocity` and `angular_velocity` are live views of the present
    state, of the body's own frame, in world axes. Set one as a whole (`body.position = (0, 0, 1)`) to put the body
    elsewhere; single numbers of a view cannot be written to. Joints that this tears apart are pulled together by the
    next steps, as docs/step.md says."""

    __slots__ = ("name", "index", "_position", "_orientation", "_velocity", "_angular_velocity", "_sim")

    def __init__(self, sim: Simulation, name: str) -> None:
        index = sim.scene.body_index(name)
        self._sim = sim
        self.name: str = name
        self.index: int = index
        self._position: Array = sim.position[index]
        self._orientation: Array = sim.orientation[index]
        self._velocity: Array = sim.velocity[index]
        self._angular_velocity: Array = sim.angular_velocity[index]

    @property
    def mass(self) -> float:
        """kg; 0 for a body that is fixed or moved by the scene."""
        return self._sim.scene.mass[self.index]

    def _put(self, which: int, value: Vector) -> None:
        given: list[Any] = [None] * 4
        given[which] = () if value is None else value  # None would mean: as it is
        self._sim._core.set_motion(self.index, *given)

    @property
    def position(self) -> Array:
        """(3,), m: the origin of the body's frame in the world."""
        return self._position

    @position.setter
    def position(self, value: Vector) -> None:
        self._put(0, value)

    @property
    def orientation(self) -> Array:
        """(4,): the quaternion w, x, y, z from the body's frame to the world. What is set is normalized."""
        return self._orientation

    @orientation.setter
    def orientation(self, value: Vector) -> None:
        self._put(1, value)

    @property
    def velocity(self) -> Array:
        """(3,), m/s: of the origin of the body's frame, world axes."""
        return self._velocity

    @velocity.setter
    def velocity(self, value: Vector) -> None:
        self._put(2, value)

    @property
    def angular_velocity(self) -> Array:
        """(3,), rad/s, world axes. Set it before `velocity` where both are meant: it turns about the frame's origin."""
        return self._angular_velocity

    @angular_velocity.setter
    def angular_velocity(self, value: Vector) -> None:
        self._put(3, value)

    def apply(self, force: Optional[Vector] = None, torque: Optional[Vector] = None, at: Optional[Vector] = None,
              frame: str = "world") -> None:
        """`Simulation.apply` on this body: for the next step only."""
        self._sim.apply(self.name, force, torque, at, frame)

    def __repr__(self) -> str:
        return f"<slipstick.Body '{self.name}' at {self.position}>"


class Joint:
    """A joint of a simulation. Position and velocity are those of the coordinate that it is known for (a hinge's turn, a
    slider's slide, a rod's length): rad or m, whole turns counted, zero at t = 0. Forces are means over the last step."""

    __slots__ = ("name", "index", "reaction_force", "reaction_moment", "_sim")

    def __init__(self, sim: Simulation, name: str) -> None:
        index = sim.scene.joint_index(name)
        self._sim = sim
        self.name: str = name
        self.index: int = index
        self.reaction_force: Array = sim.joint_reaction[index, :3]  # N on body b, world axes
        self.reaction_moment: Array = sim.joint_reaction[index, 3:]  # N m about the anchor on b, world axes

    @property
    def position(self) -> float:
        """rad or m."""
        return float(self._sim.joint_position[self.index])

    @property
    def velocity(self) -> float:
        """rad/s or m/s."""
        return float(self._sim.joint_velocity[self.index])

    @property
    def motor_force(self) -> float:
        """N m or N, positive where it drives the coordinate up."""
        return float(self._sim.joint_motor_force[self.index])

    @property
    def limit_force(self) -> float:
        """N m or N of the ends of its range."""
        return float(self._sim.joint_limit_force[self.index])

    @property
    def axes(self) -> list[JointAxis]:
        """All coordinates that the joint leaves free."""
        return [JointAxis(*axis) for axis in self._sim._core.axes(self.index)]

    def __repr__(self) -> str:
        return f"<slipstick.Joint '{self.name}' at {self.position}>"


class Motor:
    """A motor of a simulation. What is set here stays until it is set again; None gives it back to the scene."""

    __slots__ = ("name", "_core", "_axis")

    def __init__(self, core: _engine.Core, name: str, axis: int) -> None:
        self.name = name
        self._core = core
        self._axis = axis

    def _set(self, what: str, value: Optional[float]) -> None:
        try:
            self._core.set_motor(self._axis, what, value)
        except TypeError:
            raise TypeError(f"motor '{self.name}': {what} must be a number or None, not {value!r}") from None

    @property
    def target(self) -> float:
        """What the motor drives to in the next step: rad/s or m/s, or rad or m if `drives_position`."""
        return float(self._core.read_motor(self._axis)[0])

    @target.setter
    def target(self, value: Optional[float]) -> None:
        self._set("target", value)

    @property
    def max(self) -> float:
        """The bound of its force, N m or N."""
        return float(self._core.read_motor(self._axis)[1])

    @max.setter
    def max(self, value: Optional[float]) -> None:
        self._set("max", value)

    @property
    def torque(self) -> Optional[float]:
        """N m or N: once set, the motor is this force (within `max`) and has no target. None: it drives to its target."""
        value = self._core.read_motor(self._axis)[2]
        return None if value is None else float(value)

    @torque.setter
    def torque(self, value: Optional[float]) -> None:
        self._set("torque", value)

    @property
    def force(self) -> float:
        """What the motor did in the last step, N m or N, positive where it drives its coordinate up."""
        return self._core.motor_force(self._axis)

    @property
    def drives_position(self) -> bool:
        """The target is a position, not a speed."""
        return self._core.motor_drives_position(self._axis)

    def __repr__(self) -> str:
        return f"<slipstick.Motor '{self.name}'>"


class Simulation:
    """A scene in motion: step it, look at it, drive it.

        sim = ss.Simulation(ss.load("stack.yaml"), step=1/200)
        report = sim.step(100)
        sim.position[sim.scene.body_index("cube_0")], sim.body("cube_0").velocity, sim.contacts["force"]

    Options; what is not given is as the scene says, and wrong ones raise SceneError (docs/scenes.md has all of them):

        step             the time step, s
        accuracy         m per second of motion: steps choose themselves, `step` is the time between frames (docs/schemes.md)
        scheme           "stabilized", "euler", "trapezoid", "alpha-gamma", "spook", or one with options:
                         {"spook": {"compliance": 1e-8}}
        solver           "auto", "newton", "lemke", "pgs", ..., likewise; or a function f(problem, guess) of one's own that
                         returns impulses for each island of each step (see `slipstick.Problem`): judged like every other,
                         and 'auto' answers where it raises or is refused (`solver_failures`)
        duration         s, for `run` without one
        tolerance        relative residual above which a step is not certified
        heap_tolerance   and that of heaps under "auto"
        friction         "cone", "pyramid", "box", or {"pyramid": {"facets": 16}}
        impact           "poisson", "newton", "simplified", where materials do not say
        effort, budget   "exact", "balanced", "swift"; sweeps per problem (docs/solvers.md)
        reduce_contacts, close_joints, hold_resting, threads
        unique_forces    False: forces of contacts and joints that are not unique stay as the solver finds them (docs/certificate.md)

    The arrays below, one row per body or per joint, are views: they always show the present state, cost nothing, cannot be
    written to, and stay good when the simulation is gone. Take a `.copy()` of what is to be kept.

    Copies (`copy.deepcopy`) and pickles go on with the same bits. A simulation belongs to one thread at a time; others get a
    clear error while it makes a step.
    """

    __slots__ = {
        "scene": "The scene that it was made from; it never changes.",
        "position": "(bodies, 3), m: origins of the bodies' own frames (not centres of mass) in the world. A view.",
        "orientation": "(bodies, 4): quaternions w, x, y, z from body to world. A view.",
        "velocity": "(bodies, 3), m/s: of the origins of the bodies' frames, world axes. A view.",
        "angular_velocity": "(bodies, 3), rad/s, world axes. A view.",
        "joint_position": "(joints,), rad or m, whole turns counted, zero at t = 0. A view.",
        "joint_velocity": "(joints,), rad/s or m/s. A view.",
        "joint_motor_force": "(joints,), N m or N: of motors, mean over the last step. A view.",
        "joint_limit_force": "(joints,), N m or N: of the ends of joints' ranges, mean over the last step. A view.",
        "joint_reaction": "(joints, 6): force (N), then moment about the anchor (N m), on body b, world axes, mean over the "
                          "last step. A view.",
        "_core": "", "_options": "", "_sensed": "", "_sensors": "", "__weakref__": "",
    }

    def __init__(self, scene: Scene, *, step: Optional[float] = None, accuracy: Optional[float] = None, scheme: Optional[Choice] = None,
                 solver: Union[Choice, Prototype, None] = None, duration: Optional[float] = None, tolerance: Optional[float] = None,
                 heap_tolerance: Optional[float] = None, friction: Union[str, Mapping[str, Any], None] = None,
                 impact: Optional[str] = None, reduce_contacts: Optional[bool] = None, close_joints: Optional[bool] = None,
                 hold_resting: Optional[bool] = None, unique_forces: Optional[bool] = None, effort: Optional[str] = None, budget: Optional[int] = None,
                 threads: Optional[int] = None) -> None:
        if not isinstance(scene, Scene):
            raise TypeError(f"Simulation(scene): expected a slipstick.Scene, got {type(scene).__name__}; "
                            "slipstick.load reads one from a file")
        given: dict[str, Any] = {
            "step": step, "accuracy": accuracy, "scheme": scheme, "solver": solver, "duration": duration, "tolerance": tolerance,
            "heap_tolerance": heap_tolerance, "friction": friction, "impact": impact,
            "reduce_contacts": reduce_contacts, "close_joints": close_joints, "hold_resting": hold_resting, "unique_forces": unique_forces,
            "effort": effort, "budget": budget, "threads": threads,
        }
        self._set_up(scene, {key: value for key, value in given.items() if value is not None})

    def _set_up(self, scene: Scene, options: dict[str, Any]) -> None:
        self.scene: Scene = scene
        self._options = options
        plain = {key: value for key, value in options.items() if not (key == "solver" and callable(value))}
        prototype = None if len(plain) == len(options) else as_prototype(options["solver"])
        if prototype is not None:
            plain["solver"] = "auto"
        core = self._core = _engine.Core(scene._box, as_yaml(plain), list(plain), prototype)
        self.position: Array = core.position()  # m
        self.orientation: Array = core.orientation()  # w x y z
        self.velocity: Array = core.velocity()  # m/s
        self.angular_velocity: Array = core.angular_velocity()  # rad/s
        self._sensed: Array = core.sensors()
        self._sensors = {name: (first, count) for name, first, count in self.scene._box.sensors}
        self.joint_position: Array = core.joint_position()  # rad or m
        self.joint_velocity: Array = core.joint_velocity()
        self.joint_motor_force: Array = core.joint_motor_force()  # N m or N
        self.joint_limit_force: Array = core.joint_limit_force()
        self.joint_reaction: Array = core.joint_reaction()  # force, then moment about the anchor on b

    # ------------------------------------------------------------------ stepping

    def step(self, n: int = 1) -> StepReport:
        """Makes n steps and returns the report of the last one: certified, residual (m/s), penetration (m), ledger (J) ...

        Forces of `apply` act in the first of them, motors in all. Raises Diverged where a step has no finite answer; the
        simulation then stands before that step. A step that is not certified is one all the same: its report says so.
        """
        try:
            return self._core.step(n)
        except TypeError:
            raise TypeError(f"step(n): n must be a whole number, not {n!r}") from None

    def run(self, duration: Optional[float] = None, *, controller: Optional[Callable[[Simulation], object]] = None,
            record: Optional[PathLike] = None, progress: bool = False) -> dict[str, Any]:
        """Runs for `duration` seconds of simulated time (default: to the end that the scene names) and returns the report.

        controller: called with the simulation before each step. When it raises, what it has set or applied in this call
        is taken back, the recording is closed, and the simulation stands where the last whole step left it.
        record: writes a recording (.h5) for `slipstick.open`, h5py and `slipstick view`.
        progress: a line on stderr that says how far it is.

        The report is that of `slipstick run --json` (docs/report.md).
        """
        return _run(self, duration, controller, record, progress)

    def view(self, duration: float = 0, *, height: int = 480) -> Page:
        """The viewer with the present state or, with a duration, with what a copy of this simulation does in the next so
        many seconds: inline in a notebook, or `.save("page.html")`. The simulation itself stays where it is."""
        return _view(self, duration, height)

    def view_live(self, *, port: int = 0) -> LiveView:
        """The viewer on a copy of this simulation that goes on from the present state, with its solver, as `slipstick view`
        does: it runs until `.close()`, or the end of the program. `.url` is the page, on this machine alone."""
        return LiveView(_engine.Live(self._core, port))

    @property
    def time(self) -> float:
        """Simulated time, s."""
        return self._core.time()

    @property
    def step_number(self) -> int:
        """Steps made since t = 0."""
        return self._core.step_number()

    @property
    def step_size(self) -> float:
        """The time step, s."""
        return float(self._core.options()[0])

    @property
    def scheme(self) -> str:
        """The time-stepping scheme."""
        return str(self._core.options()[2])

    @property
    def solver(self) -> str:
        """The solver; "f before auto" with a function f of one's own."""
        return str(self._core.options()[3])

    # ------------------------------------------------------------------ looking

    def body(self, name: str) -> Body:
        """A body by name: position, orientation, velocity, angular_velocity, apply."""
        return Body(self, name)

    def joint(self, name: str) -> Joint:
        """A joint by name: position, velocity, motor_force, limit_force, reaction_force, reaction_moment."""
        return Joint(self, name)

    def sensor(self, name: str) -> Union[float, Array]:
        """The present value of a sensor of the scene: a number, or an array of 3 (w x y z of an orientation: 4)."""
        if name not in self._sensors:
            raise unknown("sensor", name, self.scene.sensors)
        first, count = self._sensors[name]
        return float(self._sensed[first]) if count == 1 else self._sensed[first:first + count].copy()

    def motor(self, name: str) -> Motor:
        """A motor by the name of its joint ("elbow"), or of joint and axis where a joint has several ("arm.slide")."""
        axis = self._core.find_motor(name)
        if axis < 0:
            raise unknown("motor", name, self.scene.motors)
        return Motor(self._core, name, axis)

    @property
    def contacts(self) -> npt.NDArray[np.void]:
        """Contacts as a structured array with fields a, b (rows of bodies), point (m, world), normal (unit, from a to b),
        gap (m, positive: apart) of the present state, and force (N on b, world, mean over the last step).

        All within reach of the next step are here, touching or not, and those that carried a force in the last step.
        """
        return self._core.contacts()

    @property
    def energy(self) -> Energy:
        """Kinetic and potential energy, J."""
        return Energy(*self._core.energy())

    @property
    def events(self) -> list[Event]:
        """Impacts, take-offs, sticks and slips inside the last step, for schemes that locate them."""
        return [Event(*event) for event in self._core.events()]

    @property
    def warnings(self) -> list[str]:
        """What one should know about the choice of parameters."""
        return self._core.warnings()

    @property
    def solver_statistics(self) -> dict[str, dict[str, int]]:
        """Per solver that was asked: solves, certified, iterations since the start."""
        return {name: {"solves": solves, "certified": certified, "iterations": iterations}
                for name, solves, certified, iterations in self._core.solver_statistics()}

    @property
    def solver_failures(self) -> SolverFailures:
        """How often a solver of one's own gave no answer, or one that the judge refused, and why it raised last."""
        raised, last = self._core.solver_failures()
        own = next(iter(self.solver_statistics.values()), None) if callable(self._options.get("solver")) else None
        return SolverFailures(raised, own["solves"] - own["certified"] - raised if own else 0, last)

    @property
    def problem(self) -> Problem:
        """The complementarity problem that the last step solved, whole; a copy."""
        return Problem(self._core.problem())

    # ------------------------------------------------------------------ driving

    def apply(self, body: str, force: Optional[Vector] = None, torque: Optional[Vector] = None,
              at: Optional[Vector] = None, frame: str = "world") -> None:
        """A force (N) and a torque (N m) on a body, for the next step only; several add up.

        at: where the force acts; default: the centre of mass. frame: "world" (force, torque and point in the world, as
        the step begins) or "body" (all in the body's own frame; the force turns with the body).
        """
        if frame not in ("world", "body"):
            raise ValueError(f"frame must be 'world' or 'body', not {frame!r}")
        self._core.apply(self.scene.body_index(body), force, torque, at, frame == "body")

    def scale_load(self, name: str, scale: float) -> None:
        """Multiplies a load of the scene from now on; 0 switches it off, 1 is as the scene says."""
        self._core.set_load(_index("load", name, self.scene.loads), scale)

    # ------------------------------------------------------------------ states

    @property
    def state(self) -> State:
        """Everything that decides what happens next, as a value: it pickles, hashes and compares. Setting it is exact: with
        the same motors the next steps have the same bits as they had. Forces waiting for the next step are dropped."""
        return self._core.state()

    @state.setter
    def state(self, state: State) -> None:
        if not isinstance(state, State):
            raise TypeError(f"sim.state must be a slipstick.State, not {type(state).__name__}")
        self._core.set_state(state)

    def reset(self) -> None:
        """Back to the scene's initial state, with all motors and loads as the scene says."""
        self._core.set_state(self.scene.initial)
        self._core.clear_inputs()

    def save_state(self, path: PathLike) -> None:
        """Writes the state as a file that `slipstick run --resume` and `load_state` take (docs/states.md)."""
        _engine.save_state(str(path), self._core)

    def load_state(self, path: PathLike) -> None:
        """Goes on from a state file, or from the last whole state in a recording."""
        self._core.set_state(_engine.load_state(str(path), self.scene._box))

    def __getstate__(self) -> tuple[Scene, dict[str, Any], State, tuple[Any, ...]]:
        return (self.scene, self._options, self.state, self._core.save_inputs())

    def __setstate__(self, saved: tuple[Scene, dict[str, Any], State, tuple[Any, ...]]) -> None:
        scene, options, state, inputs = saved
        self._set_up(scene, options)
        self._core.set_state(state)
        self._core.restore_inputs(inputs)

    def __reduce__(self) -> tuple[Any, ...]:
        return (object.__new__, (type(self),), self.__getstate__())

    def __deepcopy__(self, memo: object) -> Simulation:
        copy = object.__new__(type(self))
        copy.__setstate__(self.__getstate__())
        return copy

    def __copy__(self) -> Simulation:
        return self.__deepcopy__({})  # a shallow one would be the same simulation twice

    def __repr__(self) -> str:
        return f"<slipstick.Simulation of '{self.scene.name}' at t = {self.time:.9g} s>"

    def _repr_html_(self) -> str:
        return _html.table(f"Simulation of {self.scene.name}",
                           [("time", f"{self.time:.9g} s, after {self.step_number} steps"),
                            ("bodies", f"{len(self.scene.bodies)}: {_html.names(self.scene.bodies)}"),
                            ("joints", f"{len(self.scene.joints)}: {_html.names(self.scene.joints)}"),
                            ("contacts", len(self.contacts)), ("state", self.state.hash)])
