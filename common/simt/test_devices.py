"""Programs for several devices (programs/devices): right in every mode, and what is left out of them is found."""

import os
import unittest
from concurrent.futures import ThreadPoolExecutor

from simtcc_testing import SIMT, InFolder, has_list, run, sampled, simtcc

PROGRAMS = SIMT / "programs/devices"
MODES = {"plain": [], "check": ["--check"], "profile": ["--profile"]}

# A program, what its compilation defines, and what --check finds on 3 devices.
WRONG = [
    ("peer_copies", ["NO_PEER"], ["it reads memory of device 1 while running on device 0, without cudaDeviceEnablePeerAccess",
                                  "peer_copies.cu:13"]),
    ("one_shot", ["VOLATILE", "NO_FENCE"], ["racecheck: race of two devices", "one_shot.cu:64"]),
    ("one_shot", ["VOLATILE", "NO_WAIT"], ["racecheck: race of two devices", "one_shot.cu:64"]),
    ("one_shot", ["ONE_BUFFER"], ["racecheck: race of two devices", "one_shot.cu:64"]),
    ("collectives", ["ONCE_ONLY", "COUNTS"], ["nccl: ranks that call different things", "a count of", "65", "64", "collectives.cu"]),
    ("collectives", ["ONCE_ONLY", "OTHER"], ["nccl: ranks that call different collectives", "ncclBroadcast", "ncclAllReduce", "collectives.cu"]),
    ("collectives", ["ONCE_ONLY", "FORGET"], ["A collective that not all ranks have called: ncclAllReduce, number 1 of its communicator, has been "
                                 "called by ranks 0, 2 and not by rank 1"]),
    ("collectives", ["ONCE_ONLY", "NO_GROUP"], ["one thread calls for several ranks outside of a group", "collectives.cu"]),
    ("collectives", ["ONCE_ONLY", "WRONG_MEMORY"], ["send buffer is memory of device 0, and the rank is on device 1"]),
    ("communicators", ["FACTOR_ALONE"], ["nccl: ranks that call different things", " has reduction with", "without a factor", "with a factor", "communicators.cu"]),
    ("communicators", ["SPLIT_ALONE"], ["nccl: a communicator that not all ranks have joined", "ncclCommSplit waits for rank 1 of 3"]),
    ("one_shot", ["FORGET"], ["deadlock of several devices", "polls memory", "Device 1: has done all that it was given"]),
]


class SeveralDevices(InFolder):
    @has_list
    def test_each_is_right_in_every_mode_on_any_number_of_devices(self):
        jobs = sampled([(program, mode) for program in sorted(PROGRAMS.glob("*.cu")) for mode in MODES], 18, "programs of several devices, in one of 3 modes")
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            made = pool.map(lambda job: simtcc(*MODES[job[1]], job[0], "-o", f"{job[0].stem}-{job[1]}", folder=self.folder), jobs)
            for (program, mode), build in zip(jobs, made):
                self.assertEqual(build.returncode, 0, build.stdout)
                for devices in ("1", "2", "4"):
                    with self.subTest(program=program.name, mode=mode, devices=devices):
                        result = run(f"{program.stem}-{mode}", self.folder, SIMT_DEVICES=devices)
                        self.assertEqual(result.returncode, 0, result.stdout)
                        self.assertIn("PASS", result.stdout)

    def test_bytes_over_links_are_counted(self):
        self.builds("--profile", str(PROGRAMS / "peer_copies.cu"), "-o", "copies")
        result = run("copies", self.folder, SIMT_DEVICES="2", SIMT_PROFILE=str(self.folder / "counters.json"))
        # 16,384 floats by a copy and by each kernel's loads; the last copy of 4 bytes goes to device 1.
        self.assertIn(f"from device 0 to device 1: {2 * 65536 + 4} bytes", result.stdout)
        self.assertIn("from device 1 to device 0: 65536 bytes", result.stdout)

    @has_list
    def test_what_is_left_out_is_found(self):
        def build(number):
            program, defined, _ = WRONG[number]
            return simtcc("--check", *(f"-D{one}" for one in defined), PROGRAMS / f"{program}.cu", "-o", f"wrong{number}", folder=self.folder)

        with ThreadPoolExecutor(os.cpu_count()) as pool:
            numbers = sampled(range(len(WRONG)), 8, "of these programs with one part left out")
            for number, made in zip(numbers, pool.map(build, numbers)):
                program, defined, findings = WRONG[number]
                with self.subTest(program=program, defined=defined):
                    self.assertEqual(made.returncode, 0, made.stdout)
                    result = run(f"wrong{number}", self.folder, SIMT_DEVICES="3")
                    self.assertNotEqual(result.returncode, 0, result.stdout)
                    for finding in findings:
                        self.assertIn(finding, result.stdout)

    def test_a_wrong_number_of_devices_is_refused(self):
        self.write("a.cu", "int main() {}\n")
        self.builds("a.cu", "-o", "a")
        for devices in ("0", "17", "two", ""):
            result = run("a", self.folder, SIMT_DEVICES=devices)
            self.assertEqual(result.returncode, 2)
            self.assertIn("is not a number of devices from 1 to 16", result.stdout)


if __name__ == "__main__":
    unittest.main()
