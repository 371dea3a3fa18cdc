"""from_module(): the memory of a PyTorch module, without writing a file."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Unpack

from ._analyze import check, contents_of, run
from ._core import Report
from ._extras import extra
from ._options import Options

if TYPE_CHECKING:
    import onnx
    import onnx_ir
    import torch

# Smaller contents may decide shapes: they go along.
LARGEST_KEPT_BYTES = 1024
UNSTORED = "weights of the module"


def from_module(module: torch.nn.Module, example_inputs: tuple[Any, ...],
                example_kwargs: Mapping[str, Any] | None = None, *,
                name: str | None = None, dynamic_shapes: Any = None,
                export: Mapping[str, Any] | None = None, **options: Unpack[Options]) -> Report:
    """Analyzes a module as it stands, its parameters under their own names, those that do not
    require gradients as frozen ones.

    The module is exported by torch.onnx (dynamo) to memory. Its weights are neither copied nor
    written; a module on the "meta" device has none to begin with. `dynamic_shapes` names
    dimensions as torch.export does, `export` has more arguments for torch.onnx.export. `name` is
    what the report calls the module, else its class.

    A training step is that of a module in training mode, so call train() first: of one in
    evaluation mode dropout is missing, and normalization keeps statistics of batches all the same.
    Parts in evaluation mode inside a module in training mode are frozen: norms use the statistics
    that they have.

        report = from_module(model, (images,), dynamic_shapes=({0: "batch"},), dim={"batch": 256})
    """
    if not isinstance(example_inputs, (tuple, list)):
        raise TypeError("expected a tuple of example inputs, as the module is called with them")
    check(options)
    trains = options.get("mode") != "inference"
    if trains and not module.training:
        warnings.warn("the module is in evaluation mode: its training step is analyzed without "
                      "dropout, and with normalization as in training; call train() first, or ask "
                      "for mode='inference'", stacklevel=2)
    model = _export(module, tuple(example_inputs), dict(example_kwargs or {}),
                    {"dynamic_shapes": dynamic_shapes, **(export or {})})
    if trains:
        given = options.get("freeze") or ()
        stored = {initializer.name for initializer in model.graph.initializer}
        options["freeze"] = [*([given] if isinstance(given, str) else given),
                             *_frozen(module, stored)]
    return run(contents_of(model), name or type(module).__name__, options, UNSTORED)


def _export(module: torch.nn.Module, inputs: tuple[Any, ...], kwargs: dict[str, Any],
            export: dict[str, Any]) -> onnx.ModelProto:
    with extra("torch"):
        import onnx_ir
        import onnxscript.optimizer
        import onnxscript.rewriter
        import torch

    with warnings.catch_warnings():
        # That a module is exported in training mode is intended.
        warnings.filterwarnings("ignore", message="Exporting a model while it is in training mode")
        program = torch.onnx.export(module, inputs, kwargs=kwargs, dynamo=True, verbose=False,
                                    optimize=False, **export)
    assert program is not None
    weights = _take_weights(program.model)
    # What is computed from shapes is folded; with no weights to compute with, parameters stay.
    onnxscript.optimizer.inline(program.model)
    onnxscript.optimizer.fold_constants(program.model)
    onnxscript.rewriter.rewrite(program.model)
    onnxscript.optimizer.remove_unused_nodes(program.model)
    for name, value in program.model.graph.initializers.items():
        if name in weights:
            value.const_value = onnx_ir.ExternalTensor(
                location=UNSTORED, offset=None, length=None, name=name,
                dtype=weights[name].dtype, shape=weights[name].shape)
    if module.training:  # no node says so where all norms are frozen and nothing is dropped
        program.model.metadata_props["footprint.module_mode"] = "training"
    model: onnx.ModelProto = onnx_ir.to_proto(program.model)
    return model


def _take_weights(model: onnx_ir.Model) -> dict[str, onnx_ir.TensorProtocol]:
    """Leaves the model without the contents of all but small tensors."""
    taken: dict[str, onnx_ir.TensorProtocol] = {}
    for name, value in model.graph.initializers.items():
        tensor = value.const_value
        if tensor is not None and (tensor.nbytes > LARGEST_KEPT_BYTES
                                   or _is_of_module(tensor)):
            taken[name], value.const_value = tensor, None
    return taken


def _is_of_module(tensor: onnx_ir.TensorProtocol) -> bool:
    import torch

    raw = tensor.raw
    return isinstance(raw, torch.nn.Parameter) or bool(getattr(raw, "is_meta", False))


def _frozen(module: torch.nn.Module, stored: set[str]) -> list[str]:
    """Globs of parameters among the stored ones that do not require gradients."""
    return [_literal(name) for name, parameter in module.named_parameters(remove_duplicate=False)
            if not parameter.requires_grad and name in stored]


def _literal(name: str) -> str:
    """A glob that matches the name alone."""
    return "".join(f"[{letter}]" if letter in "*?[" else letter for letter in name)
