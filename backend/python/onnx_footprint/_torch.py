"""from_module(): the memory of a PyTorch module, without writing a file."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Unpack

from ._analyze import analyze
from ._core import Report
from ._options import Options

if TYPE_CHECKING:
    import onnx
    import torch

# Smaller contents may decide shapes: they go along.
LARGEST_KEPT_BYTES = 1024


def from_module(module: torch.nn.Module, example_inputs: tuple[Any, ...],
                example_kwargs: Mapping[str, Any] | None = None, *,
                dynamic_shapes: Any = None, export: Mapping[str, Any] | None = None,
                **options: Unpack[Options]) -> Report:
    """Analyzes a module as it stands: in training or evaluation mode, its parameters under their
    own names, those that do not require gradients as frozen ones.

    The module is exported by torch.onnx (dynamo) to memory. Its weights are neither copied nor
    written; a module on the "meta" device has none to begin with. `dynamic_shapes` names
    dimensions as torch.export does, `export` has more arguments for torch.onnx.export.

        report = from_module(model, (images,), dynamic_shapes=({0: "batch"},), dim={"batch": 256})
    """
    model = _export(module, tuple(example_inputs), dict(example_kwargs or {}),
                    {"dynamic_shapes": dynamic_shapes, **(export or {})})
    given = options.get("freeze") or ()
    frozen = [given] if isinstance(given, str) else [*given]
    stored = {initializer.name for initializer in model.graph.initializer}
    frozen += [_literal(name) for name, parameter in _parameters(module)
               if not parameter.requires_grad and name in stored]
    options["freeze"] = frozen
    return analyze(model, name=type(module).__name__, **options)


def _export(module: torch.nn.Module, inputs: tuple[Any, ...], kwargs: dict[str, Any],
            export: dict[str, Any]) -> onnx.ModelProto:
    import onnx_ir
    import torch

    with warnings.catch_warnings():
        # That a module is exported in training mode is intended.
        warnings.filterwarnings("ignore", message="Exporting a model while it is in training mode")
        program = torch.onnx.export(module, inputs, kwargs=kwargs, dynamo=True, verbose=False,
                                    **{"optimize": False, **export})
    assert program is not None
    for value in program.model.graph.initializers.values():
        if value.const_value is not None and value.const_value.nbytes > LARGEST_KEPT_BYTES:
            value.const_value = onnx_ir.ExternalTensor(
                location="weights of the module", offset=None, length=None,
                dtype=value.const_value.dtype, shape=value.const_value.shape,
                name=value.const_value.name or "")
    return onnx_ir.to_proto(program.model)


def _parameters(module: torch.nn.Module) -> Iterable[tuple[str, torch.nn.Parameter]]:
    return module.named_parameters(remove_duplicate=False)


def _literal(name: str) -> str:
    """A glob that matches the name alone."""
    return "".join(f"[{letter}]" if letter in "*?[" else letter for letter in name)
