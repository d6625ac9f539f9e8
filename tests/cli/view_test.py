"""slipstick view as an unfriendly client sees it: token, Host, Origin, sizes, half-open and silly connections."""
import base64
import os
import re
import shutil
import socket
import struct
import subprocess
import time
import unittest

from cli_support import BINARY, GOOD, PATIENCE, CliTest


class Server:
    """A running `slipstick view`."""

    def __init__(self, folder, *arguments):
        self.process = subprocess.Popen([BINARY, "view", *arguments, "--no-open"], cwd=folder, text=True,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.url = self.process.stdout.readline().strip()
        match = re.fullmatch(r"http://127\.0\.0\.1:(\d+)/([0-9a-f]{32})/", self.url)
        assert match, (self.url, self.process.stderr.read() if self.process.poll() is not None else "")
        self.port, self.token = int(match[1]), match[2]

    def stop(self):
        self.process.terminate()
        self.process.wait(PATIENCE)
        self.process.stdout.close()
        self.process.stderr.close()
        return self.process.returncode

    def connect(self):
        return socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE)

    def raw(self, data):
        with self.connect() as s:
            s.sendall(data)
            answer = b""
            while block := s.recv(65536):
                answer += block
            return answer

    def get(self, path, method="GET", **headers):
        headers = {"Host": f"127.0.0.1:{self.port}", "Connection": "close",
                   **{k.replace("_", "-"): v for k, v in headers.items()}}
        lines = [f"{method} {path} HTTP/1.1", *(f"{k}: {v}" for k, v in headers.items() if v is not None)]
        answer = self.raw("\r\n".join(lines).encode() + b"\r\n\r\n")
        head, _, body = answer.partition(b"\r\n\r\n")
        return int(head.split()[1]), head.decode("latin-1"), body

    def websocket(self, origin="own", path=None):
        """A WebSocket after its handshake, with the status that was answered."""
        s = self.connect()
        origin = f"http://127.0.0.1:{self.port}" if origin == "own" else origin
        s.sendall((f"GET {path or '/' + self.token + '/live'} HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\n"
                   "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
                   f"Sec-WebSocket-Key: {base64.b64encode(os.urandom(16)).decode()}\r\n"
                   + (f"Origin: {origin}\r\n" if origin else "") + "\r\n").encode())
        head = b""
        while b"\r\n\r\n" not in head and (byte := s.recv(1)):
            head += byte
        return s, int(head.split()[1])


def is_closed(s):
    """True if the other side has ended this connection; it has sent nothing so far."""
    s.setblocking(False)
    try:
        return s.recv(1) == b""
    except BlockingIOError:
        return False
    except ConnectionError:
        return True


def unmasked(data):
    """A frame as no browser sends it."""
    return bytes([0x81, len(data)]) + data


def frame(data, opcode=1, length=None, final=True):
    """A masked WebSocket frame; `length` may lie."""
    n = len(data) if length is None else length
    head = bytes([(0x80 if final else 0) | opcode])
    head += bytes([0x80 | n]) if n < 126 else bytes([0xfe]) + struct.pack(">H", n) if n < 65536 else \
        bytes([0xff]) + struct.pack(">Q", n)
    return head + b"\0\0\0\0" + data


def read_message(s):
    """One message of the server, or None once the connection is closed."""
    def exactly(n):
        data = b""
        while len(data) < n:
            block = s.recv(n - len(data))
            if not block:
                raise EOFError
            data += block
        return data
    try:
        first, n = exactly(2)
        if n == 126:
            n = struct.unpack(">H", exactly(2))[0]
        elif n == 127:
            n = struct.unpack(">Q", exactly(8))[0]
        data = exactly(n)
    except (EOFError, ConnectionError):
        return None
    return None if first & 15 == 8 else data


def live_time(s):
    """Simulated time of the next frame."""
    for _ in range(1000):
        data = read_message(s)
        if data is None:
            raise AssertionError("the connection was closed")
        if data[:4] == b"SLV1" and b'"part":"frame"' in data:
            length = struct.unpack("<I", data[4:8])[0]
            return struct.unpack("<d", data[8 + length:16 + length])[0]  # the first column begins with the time
    raise AssertionError("no frame")


class Recording(CliTest):
    def setUp(self):
        super().setUp()
        self.write(GOOD)
        self.assertEqual(self.call("run", "scene.yaml", "-o", "run.h5", "-q").returncode, 0)
        self.server = Server(self.folder, "run.h5")
        self.addCleanup(self.server.stop)

    def test_page_and_data_with_strict_headers(self):
        s = self.server
        status, head, body = s.get(f"/{s.token}/")
        self.assertEqual(status, 200)
        self.assertIn(b"<!doctype html>", body)
        policy = re.search(r"Content-Security-Policy: (.*)\r", head)[1]
        for part in ("default-src 'none'", "script-src 'sha256-", "frame-ancestors 'none'", "base-uri 'none'"):
            self.assertIn(part, policy)
        self.assertNotIn("unsafe", policy)
        for header in ("X-Content-Type-Options: nosniff", "Referrer-Policy: no-referrer", "Cache-Control: no-store"):
            self.assertIn(header, head)
        for path in ("info", "clip/0", "frames/0?first=0&count=51", "contacts/0?first=0&count=51", "body/0?body=1"):
            status, _, body = s.get(f"/{s.token}/{path}")
            self.assertEqual((status, body[:4]), (200, b"SLV1"), path)

    def test_who_is_refused(self):
        s = self.server
        own = f"/{s.token}/clip/0"
        self.assertEqual(s.get("/")[0], 403)
        self.assertEqual(s.get("/" + "0" * 32 + "/clip/0")[0], 403)
        self.assertEqual(s.get(own, Host="evil.example")[0], 403)
        self.assertEqual(s.get(own, Host=f"evil.example:{s.port}")[0], 403)
        self.assertEqual(s.get(own, Origin="http://evil.example")[0], 403)
        self.assertEqual(s.get(own, Origin="null")[0], 403)
        self.assertEqual(s.get(own, Origin=f"http://127.0.0.1:{s.port}")[0], 200)
        self.assertEqual(s.get(own, method="POST")[0], 405)
        for path in ("clip/1", "clip/x", "clip/00", "clip", "frames/0", "frames/0?first=0&count=0", "frames/0?first=0&count=52",
                     "frames/0?first=51&count=1", "frames/0?first=-1&count=1", "body/0?body=2", "live", "../../etc/passwd",
                     "%2e%2e/%2e%2e/etc/passwd", "x" * 300):
            self.assertIn(s.get(f"/{s.token}/{path}")[0], (400, 404), path)

    def test_only_this_machine(self):
        with open("/proc/net/tcp", encoding="ascii") as table:
            bound = [line.split()[1] for line in table if line.split()[3] == "0A"]
        self.assertIn(f"0100007F:{self.server.port:04X}", bound)
        self.assertNotIn(f"00000000:{self.server.port:04X}", bound)

    def test_bad_requests_leave_it_standing(self):
        s = self.server
        for data in (b"\r\n\r\n", b"GET\r\n\r\n", b"\x00\xff" * 100 + b"\r\n\r\n", b"GET / HTTP/1.1\r\nHost: " + b"x" * 20000 + b"\r\n\r\n",
                     b"GET /" + b"y" * 20000 + b" HTTP/1.1\r\n\r\n"):
            try:
                s.raw(data)
            except ConnectionError:
                pass
        held = [s.connect() for _ in range(8)]  # half-open ones take no more than some of the threads
        held[0].sendall(b"GET / HTTP/1.1\r\nHost:")
        self.assertEqual(s.get(f"/{s.token}/")[0], 200)
        for one in held:
            one.close()

    def test_200_slow_connections(self):
        """The page comes while all of them are held: not because the first of them were given up (after 5 s)."""
        s = self.server
        for _ in range(20):  # on a loaded machine 5 s may go by: then the order of events says nothing, and it is tried again
            held = [s.connect() for _ in range(200)]
            for i, one in enumerate(held):
                one.sendall(b"GET / HTTP/1.1\r\nHost:"[:i % 22])
            self.assertEqual(s.get(f"/{s.token}/")[0], 200)
            given_up = sum(is_closed(one) for one in held)
            for one in held:
                one.close()
            if given_up == 0:
                return
        self.fail(f"{given_up} slow connections had to be given up before the page came")

    def test_a_slow_connection_is_given_up(self):
        with self.server.connect() as one:
            one.sendall(b"GET / HTTP/1.1\r\nHost:")
            while one.recv(65536):  # an answer, or nothing; then the end. Never: the socket's own time-out
                pass

    def test_stops_in_order(self):
        server = Server(self.folder, "run.h5")
        held = server.connect()  # and one that says nothing does not keep it
        self.assertEqual(server.stop(), 0)
        held.close()


class Live(CliTest):
    def setUp(self):
        super().setUp()
        self.write(GOOD)
        self.server = Server(self.folder, "scene.yaml", "--live", "--duration", "1e5")
        self.addCleanup(self.server.stop)

    def test_who_may_watch(self):
        for origin in ("http://evil.example", "null", None, "https://127.0.0.1:1"):
            s, status = self.server.websocket(origin=origin)
            s.close()
            self.assertEqual(status, 403, origin)
        s, status = self.server.websocket(path="/" + "0" * 32 + "/live")
        s.close()
        self.assertEqual(status, 403)
        s, status = self.server.websocket()
        self.assertEqual(status, 101)
        before = live_time(s)
        self.assertGreater(max(live_time(s) for _ in range(20)), before)
        s.close()

    def test_what_is_not_json_closes_the_connection(self):
        for text in (b"x", b"{", b'{"do": "play"', b"\xc3\x28"):
            s, _ = self.server.websocket()
            s.sendall(frame(text))
            self.ends(s, text)

    def ends(self, s, why):
        """The connection is closed by the server, whatever frames it sends before."""
        end = time.monotonic() + PATIENCE
        while read_message(s) is not None:
            self.assertLess(time.monotonic(), end, f"still open after {why!r}")
        s.close()

    def test_a_frame_without_a_mask_closes_the_connection(self):
        for good in (b'{"do": "pause"}', b'{"do": "step"}'):
            s, _ = self.server.websocket()
            s.sendall(frame(good))
            s.sendall(unmasked(good))
            self.ends(s, good)

    def test_a_ping_is_answered_and_a_close_obeyed(self):
        s, _ = self.server.websocket()
        s.sendall(frame(b"still there?", opcode=9))
        while True:
            data = read_message(s)
            self.assertIsNotNone(data)
            if data == b"still there?":
                break
        s.sendall(frame(b"", opcode=8))
        self.ends(s, "close")

    def test_stops_in_order_while_windows_watch(self):
        server = Server(self.folder, "scene.yaml", "--live", "--duration", "1e5")
        held = [server.websocket()[0] for _ in range(3)]
        live_time(held[0])
        self.assertEqual(server.stop(), 0)
        for s in held:
            s.close()

    def test_bad_clients_are_closed_and_the_run_goes_on(self):
        watcher, _ = self.server.websocket()
        live_time(watcher)
        bad = [frame(b"{}" + b" " * 5000), frame(b"\xff\xfe", opcode=2), frame(b"{", final=False),
               frame(b"", length=2**40), frame(b"x", opcode=11), b"\x00" * 50,
               unmasked(b"{"), b"\x81\x7e\xff\xff" + b"x" * 65535, b"\x81\x7f" + b"\xff" * 8]
        for data in bad:
            s, status = self.server.websocket()
            self.assertEqual(status, 101)
            s.sendall(data)
            self.ends(s, data[:20])
        s, _ = self.server.websocket()
        for text in (b"7", b"[]", b'{"do": "pull", "body": 1e99}', b'{"do": "rm"}'):  # wrong, but not rude: answered
            s.sendall(frame(text))
        notes = 0
        while notes < 4:  # frames come between them, as many as the machine makes
            data = read_message(s)
            self.assertIsNotNone(data)
            notes += b'"part":"note"' in data
        s.close()
        before = live_time(watcher)
        self.assertGreater(max(live_time(watcher) for _ in range(40)), before)
        watcher.close()

    def test_a_client_that_never_reads_holds_up_nobody(self):
        silent = [self.server.websocket()[0] for _ in range(3)]
        watcher, _ = self.server.websocket()
        first = live_time(watcher)
        deadline = time.monotonic() + PATIENCE
        while live_time(watcher) < first + 0.5:
            self.assertLess(time.monotonic(), deadline)
        fifth, _ = self.server.websocket()
        self.assertIn(b"too many", read_message(fifth))
        for s in (*silent, watcher, fifth):
            s.close()


class Faults(CliTest):
    def check(self, part, code, *arguments):
        done = self.call(*arguments)
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertIn(part, done.stderr)
        self.assertEqual(len(done.stderr.strip().splitlines()), 1, done.stderr)

    def test_view(self):
        self.write(GOOD)
        self.write("not hdf5", "text.h5")
        self.check("no such file", 2, "view", "none.h5")
        self.check("not an HDF5 file", 2, "view", "text.h5")
        self.check("add --live", 2, "view", "scene.yaml")
        self.check("no such file", 2, "view", "none.h5", "--export", "page.html")
        self.check("one recording, or two", 2, "view", "a.h5", "b.h5", "c.h5")
        self.check("--live takes one", 2, "view", "scene.yaml", "scene.yaml", "--live")
        self.check("--record goes with --live", 2, "view", "run.h5", "--record", "other.h5")
        self.check("is the scene itself", 2, "view", "scene.yaml", "--live", "--record", "scene.yaml")
        self.check("none/run.h5", 2, "view", "scene.yaml", "--live", "--record", "none/run.h5")
        self.assertEqual(self.files(), ["scene.yaml", "text.h5"])
        self.assertEqual(self.call("run", "scene.yaml", "-o", "run.h5", "-q").returncode, 0)
        self.check("choose another name", 2, "view", "run.h5", "--export", "run.h5")

    def test_plot(self):
        self.write(GOOD)
        self.assertEqual(self.call("run", "scene.yaml", "-o", "run.h5", "-q").returncode, 0)
        self.check("did you mean 'energy'", 2, "plot", "run.h5", "--what", "enrgy", "-o", "f.png")
        self.check("which body", 2, "plot", "run.h5", "--what", "speed", "-o", "f.png")
        self.check("no body 'x'", 2, "plot", "run.h5", "--what", "speed", "--body", "x", "-o", "f.png")
        self.check(".png or .svg", 2, "plot", "run.h5", "--what", "energy", "-o", "f.gif")
        self.assertNotIn("f.png", self.files())
        self.assertEqual(self.call("plot", "run.h5", "--what", "energy,residual,speed", "--body", "ball", "-o", "f.svg").returncode, 0)
        self.assertIn("<svg", (self.folder / "f.svg").read_text())


CHROMIUM = os.access("/usr/bin/chromium", os.X_OK)


class Film(CliTest):
    def setUp(self):
        super().setUp()
        self.write(GOOD)
        self.assertEqual(self.call("run", "scene.yaml", "-o", "run.h5", "-q").returncode, 0)

    def refused(self, part, code, *arguments, **options):
        done = self.call("view", *arguments, **options)
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertIn(part, done.stderr)
        self.assertEqual(len(done.stderr.strip().splitlines()), 1, done.stderr)

    def test_faults(self):
        self.refused(".mp4, .webm, .webp or .apng", 2, "run.h5", "--video", "f.avi")
        self.refused("WIDTHxHEIGHT", 2, "run.h5", "--video", "f.mp4", "--size", "huge")
        self.refused("even numbers", 2, "run.h5", "--video", "f.mp4", "--size", "641x360")
        self.refused("of a recording", 2, "scene.yaml", "--live", "--video", "f.mp4")
        self.refused("one of --video", 2, "run.h5", "--video", "f.mp4", "--export", "f.html")
        self.refused("--fps", 2, "run.h5", "--video", "f.mp4", "--fps", "0")
        self.refused("one recording", 2, "run.h5", "run.h5", "--export", "f.glb")
        self.assertEqual(self.files(), ["run.h5", "scene.yaml"])

    @unittest.skipUnless(CHROMIUM, "no Chromium")
    def test_without_ffmpeg_it_says_what_helps(self):
        self.refused("package ffmpeg", 1, "run.h5", "--video", "f.mp4", env={**os.environ, "PATH": str(self.folder)})
        self.assertEqual(self.files(), ["run.h5", "scene.yaml"])

    @unittest.skipUnless(CHROMIUM, "no Chromium")
    def test_pictures(self):
        self.refused("nothing is between", 1, "run.h5", "--png", "p", "--from", "7")
        done = self.call("view", "run.h5", "--png", "p", "--fps", "10", "--from", "0.1", "--size", "320x200")
        self.assertEqual(done.returncode, 0, done.stderr)
        names = sorted(p.name for p in (self.folder / "p").iterdir())
        self.assertEqual(names, [f"frame_{k:05d}.png" for k in range(5)], "0.1 to 0.5 s")
        pictures = [(self.folder / "p" / name).read_bytes() for name in names]
        for data in pictures:
            self.assertEqual((data[:8], struct.unpack(">II", data[16:24])), (b"\x89PNG\r\n\x1a\n", (320, 200)))
        self.assertGreater(len(set(pictures)), 2, "something moves")

    @unittest.skipUnless(CHROMIUM and shutil.which("ffmpeg"), "no Chromium or no ffmpeg")
    def test_film(self):
        for name in ("f.mp4", "f.webm", "f.apng"):
            done = self.call("view", "run.h5", "--video", name, "--fps", "8", "--size", "160x120", "--look", "theme=light&caption=1")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("5 pictures", done.stderr)
            probe = subprocess.run(["ffprobe", "-v", "error", "-count_frames", "-show_entries", "stream=width,height,nb_read_frames",
                                    "-of", "csv=p=0", name], cwd=self.folder, capture_output=True, text=True, check=True)
            self.assertEqual(probe.stdout.strip(), "160,120,5")
        self.assertNotIn("f.part.mp4", self.files())


class Export(CliTest):
    def test_page_is_whole_and_holds_no_name_as_html(self):
        hostile = "</script><script>alert(1)</script><img src=x onerror=alert(1)>"
        self.write(GOOD.replace("name: ball", f"name: '{hostile}'").replace("slipstick: 1", f"slipstick: 1\nname: '{hostile}'"))
        self.assertEqual(self.call("run", "scene.yaml", "-o", "run.h5", "-q").returncode, 0)
        done = self.call("view", "run.h5", "--export", "page.html")
        self.assertEqual(done.returncode, 0, done.stderr)
        page = (self.folder / "page.html").read_text()
        self.assertNotIn("alert(1)", page)
        self.assertIn("application/x-slipstick", page)
        for outside in ("src=\"http", "href=\"http", "url(http"):
            self.assertNotIn(outside, page)


if __name__ == "__main__":
    unittest.main()
