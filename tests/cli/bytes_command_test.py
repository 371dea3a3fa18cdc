"""footprint bytes: the figures that everybody knows by heart."""

import unittest

from command import CommandTest


class Bytes(CommandTest):
    def test_known_sizes(self):
        for params, figures in {
            "100M": ["400 MB", "200 MB", "100 MB", "50 MB"],
            "1B": ["4 GB", "2 GB", "1 GB", "0.5 GB"],
            "7B": ["28 GB", "14 GB", "7 GB", "3.5 GB"],
        }.items():
            rows = self.succeed("bytes", "--params", params).splitlines()[2:6]
            for name, figure, row in zip(["fp32", "fp16/bf16", "int8", "int4"], figures, rows):
                self.assertRegex(row, r"^  %s .* %s " % (name, figure))

    def test_json_is_exact(self):
        document = self.succeed_in_json("bytes", "--params", "1.5B", "--optimizer", "adam")
        self.assertEqual(document["schema"], "footprint-bytes/1")
        self.assertEqual(document["parameter_count"], 1500000000)
        self.assertEqual(
            document["widths"],
            {"fp32": 6000000000, "fp16/bf16": 3000000000, "int8": 1500000000, "int4": 750000000},
        )
        fp32 = document["training"][0]
        self.assertEqual(fp32["gradient_bytes"], 6000000000)
        self.assertEqual(fp32["optimizer_state_bytes"], 12000000000)

    def test_bytes_per_parameter(self):
        document = self.succeed_in_json("bytes", "--params", "1M", "--optimizer", "adam")
        totals = [regime["total_bytes"] for regime in document["training"]]
        self.assertEqual(totals, [16000000, 12000000, 8000000, 16000000, 18000000])

    def test_without_an_optimizer_there_is_no_training(self):
        self.assertNotIn("Training", self.succeed("bytes", "--params", "7B"))
        self.assertEqual(self.succeed_in_json("bytes", "--params", "7B")["training"], [])

    def test_the_number_of_parameters_is_needed(self):
        self.assertEqual(self.fail_both_ways(3, "bytes")["place"], "--params")


if __name__ == "__main__":
    unittest.main()
