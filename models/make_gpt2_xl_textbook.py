#!/usr/bin/env python3
"""Writes gpt2-xl-textbook.onnxtxt: python3 make_gpt2_xl_textbook.py > gpt2-xl-textbook.onnxtxt

GPT-2 XL as articles on training memory draw it: two embeddings, 48 layers of six square
projections, no biases, norms, mask, output head or loss. The weights are external data whose file
is absent.
"""

LAYERS, HIDDEN, HEADS, CONTEXT, VOCABULARY = 48, 1600, 25, 1024, 50257
FLOAT_BYTES = 4


def layer(index: int, x: str) -> tuple[list[str], list[str], str]:
    """The nodes and weight names of one layer that reads x, and the name of its output."""
    scope = f"h.{index}"
    nodes: list[str] = []
    weights: list[str] = []

    def node(path: str, operator: str, inputs: list[str], attributes: str = "") -> str:
        name = f"/{scope}/{path}"
        arguments = ", ".join(f'"{value}"' for value in inputs)
        nodes.append(f'["{name}"] "{name}_output" = {operator}{attributes} ({arguments})')
        return f"{name}_output"

    def linear(module: str, value: str) -> str:
        weights.append(f"{scope}.{module.replace('/', '.')}.weight")
        return node(f"{module}/MatMul", "MatMul", [value, weights[-1]])

    def heads(module: str, value: str, order: str) -> str:
        split = node(f"attention/{module}_heads/Reshape", "Reshape", [value, "split_heads"])
        perm = f" <perm = {order}>"
        return node(f"attention/{module}_heads/Transpose", "Transpose", [split], perm)

    query = heads("query", linear("attention/query", x), "[0, 2, 1, 3]")
    key = heads("key", linear("attention/key", x), "[0, 2, 3, 1]")
    value = heads("value", linear("attention/value", x), "[0, 2, 1, 3]")
    scores = node("attention/scores/MatMul", "MatMul", [query, key])
    scaled = node("attention/scores/Mul", "Mul", [scores, "scale"])
    probabilities = node("attention/Softmax", "Softmax", [scaled], " <axis = -1>")
    context = node("attention/context/MatMul", "MatMul", [probabilities, value])
    back = node("attention/context/Transpose", "Transpose", [context], " <perm = [0, 2, 1, 3]>")
    merged = node("attention/context/Reshape", "Reshape", [back, "merge_heads"])
    attended = node("attention/Add", "Add", [x, linear("attention/output", merged)])
    wide = node("feed_forward/Relu", "Relu", [linear("feed_forward/up", attended)])
    narrow = linear("feed_forward/down", wide)
    return nodes, weights, node("feed_forward/Add", "Add", [attended, narrow])


def main() -> None:
    shapes = {
        "token_embedding.weight": (VOCABULARY, HIDDEN),
        "position_embedding.weight": (CONTEXT, HIDDEN),
    }
    nodes = [
        '["/token_embedding/Gather"] tokens = Gather ("token_embedding.weight", input_ids)',
        '["/position_embedding/Range"] positions = Range (zero, context, one)',
        '["/position_embedding/Gather"] places = Gather ("position_embedding.weight", positions)',
        '["/Add"] hidden = Add (tokens, places)',
    ]
    x = "hidden"
    for index in range(LAYERS):
        layer_nodes, weights, x = layer(index, x)
        nodes += layer_nodes
        shapes |= {name: (HIDDEN, HIDDEN) for name in weights}
    nodes.append(f'["/Identity"] last_hidden_state = Identity ("{x}")')

    constants = [
        "int64 zero = {0}",
        f"int64 context = {{{CONTEXT}}}",
        "int64 one = {1}",
        f"int64[4] split_heads = {{0, {CONTEXT}, {HEADS}, {HIDDEN // HEADS}}}",
        f"int64[3] merge_heads = {{0, {CONTEXT}, {HIDDEN}}}",
        f"float scale = {{{(HIDDEN // HEADS) ** -0.5}}}",
    ]
    offset = 0
    for name, (rows, columns) in shapes.items():
        length = rows * columns * FLOAT_BYTES
        constants.append(
            f'float[{rows}, {columns}] "{name}" = ["location": "gpt2-xl-textbook.weights", '
            f'"offset": "{offset}", "length": "{length}"]'
        )
        offset += length

    print('<ir_version: 8, opset_import: ["" : 17], producer_name: "make_gpt2_xl_textbook.py">')
    print(f"gpt2_xl_textbook (int64[batch, {CONTEXT}] input_ids) =>")
    print(f"    (float[batch, {CONTEXT}, {HIDDEN}] last_hidden_state)")
    print("  <" + ",\n   ".join(constants) + ">")
    print("{\n  " + "\n  ".join(nodes) + "\n}")


if __name__ == "__main__":
    main()
