"""from_module(): modules analyzed as they stand, held against what PyTorch's autograd saves."""

import sys
import unittest
import unittest.mock
import warnings

import torch
from torch import nn

import onnx_footprint
from onnx_footprint import from_module


class Convolutions(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(3, 8, 3, padding=1, bias=False), nn.BatchNorm2d(8), nn.ReLU(),
            nn.Conv2d(8, 16, 3, stride=2), nn.GELU())
        self.head = nn.Linear(16, 10)

    def forward(self, images, labels):
        pooled = self.features(images).mean((2, 3))
        return nn.functional.cross_entropy(self.head(pooled), labels)


class Words(nn.Module):
    """An embedding tied to the head, layer norm, attention by hand."""

    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(50, 16)
        self.norm = nn.LayerNorm(16)
        self.qkv = nn.Linear(16, 48)
        self.out = nn.Linear(16, 16)
        self.head = nn.Linear(16, 50, bias=False)
        self.head.weight = self.embedding.weight

    def forward(self, words, labels):
        hidden = self.embedding(words)
        query, key, value = self.qkv(self.norm(hidden)).chunk(3, dim=-1)
        weights = torch.softmax(query @ key.transpose(-2, -1) / 4, dim=-1)
        hidden = hidden + self.out(weights @ value)
        return nn.functional.cross_entropy(self.head(hidden).flatten(0, 1), labels.flatten())


def images(batch: int):
    return torch.randn(batch, 3, 32, 32), torch.randint(0, 10, (batch,))


def words(batch: int):
    return torch.randint(0, 50, (batch, 12)), torch.randint(0, 50, (batch, 12))


def saved_bytes(module: nn.Module, inputs) -> int:
    """Of the storages that autograd keeps for backward, the module's own left out."""
    own = {tensor.untyped_storage().data_ptr()
           for tensor in [*module.parameters(), *module.buffers()]}
    kept = []

    def pack(tensor):
        kept.append(tensor)
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        loss = module(*inputs)
    storages = {tensor.untyped_storage().data_ptr(): tensor.untyped_storage().nbytes()
                for tensor in kept}
    del loss
    return sum(size for place, size in storages.items() if place not in own)


class FromModule(unittest.TestCase):
    def test_what_is_saved_is_what_autograd_saves(self):
        for module, inputs in ((Convolutions(), images(4)), (Words(), words(2))):
            for frozen in ([], [next(iter(module.state_dict()))]):
                for name, parameter in module.named_parameters():
                    parameter.requires_grad_(name not in frozen)
                report = from_module(module, inputs, mode="training")
                self.assertEqual(report.training.saved_bytes, saved_bytes(module, inputs),
                                 (type(module).__name__, frozen))
                parameters = list(module.parameters())
                self.assertEqual(report.parameter_count, sum(p.numel() for p in parameters))
                self.assertEqual(report.trainable_parameter_count,
                                 sum(p.numel() for p in parameters if p.requires_grad))
                self.assertEqual(report.training.loss, "from the model")

    def test_names_are_the_modules(self):
        module = Convolutions()
        report = from_module(module, images(2))
        self.assertEqual(report.model_path, "Convolutions")
        self.assertEqual(from_module(module, images(2), name="mine").model_path, "mine")
        self.assertEqual([d.message for d in report.diagnostics if "weights" in d.place], [])
        stored = {t.name: t.bytes for t in report.tensors if t.category == "parameter"}
        self.assertEqual(stored, {name: p.numel() * 4 for name, p in module.named_parameters()})
        self.assertIn("features/0", {layer.path for layer in report.layers})

    def test_dynamic_shapes_are_dimensions(self):
        shapes = ({0: "batch"}, {0: "batch"})
        report = from_module(Convolutions(), images(2), dynamic_shapes=shapes, dim={"batch": 64})
        self.assertEqual([(b.name, b.value) for b in report.bindings], [("batch", 64)])
        self.assertEqual(report.training.saved_bytes, saved_bytes(Convolutions(), images(64)))

    def test_no_weights_are_needed(self):
        with torch.device("meta"):
            large = nn.Sequential(nn.Linear(50000, 50000), nn.ReLU(), nn.Linear(50000, 10))
            example = torch.empty(1, 50000)
        report = from_module(large, (example,), loss="sum", optimizer="sgd")
        self.assertEqual(report.parameter_count, sum(p.numel() for p in large.parameters()))
        self.assertGreater(report.training.peak.live_bytes, 2 * 4 * 50000 ** 2)

    def test_a_norm_in_evaluation_mode_is_frozen(self):
        module, inputs = Convolutions(), images(4)
        module.features[1].eval()
        with warnings.catch_warnings():
            warnings.simplefilter("error", UserWarning)
            report = from_module(module, inputs, mode="training")
        self.assertEqual(report.training.saved_bytes, saved_bytes(module, inputs))

    def test_evaluation_mode_is_told_of(self):
        module = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4))
        example = (torch.randn(2, 3, 8, 8),)
        module.eval()
        with self.assertWarnsRegex(UserWarning, "call train\\(\\) first"):
            from_module(module, example, loss="sum")
        with warnings.catch_warnings():
            warnings.simplefilter("error", UserWarning)
            for parameter in module.parameters():
                parameter.requires_grad_(False)
            report = from_module(module, example, mode="inference")
        self.assertEqual([d.message for d in report.diagnostics], [])

    def test_refusals(self):
        with self.assertRaisesRegex(TypeError, "tuple of example inputs"):
            from_module(nn.Linear(2, 2), torch.ones(1, 2))
        linear, example = nn.Linear(2, 2), (torch.ones(1, 2),)
        with unittest.mock.patch.object(torch.onnx, "export", side_effect=AssertionError):
            with self.assertRaisesRegex(onnx_footprint.UsageError, "none such"):
                from_module(linear, example, optimizer="none such")
            with self.assertRaisesRegex(TypeError, "did you mean 'optimizer'"):
                from_module(linear, example, optimiser="adamw")
        with unittest.mock.patch.dict(sys.modules, {"onnxscript.optimizer": None}):
            with self.assertRaisesRegex(ModuleNotFoundError, r"onnx-footprint\[torch\] brings"):
                from_module(linear, example)


if __name__ == "__main__":
    unittest.main()
