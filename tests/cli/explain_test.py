"""footprint explain: one tensor, in training and in inference."""

import unittest

from command import SOURCE, CommandTest

RESNET = str(SOURCE / "models" / "resnet50.train_loss.onnx")
RELU = "/m/layer1/layer1.0/relu/Relu_output_0"


class Explain(CommandTest):
    def test_an_activation(self):
        found = self.succeed_in_json("explain", RESNET, RELU, "--dim", "batch=2")
        self.assertEqual(found["schema"], "footprint-explain/1")
        self.assertEqual(found["bytes"], 2 * 64 * 56 * 56 * 4)
        self.assertEqual(found["bytes_expression"], "802816*batch")
        training, inference, runtime = found["runs"]
        self.assertEqual((training["run"], inference["run"]), ("training", "inference"))
        self.assertEqual(runtime["run"], "onnxruntime")
        self.assertEqual(runtime["storage_bytes"], found["bytes"])
        self.assertEqual(training["operator"], "aten::relu")
        self.assertEqual(training["category"], "saved_activation")
        self.assertEqual(training["storage_bytes"], found["bytes"])
        self.assertIn("aten::relu", training["saved_by"])
        self.assertIn("aten::conv2d", training["saved_by"])
        self.assertTrue(training["alive_until"].startswith("backward: "))
        self.assertEqual(inference["saved_by"], [])

    def test_a_parameter(self):
        found = self.succeed_in_json("explain", RESNET, "m.fc.weight", "--mode", "training")
        self.assertEqual([run["category"] for run in found["runs"]], ["parameter"])
        self.assertTrue(found["runs"][0]["at_peak"])

    def test_text(self):
        text = self.succeed("explain", RESNET, RELU)
        for words in (RELU, "saved by", "aten::conv2d", "known from"):
            self.assertIn(words, text)

    def test_mistakes(self):
        self.fail_in_json(3, "explain", RESNET, "no such tensor")
        self.fail_in_json(3, "explain", RESNET)
        self.fail_in_json(3, "explain")


if __name__ == "__main__":
    unittest.main()
