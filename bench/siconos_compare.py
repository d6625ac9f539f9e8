#!/usr/bin/env python3
"""Friction problems of a folder (FCLib HDF5), solved by Siconos and by Slipstick in one run.

    tools/bench siconos FOLDER [-o OUT] [--tol 1e-8,1e-6] [--rounds 5] [--time-limit 10]

Both answers are judged by one function, `Data.residual`: the relative natural-map residual of docs/certificate.md,
computed here from the file with scipy. Siconos measures its error in its own ways, so each of its solvers is called with
ever smaller tolerances until our measure is content; the first call that is counts. First every solver of Siconos runs
alone with a time limit; then the best of them and Slipstick take turns, and the shortest CPU time of each counts.
Everything runs on one thread. Needs the Debian packages python3-siconos, python3-scipy and python3-h5py.
"""
import argparse
import json
import math
import os
import pathlib
import pickle
import select
import signal
import subprocess
import sys
import time
import warnings

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import h5py  # noqa: E402
import numpy as np  # noqa: E402
import scipy.sparse as sp  # noqa: E402
import scipy.sparse.linalg as spl  # noqa: E402

warnings.filterwarnings("ignore")

LOCAL_3D = [("PROX", "dense"), ("PROX", "sparse"), ("PROX", "sbm"), ("ADMM", "dense"), ("ADMM", "sparse"),
            ("NSGS", "sbm"), ("NSGS", "dense"), ("NSN_AC", "sparse"), ("NSN_FB", "sparse"), ("NSN_NM", "sparse"),
            ("TFP", "sbm"), ("TFP", "dense"), ("DSFP", "sbm"), ("DSFP", "dense"), ("ACLMFP", "dense"),
            ("VI_EG", "dense"), ("VI_FPP", "dense"), ("EG", "dense"), ("FPP", "dense"), ("SOCLCP", "dense")]
LOCAL_2D = [("NSGS", "dense"), ("NSGS", "sbm"), ("CPG", "dense"), ("LEMKE", "dense"), ("ENUM", "dense")]
GLOBAL_3D = ["ADMM", "NSGS", "NSGS_WR", "ADMM_WR", "NSN_AC", "NSN_AC_WR", "PROX_WR", "TFP_WR", "DSFP_WR", "NSGSV_WR",
             "IPM", "VI_EG", "VI_FPP", "ACLMFP"]


def read_matrix(group):
    if isinstance(group, h5py.Dataset):
        return sp.csc_matrix(group[:])
    m, n, nz = (int(np.ravel(group[k][()])[0]) for k in ("m", "n", "nz"))
    p, i, x = group["p"][:], group["i"][:], group["x"][:]
    if nz == -2:
        return sp.csr_matrix((x[:p[m]], i[:p[m]], p[:m + 1]), (m, n)).tocsc()
    if nz == -1:
        return sp.csc_matrix((x[:p[n]], i[:p[n]], p[:n + 1]), (m, n))
    return sp.coo_matrix((x[:nz], (i[:nz], p[:nz])), (m, n)).tocsc()


class Data:
    """A problem of contacts alone, and the judge."""

    def __init__(self, path):
        with h5py.File(path, "r") as f:
            self.is_local = "fclib_local" in f
            g = f["fclib_local" if self.is_local else "fclib_global"]
            if "G" in g or "V" in g or "slipstick" in f and set(f["slipstick"]) & {"H", "friction"}:
                raise ValueError("holds rows or laws that Siconos has no solver for")
            self.dim = int(np.ravel(g["spacedim"][()])[0])
            self.mu = g["vectors/mu"][:]
            if self.is_local:
                self.w = read_matrix(g["W"])
                self.q = g["vectors/q"][:]
            else:
                self.m, self.h = read_matrix(g["M"]), read_matrix(g["H"])
                self.f, self.b = g["vectors/f"][:], g["vectors/w"][:]
                lu = spl.splu(self.m)
                self.w = sp.csc_matrix(self.h.T @ sp.csc_matrix(lu.solve(self.h.toarray())))
                self.q = self.h.T @ lu.solve(self.f) + self.b
        self.contacts = len(self.mu)
        self.scale = np.maximum(self.w.diagonal().reshape(-1, self.dim).mean(axis=1), 0)

    def residual(self, r):
        """||F|| / ||q||, F the natural map of Coulomb's law with the De Saxce term, in m/s."""
        if r is None or len(r) != len(self.q) or not np.all(np.isfinite(r)):
            return math.inf
        u = (self.w @ r + self.q).reshape(-1, self.dim)
        r = np.asarray(r).reshape(-1, self.dim)
        rho = np.where(self.scale > 0, 1 / np.where(self.scale > 0, self.scale, 1), 1.0)[:, None]
        shifted = u.copy()
        shifted[:, 0] += self.mu * np.linalg.norm(u[:, 1:], axis=1)
        y = r - rho * shifted
        size = np.linalg.norm(y[:, 1:], axis=1)
        n, mu = y[:, 0], self.mu
        inside, polar = size <= mu * n, mu * size <= -n
        along = np.where(inside, n, np.where(polar, 0, (n + mu * size) / (1 + mu * mu)))
        factor = np.where(inside, 1, np.where(polar, 0, mu * along / np.where(size > 0, size, 1)))
        projected = np.concatenate([along[:, None], factor[:, None] * y[:, 1:]], axis=1)
        f = shifted + (y - projected) / rho
        norm = np.linalg.norm(self.q)
        return float(np.linalg.norm(f) / norm) if norm > 0 else float(np.linalg.norm(f) > 0) * math.inf


class Siconos:
    """One solver of Siconos with one way of storing the matrix."""

    def __init__(self, data, name, storage):
        import siconos.numerics as sn
        self.sn, self.data, self.name = sn, data, name
        size = len(data.q)
        if not data.is_local:
            self.id = getattr(sn, "SICONOS_GLOBAL_FRICTION_3D_" + name)
            self.problem = self.make_global()
            self.driver = sn.gfc3d_driver
            return
        matrix = data.w.toarray() if storage == "dense" else data.w
        if storage == "sbm":
            self.blocks = sn.SBM_from_csparse(data.dim, data.w)[1]
            matrix = sn.NM_new_SBM(size, size, self.blocks)
        self.matrix = matrix
        self.id = getattr(sn, f"SICONOS_FRICTION_{data.dim}D_{name}")
        self.problem = sn.FrictionContactProblem(data.dim, data.contacts, matrix, data.q, data.mu)
        self.driver = sn.fc3d_driver if data.dim == 3 else sn.fc2d_driver

    def make_global(self):
        data, p = self.data, self.sn.GlobalFrictionContactProblem()
        p.dimension, p.numberOfContacts = 3, data.contacts
        p.M, p.H, p.q, p.b, p.mu = data.m, data.h, data.f, data.b, data.mu
        return p

    def solve(self, tolerance):
        """CPU seconds and the reaction."""
        sn, rows = self.sn, len(self.data.q)
        options = sn.SolverOptions(self.id)
        options.dparam[sn.SICONOS_DPARAM_TOL] = tolerance
        newton = self.name.startswith("NSN") or self.name in ("PROX", "PROX_WR", "IPM", "LEMKE")
        options.iparam[sn.SICONOS_IPARAM_MAX_ITER] = 2000 if newton else 10000000
        r, u = np.zeros(rows), np.zeros(rows)
        arguments = [self.problem, r, u, options]
        if not self.data.is_local:
            arguments.insert(3, np.zeros(len(self.data.f)))
        start = time.process_time()
        self.driver(*arguments)
        return time.process_time() - start, r


def in_child(work, limit):
    """`work(send)` in a process of its own, which is ended after `limit` seconds of CPU time; what it sent, in order."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        signal.signal(signal.SIGPROF, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_PROF, limit)
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1)
        os.dup2(null, 2)
        try:
            def send(item):
                raw = pickle.dumps(item)
                os.write(writer, len(raw).to_bytes(8, "little") + raw)
            work(send)
        finally:
            os._exit(0)
    os.close(writer)
    raw, end = b"", time.monotonic() + 30 * limit  # the machine may be busy with other things
    while True:
        ready, _, _ = select.select([reader], [], [], max(0, end - time.monotonic()))
        piece = os.read(reader, 1 << 16) if ready else b""
        raw += piece
        if not piece:
            break
    os.close(reader)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    items = []
    while len(raw) >= 8 and len(raw) >= 8 + int.from_bytes(raw[:8], "little"):
        size = int.from_bytes(raw[:8], "little")
        items.append(pickle.loads(raw[8:8 + size]))
        raw = raw[8 + size:]
    return items


def find_tolerances(data, name, storage, targets, limit):
    """target -> (own tolerance of the solver, CPU seconds, our residual) of the first call that meets it."""
    def work(send):
        solver = Siconos(data, name, storage)
        tolerance = max(targets)
        while tolerance >= 1e-17:
            seconds, r = solver.solve(tolerance)
            residual = data.residual(r)
            send((tolerance, seconds, residual))
            if residual <= min(targets):
                return
            tolerance /= 10
    found = {}
    for tolerance, seconds, residual in in_child(work, limit):
        for target in targets:
            if residual <= target and target not in found:
                found[target] = (tolerance, seconds, residual)
    return found


def time_siconos(data, name, storage, tolerance, limit):
    """Shortest of three calls, CPU seconds."""
    def work(send):
        solver = Siconos(data, name, storage)
        for _ in range(3):
            send(solver.solve(tolerance)[0])
    return min(in_child(work, 4 * limit), default=math.inf)


def time_slipstick(program, path, solver, tolerance, limit):
    """CPU seconds, reaction, the solver that gave it."""
    done = subprocess.run([program, "solve", str(path), "--json", "--solver", solver, "--tol", str(tolerance),
                           "--repeat", "3", "--time-limit", str(limit)], capture_output=True, text=True, check=False)
    if not done.stdout:
        return math.inf, None, done.stderr.strip()
    answer = json.loads(done.stdout)
    return answer["cpu_ms"] / 1e3, np.array(answer["reaction"], dtype=float), answer["solved_by"]


def compare(path, targets, options):
    data = Data(path)
    candidates = [(name, "-") for name in GLOBAL_3D]
    if data.is_local:
        candidates = LOCAL_3D if data.dim == 3 else LOCAL_2D
    if options.quick:
        candidates = [c for c in candidates if c[0].split("_WR")[0] in ("NSGS", "NSN_AC", "PROX", "ADMM", "LEMKE")]
    screened, limit = {}, options.time_limit
    for name, storage in candidates:
        if name == "ENUM" and data.contacts > 6 or storage == "dense" and len(data.q) > 3000:
            continue
        found = screened[name, storage] = find_tolerances(data, name, storage, targets, limit)
        if min(targets) in found:  # who takes twenty times as long will not win
            limit = min(limit, max(1, 20 * found[min(targets)][1]))
        if options.verbose:
            print("   ", name, storage, screened[name, storage], file=sys.stderr, flush=True)
    rows = []
    for target in targets:
        ranked = sorted((found[target][1], key) for key, found in screened.items() if target in found)[:3]
        best = {key: math.inf for _, key in ranked}
        ours, residual, used = math.inf, math.inf, ""
        for _ in range(options.rounds):
            seconds, r, used = time_slipstick(options.slipstick, path, options.solver, target, options.time_limit)
            residual = data.residual(r)
            ours = min(ours, seconds)
            for key in best:
                tolerance = screened[key][target][0]
                best[key] = min(best[key], time_siconos(data, *key, tolerance, options.time_limit))
        winner = min(best, key=best.get, default=None)
        rows.append({
            "problem": path.name, "contacts": data.contacts, "form": "local" if data.is_local else "global",
            "dimension": data.dim, "tolerance": target, "ours_ms": 1e3 * ours, "ours_residual": residual,
            "ours_solver": used, "ours_solved": residual <= target,
            "siconos": "-" if winner is None else f"{winner[0]} ({winner[1]})",
            "siconos_ms": None if winner is None else 1e3 * best[winner],
            "siconos_residual": None if winner is None else screened[winner][target][2],
            "siconos_solved_by": sorted({key[0] for key, found in screened.items() if target in found}),
            "ratio": None if winner is None else ours / best[winner]})
    return rows


def make_table(rows, target):
    lines = [f"### To {target:g}", "",
             "| problem | form | contacts | ours ms (solver) | residual | best of Siconos | ms | ours / Siconos |",
             "|---|---|---|---|---|---|---|---|"]
    rows = [row for row in rows if row["tolerance"] == target]
    for row in rows:
        other = "none solves it | | " if row["siconos_ms"] is None else \
            f"{row['siconos']} | {row['siconos_ms']:.3g} | {row['ratio']:.2f}"
        note = "" if row["ours_solved"] else " **not solved**"
        lines.append(f"| {row['problem']} | {row['form']} {row['dimension']}-D | {row['contacts']} | "
                     f"{row['ours_ms']:.3g} ({row['ours_solver']}){note} | {row['ours_residual']:.1e} | {other} |")
    ratios = [row["ratio"] for row in rows if row["ratio"] is not None and row["ours_solved"]]
    if ratios:
        mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
        lines += ["", f"Solved by us {sum(r['ours_solved'] for r in rows)} of {len(rows)}, by some solver of Siconos "
                  f"{sum(r['siconos_ms'] is not None for r in rows)}. Geometric mean of ours / best of Siconos over "
                  f"{len(ratios)} problems: {mean:.3f} ({1 / mean:.1f} times as fast); slower on "
                  f"{sum(r > 1 for r in ratios)}."]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--slipstick", default=str(pathlib.Path(__file__).resolve().parent.parent / "slipstick"))
    parser.add_argument("--solver", default="auto", help="ours")
    parser.add_argument("--tol", default="1e-8,1e-6")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--time-limit", type=float, default=10, help="CPU seconds for one solver of Siconos on one problem")
    parser.add_argument("--only", default="", help="only files whose name contains this")
    parser.add_argument("--quick", action="store_true", help="only the solvers of Siconos that usually win")
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("-o", "--output", type=pathlib.Path, help="folder for siconos.json and siconos.md")
    options = parser.parse_args()
    try:
        import siconos.numerics  # noqa: F401  (once, before the children are made)
    except ImportError:
        sys.exit("siconos_compare: python3-siconos is missing (apt-get install python3-siconos)")
    targets = sorted((float(t) for t in options.tol.split(",")), reverse=True)
    paths = sorted(p for p in options.folder.glob("*.hdf5") if options.only in p.name)
    if not paths:
        sys.exit(f"siconos_compare: no *.hdf5 files in {options.folder}")
    rows = []
    for path in paths:
        try:
            rows += compare(path, targets, options)
        except (ValueError, KeyError, OSError) as error:
            print(f"{path.name}: left out: {error}", file=sys.stderr)
            continue
        for row in rows[-len(targets):]:
            print(f"{row['problem']:40s} {row['tolerance']:g}  ours {row['ours_ms']:9.3f} ms  siconos "
                  f"{row['siconos_ms'] or math.nan:9.3f} ms {row['siconos']}", file=sys.stderr, flush=True)
    text = "\n".join(make_table(rows, target) for target in targets)
    print(text)
    if options.output:
        options.output.mkdir(parents=True, exist_ok=True)
        (options.output / "siconos.json").write_text(json.dumps(rows, indent=1))
        (options.output / "siconos.md").write_text(text)


if __name__ == "__main__":
    main()
