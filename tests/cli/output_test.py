"""Documents leave whole or not at all: files, folders, full disks, closed pipes, signals."""

import fcntl
import json
import os
import pty
import signal
import stat
import struct
import subprocess
import termios
import time
import unittest

from command import BINARY, CommandTest


class Files(CommandTest):
    def names(self, folder="."):
        return sorted(p.name for p in (self.folder / folder).iterdir() if p.suffix != ".onnxtxt")

    def test_a_file_gets_the_document_and_standard_output_nothing(self):
        direct = self.succeed("analyze", "valid.onnxtxt", "--format", "json")
        written = self.succeed("analyze", "valid.onnxtxt", "--format", "json", "--output", "r.json")
        self.assertEqual(written, "")
        self.assertEqual((self.folder / "r.json").read_text(), direct)
        self.assertEqual(self.names(), ["r.json"])

    def test_a_new_file_has_the_usual_mode_and_an_old_one_keeps_its_own(self):
        self.succeed("bytes", "--params", "1B", "--output", "a.txt")
        mask = os.umask(0)
        os.umask(mask)
        path = self.folder / "a.txt"
        self.assertEqual(stat.S_IMODE(path.stat().st_mode), 0o666 & ~mask)
        path.chmod(0o600)
        self.succeed("bytes", "--params", "7B", "--output", "a.txt")
        self.assertEqual(stat.S_IMODE(path.stat().st_mode), 0o600)
        self.assertIn("7,000,000,000", path.read_text())

    def test_a_link_stays_a_link(self):
        (self.folder / "real.txt").write_text("old")
        (self.folder / "link.txt").symlink_to("real.txt")
        self.succeed("bytes", "--params", "1B", "--output", "link.txt")
        self.assertTrue((self.folder / "link.txt").is_symlink())
        self.assertIn("1,000,000,000", (self.folder / "real.txt").read_text())

    def test_several_formats_need_a_folder(self):
        both = ["analyze", "valid.onnxtxt", "--format", "text", "--format", "json"]
        error = json.loads(self.run_command(*both).stdout)["error"]
        self.assertIn("--output DIR", error["message"])
        self.assertEqual(self.succeed(*both, "--output", "reports/new"), "")
        self.assertEqual(self.names("reports/new"), ["valid.json", "valid.txt"])
        json.loads((self.folder / "reports/new/valid.json").read_text())

    def test_a_folder_that_is_a_file_is_refused(self):
        (self.folder / "taken").write_text("x")
        both = ["bytes", "--params", "1B", "--format", "text", "--format", "json"]
        result = self.run_command(*both, "--output", "taken")
        self.assertEqual(result.returncode, 3)
        self.assertEqual((self.folder / "taken").read_text(), "x")

    def test_one_format_into_an_existing_folder(self):
        (self.folder / "there").mkdir()
        self.succeed("analyze", "valid.onnxtxt", "--output", "there")
        self.assertEqual(self.names("there"), ["valid.txt"])

    def test_failures_leave_nothing_and_keep_what_was_there(self):
        (self.folder / "r.json").write_text("old")
        self.fail_in_json(2, "analyze", "made_twice.onnxtxt", "--output", "r.json")
        self.assertEqual((self.folder / "r.json").read_text(), "old")
        self.assertEqual(self.names(), ["r.json"])
        self.fail_both_ways(3, "bytes", "--params", "1B", "--output", "no/such/folder.txt")
        self.assertEqual(self.names(), ["r.json"])

    def test_a_file_size_limit_leaves_nothing(self):
        limited = 'ulimit -f 0; exec "$0" bytes --params 7B --output out.txt'
        result = subprocess.run(["sh", "-c", limited, BINARY], cwd=self.folder,
                                capture_output=True, check=False, timeout=60)
        self.assertEqual(result.returncode, 3, result.stderr)
        self.assertIn(b"cannot write", result.stderr)
        self.assertEqual(self.names(), [])

    def test_places_that_are_no_files_are_written_to(self):
        self.succeed("bytes", "--params", "7B", "--output", "/dev/null")
        self.assertTrue(stat.S_ISCHR(os.stat("/dev/null").st_mode))
        error = self.fail_both_ways(3, "bytes", "--params", "7B", "--output", "/dev/full")
        self.assertEqual(error["place"], "/dev/full")


class StandardOutput(CommandTest):
    def test_a_full_disk_is_3_with_a_message(self):
        with open("/dev/full", "wb") as full:
            result = self.run_command("analyze", "valid.onnxtxt", stdout=full)
        self.assertEqual(result.returncode, 3)
        self.assertIn(b"No space left", result.stderr)

    def test_a_closed_pipe_is_3_with_a_message(self):
        reader, writer = os.pipe()
        os.close(reader)
        result = self.run_command("analyze", "valid.onnxtxt", stdout=writer)
        os.close(writer)
        self.assertEqual(result.returncode, 3)
        self.assertIn(b"Broken pipe", result.stderr)

    def test_a_closed_descriptor_is_3_with_a_message(self):
        result = subprocess.run(["sh", "-c", 'exec "$0" bytes --params 7B >&-', BINARY],
                                capture_output=True, check=False, timeout=60)
        self.assertEqual(result.returncode, 3)
        self.assertIn(b"standard output", result.stderr)

    def test_the_same_input_gives_the_same_bytes(self):
        for form in ("text", "json"):
            runs = {self.succeed("analyze", "valid.onnxtxt", "--format", form) for _ in range(3)}
            self.assertEqual(len(runs), 1)

    def test_a_signal_waits_for_the_document(self):
        command = ["ops", "--format", "json"]
        whole = self.succeed(*command).encode()
        reader, writer = os.pipe()
        size = fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, 4096)
        self.assertGreater(len(whole), size)
        process = subprocess.Popen([BINARY, *command], stdout=writer, stderr=subprocess.DEVNULL)
        os.close(writer)
        wait_until_full(reader, size)
        process.send_signal(signal.SIGTERM)
        with os.fdopen(reader, "rb") as pipe:
            self.assertEqual(pipe.read(), whole)
        self.assertEqual(process.wait(timeout=60), -signal.SIGTERM)

    def test_colour_is_for_terminals_that_want_it(self):
        self.assertIn(b"\x1b[1m", self.at_a_terminal())
        self.assertNotIn(b"\x1b", self.at_a_terminal(NO_COLOR="1"))
        self.assertNotIn(b"\x1b", self.at_a_terminal(TERM="dumb"))
        self.assertNotIn("\x1b", self.succeed("bytes", "--params", "7B"))

    def at_a_terminal(self, **environment):
        try:
            parent, child = pty.openpty()
        except OSError:
            self.skipTest("no terminal devices here")
        surroundings = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "COLUMNS")}
        surroundings.update({"TERM": "xterm"}, **environment)
        process = subprocess.Popen([BINARY, "bytes", "--params", "7B"], stdout=child,
                                   env=surroundings)
        os.close(child)
        text = b""
        try:
            while block := os.read(parent, 65536):
                text += block
        except OSError:  # the terminal's other end is closed
            pass
        os.close(parent)
        self.assertEqual(process.wait(timeout=60), 0)
        return text


def wait_until_full(pipe, size):
    """The command is then in the middle of its document."""
    for _ in range(2000):
        waiting = fcntl.ioctl(pipe, termios.FIONREAD, struct.pack("i", 0))
        if struct.unpack("i", waiting)[0] == size:
            return
        time.sleep(0.01)
    raise AssertionError("the command never filled the pipe")


class Dump(CommandTest):
    def test_names_are_printed_as_in_reports(self):
        (self.folder / "names.textproto").write_text(
            'ir_version: 8 opset_import { version: 17 } graph { name: "g" '
            'node { op_type: "Relu" input: "x" output: "a\\033[31m\\000\\nb" } '
            'node { op_type: "Abs" input: "a\\033[31m\\000\\nb" output: "y" } '
            'input { name: "x" type { tensor_type { elem_type: 1 shape { '
            'dim { dim_param: "N\\033" } } } } } output { name: "y" } }')
        for step in ("import", "infer", "lower", "replay"):
            text = self.succeed("analyze", "names.textproto", "--dump", step)
            self.assertNotRegex(text, "[\x00-\x09\x0b-\x1f\x7f]", step)
            self.assertNotRegex(text, "(?m)^b(?!ackward)", step)


if __name__ == "__main__":
    unittest.main()
