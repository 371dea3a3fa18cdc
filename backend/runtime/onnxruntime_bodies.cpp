// Bodies of functions whose nodes depend on what a node has: attributes, operands left out.
#include "backend/runtime/onnxruntime_bodies.h"

#include <algorithm>
#include <memory>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace footprint {
namespace {

void MakeFloat(TensorType& type) { type.element = ElementType::kFloat; }
void MakeBool(TensorType& type) { type.element = ElementType::kBool; }
void MakeScalar(TensorType& type) { type.dims.clear(); }

// Of [N, C, ...] one class.
void PickClass(TensorType& type) {
  if (type.dims.size() > 1) type.dims[1] = Dim(1);
}

void DropClasses(TensorType& type) {
  if (type.dims.size() > 1) type.dims.erase(type.dims.begin() + 1);
}

TensorType Vector(ElementType element, size_t count) {
  return TensorType::Make(element, {Dim(static_cast<int64_t>(count))});
}

}  // namespace

Dim BodyWriter::Size(int32_t value, size_t axis) const {
  const Dims& dims = graph_.value(value).type.dims;
  return axis < dims.size() ? dims[axis] : Dim();
}

RuntimeNode BodyWriter::Make(absl::string_view op, std::vector<int32_t> inputs) const {
  RuntimeNode made;
  made.op_type = std::string(op);
  made.source = node_.source;
  made.inputs = std::move(inputs);
  return made;
}

int32_t BodyWriter::AddResult(absl::string_view op, int32_t like, TypeEdit edit) {
  const int32_t first = Result(0) >= 0 ? Result(0) : Result(1);
  const int32_t result = graph_.AddLike(like, absl::StrCat(graph_.value(first).name, "/", op));
  edit(graph_.value(result).type);
  edit(graph_.value(result).visible);
  return result;
}

int32_t BodyWriter::Add(absl::string_view op, std::vector<int32_t> inputs, int32_t like,
                        TypeEdit edit) {
  const int32_t result = AddResult(op, like, edit);
  RuntimeNode made = Make(op, std::move(inputs));
  made.outputs = {result};
  graph_.nodes.push_back(std::move(made));
  return result;
}

int32_t BodyWriter::AddSizes(absl::string_view op, std::vector<int32_t> inputs, size_t count) {
  const int32_t like = inputs[0];
  return Add(op, std::move(inputs), like,
             [&](TensorType& type) { type = Vector(ElementType::kInt64, count); });
}

int32_t BodyWriter::AddCast(int32_t value, ElementType element) {
  return Add("Cast", {value}, value, [&](TensorType& type) { type.element = element; });
}

int32_t BodyWriter::Hide(int32_t value) {
  Dims& dims = graph_.value(value).visible.dims;
  std::fill(dims.begin(), dims.end(), Dim());
  return value;
}

void BodyWriter::Finish(absl::string_view op, std::vector<int32_t> inputs, size_t output) {
  if (Result(output) < 0) return;
  RuntimeNode made = Make(op, std::move(inputs));
  made.outputs = {node_.outputs[output]};
  graph_.nodes.push_back(std::move(made));
}

BodyWriter::Scanned BodyWriter::AddScan(std::vector<int32_t> inputs, std::vector<int32_t> captures,
                                        int32_t like, TypeEdit edit,
                                        absl::FunctionRef<void(BodyWriter&)> write) {
  const auto drop_first = [](TensorType& type) {
    if (!type.dims.empty()) type.dims.erase(type.dims.begin());
  };
  const Scanned result = {AddResult("Scan", inputs[0], [](TensorType&) {}),
                          AddResult("Scan", like, edit)};
  auto step = std::make_shared<RuntimeGraph>();
  step->graph = graph_.graph;
  const auto add = [&](int32_t from, bool is_slice) {
    RuntimeValue& value = step->values.emplace_back(graph_.value(from));
    value.input = value.output = value.constant = false;
    if (is_slice) drop_first(value.type);
    if (is_slice) drop_first(value.visible);
    return static_cast<int32_t>(step->values.size()) - 1;
  };
  RuntimeNode function;
  function.source = node_.source;
  for (const int32_t input : inputs) function.inputs.push_back(add(input, input != inputs[0]));
  for (const int32_t capture : captures) function.inputs.push_back(add(capture, false));
  for (const int32_t input : function.inputs) step->value(input).input = true;
  function.outputs = {add(result.state, false), add(result.stacked, true)};
  for (const int32_t output : function.outputs) step->value(output).output = true;
  BodyWriter writer(*step, std::move(function), is_optimized);
  write(writer);

  RuntimeNode scan = Make("Scan", std::move(inputs));
  scan.captures = std::move(captures);
  scan.outputs = {result.state, result.stacked};
  scan.body = std::move(step);
  graph_.nodes.push_back(std::move(scan));
  return result;
}

// Logarithms [N, C, ...] and classes [N, ...]. Ignored ones are replaced first, and count nothing.
void WriteClassificationLoss(BodyWriter& body) {
  const absl::string_view reduction = body.source().String("reduction", "mean");
  const int32_t logarithms = body.Operand(0);
  const int32_t classes = body.Operand(1);
  const int32_t weights = body.Operand(2);
  const bool ignores = body.source().Has("ignore_index");
  const auto pick = [](TensorType& type) {
    if (!type.dims.empty()) type.dims.insert(type.dims.begin() + 1, Dim(1));
  };

  int32_t target = body.Add("Unsqueeze", {classes}, classes, pick);
  int32_t mask = -1;
  if (ignores) {
    const int32_t zeros = body.Add("Sub", {target, target}, target);
    mask = body.Add("Equal", {body.AddCast(target, ElementType::kInt64)}, target, MakeBool);
    target = body.Add("Where", {mask, zeros, target}, target);
  }
  int32_t picked = body.Add("GatherElements", {logarithms, target}, logarithms, PickClass);
  if (ignores) picked = body.Add("Where", {mask, -1, picked}, picked);
  picked = body.Add("Neg", {picked}, picked);
  picked = body.Add("Slice", {picked}, picked);

  int32_t weight = -1;
  if (weights >= 0 && !ignores) {
    weight = body.Add("Gather", {weights, classes}, logarithms, DropClasses);
  } else if (weights >= 0) {
    weight = body.Add("Gather", {weights, target}, picked);
    weight = body.Add("Where", {mask, -1, weight}, weight);
    weight = body.Add("Squeeze", {weight}, weight, DropClasses);
  } else if (ignores) {
    mask = body.Add("Squeeze", {mask}, mask, DropClasses);
    weight = body.Add("Where", {mask, -1, -1}, logarithms, DropClasses);
  }
  if (weight < 0 && reduction == "none") return body.Finish("Squeeze", {picked});
  int32_t loss = body.Add("Squeeze", {picked}, picked, DropClasses);
  if (weight >= 0 && reduction == "none") return body.Finish("Mul", {loss, weight});
  if (weight >= 0) loss = body.Add("Mul", {loss, weight}, loss);
  if (weight < 0 || reduction == "sum") return body.Finish("ReduceSum", {loss});
  const int32_t sum = body.Add("ReduceSum", {loss}, loss, MakeScalar);
  body.Finish("Div", {sum, body.Add("ReduceSum", {weight}, weight, MakeScalar)});
}

// The logarithms are made along the last axis, if transposes were not taken out before.
void WriteCrossEntropyLoss(BodyWriter& body) {
  const int32_t scores = body.Operand(0);
  const auto classes_last = [&](TensorType& type) {
    if (type.dims.size() < 2) return;
    const Dim classes = type.dims[1];
    const Dim rest = body.dims().Product(absl::MakeSpan(type.dims).subspan(2));
    type.dims = {type.dims[0], rest, classes};
  };
  const auto classes_first = [](TensorType& type) {
    if (type.dims.size() == 3) std::swap(type.dims[1], type.dims[2]);
  };
  int32_t result = -1;
  if (body.is_optimized) {
    result = body.Add("LogSoftmaxOfChannels", {scores}, scores);
  } else {
    result = body.Add("Transpose", {scores}, scores, classes_last);
    result = body.Add("LogSoftmax", {result}, result);
    result = body.Add("Transpose", {result}, result, classes_first);
  }
  const int32_t shape = body.AddSizes("Shape", {scores}, body.Rank(scores));
  result = body.Add("Reshape", {result, shape}, scores);
  if (body.Result(1) >= 0) body.Finish("Identity", {result}, 1);
  body.Finish("NegativeLogLikelihoodLoss", {result, body.Operand(1), body.Operand(2)});
}

// Worked on by group, [N, groups, ...], and from version 21 then by channel, on 32-bit numbers.
void WriteGroupNormalization(BodyWriter& body) {
  const int32_t image = body.Operand(0);
  const size_t rank = body.Rank(image);
  const Dim groups = body.source().Int("num_groups", 1);
  const auto by = [&](Dim channels) {
    return [&body, channels](TensorType& type) {
      if (type.dims.empty()) return;
      const Dim all = body.dims().Product(type.dims);
      const Dim batch = type.dims[0];
      type.dims = {batch, channels, body.dims().FloorDiv(all, body.dims().Mul(batch, channels))};
    };
  };
  const auto one_each = [](TensorType& type) {
    if (type.dims.size() > 2) type.dims[2] = Dim(1);
  };
  const auto row = [](TensorType& type) { type.dims.resize(3, Dim(1)); };

  const int32_t epsilon = body.Add("Cast", {-1}, image,
                                   [](TensorType& type) { type = Vector(ElementType::kFloat, 1); });
  constexpr int kByChannel = 21;
  const bool by_channel = body.source().version >= kByChannel;
  const int32_t wide = by_channel ? body.AddCast(image, ElementType::kFloat) : image;
  const int32_t shape = body.AddSizes("Shape", {wide}, rank);
  const int32_t channels = body.AddSizes("Shape", {image}, 1);
  const int32_t group_size = body.AddSizes("Div", {channels}, 1);
  const int32_t batch = body.AddSizes("Shape", {image}, 1);
  const int32_t picture = body.AddSizes("Shape", {image}, rank - std::min<size_t>(rank, 2));
  const int32_t grouped = body.AddSizes("Concat", {batch, group_size, picture}, rank + 1);
  const int32_t x = body.Hide(body.Add("Reshape", {wide, grouped}, wide, by(groups)));
  const int32_t mean = body.Hide(body.Add("ReduceMean", {x}, x, one_each));
  const int32_t square = body.Add("Mul", {x, x}, x);
  const int32_t mean_of_square = body.Add("ReduceMean", {square}, mean);
  const int32_t square_of_mean = body.Add("Mul", {mean, mean}, mean);
  int32_t deviation = body.Add("Sub", {mean_of_square, square_of_mean}, mean);
  deviation = body.Add("Add", {deviation, epsilon}, mean);
  deviation = body.Add("Sqrt", {deviation}, mean);
  int32_t y = body.Add("Sub", {x, mean}, x);
  y = body.Add("Div", {y, deviation}, x);
  if (by_channel) {
    y = body.Add("Reshape", {y, shape}, wide);
    y = body.Add("Reshape", {y}, y, by(body.Size(image, 1)));
    y = body.AddCast(y, body.Element(image));
  }
  int32_t scale = body.AddCast(body.Operand(1), body.Element(image));
  int32_t bias = body.AddCast(body.Operand(2), body.Element(image));
  scale = body.Add("Reshape", {scale}, scale, row);
  bias = body.Add("Reshape", {bias}, bias, row);
  y = body.Add("Mul", {scale, y}, y);
  y = body.Add("Add", {y, bias}, y);
  body.Finish("Reshape", {y, shape});
}

// Padded first to where it is as large as it shall be along each axis, and then cropped.
void WriteCenterCropPad(BodyWriter& body) {
  const int32_t image = body.Operand(0);
  const int32_t sizes = body.Operand(1);
  const bool has_axes = body.source().Has("axes");
  const size_t axes = has_axes ? body.source().Ints("axes").size() : body.Rank(image);
  const auto sizes_of = [&](int32_t value) {
    const int32_t all = body.AddSizes("Shape", {value}, body.Rank(image));
    return has_axes ? body.AddSizes("Gather", {all}, axes) : all;
  };
  const int32_t before = sizes_of(image);
  const int32_t padded_sizes = body.AddSizes("Max", {before, sizes}, axes);
  const int32_t padding = body.AddSizes("Sub", {padded_sizes, before}, axes);
  const int32_t left = body.AddSizes("Div", {padding}, axes);
  const int32_t right = body.AddSizes("Sub", {padding, left}, axes);
  const int32_t pads = body.AddSizes("Concat", {left, right}, 2 * axes);
  Dims result;
  for (size_t i = 0; i < body.Rank(image); ++i) result.push_back(body.Size(body.Result(0), i));
  const int32_t padded = body.Hide(body.Add("Pad", {image, pads}, image, [&](TensorType& type) {
    for (size_t i = 0; i < type.dims.size() && i < result.size(); ++i) {
      type.dims[i] = body.dims().Max(type.dims[i], result[i]);
    }
  }));
  const int32_t excess = body.AddSizes("Sub", {sizes_of(padded), sizes}, axes);
  const int32_t start = body.AddSizes("Div", {excess}, axes);
  const int32_t end = body.AddSizes("Add", {start, sizes}, axes);
  body.Finish("Slice", {padded, start, end});
}

// The image [B, C, L] behind what is left of the one before, or zeros.
void WriteCausalConvolution(BodyWriter& body) {
  const int32_t image = body.Operand(0);
  const int32_t filter = body.Operand(1);
  const bool has_past = body.Has(3);
  const Dim kept = body.dims().Sub(body.Size(filter, 2), 1);
  const auto keep = [&](TensorType& type) {
    if (type.dims.size() == 3) type.dims[2] = kept;
  };
  const auto prepend = [&](TensorType& type) {
    if (type.dims.size() == 3) type.dims[2] = body.dims().Add(type.dims[2], kept);
  };

  const int32_t kernel = body.AddSizes("Shape", {filter}, 1);
  const int32_t one_less = body.AddSizes("Sub", {kernel}, 1);
  int32_t past = body.Operand(3);
  if (!has_past) {
    const int32_t batch = body.AddSizes("Shape", {image}, 1);
    const int32_t channels = body.AddSizes("Shape", {image}, 1);
    const int32_t shape = body.AddSizes("Concat", {batch, channels, one_less}, 3);
    past = body.Hide(body.Add("ConstantOfShape", {shape}, image, [&](TensorType& type) {
      keep(type);
      MakeFloat(type);
    }));
    past = body.Add("CastLike", {past}, past,
                    [&](TensorType& type) { type.element = body.Element(image); });
  }
  int32_t padded = body.Add("Concat", {past, image}, image, prepend);
  if (!has_past) padded = body.Hide(padded);
  int32_t result = body.Add("Conv", {padded, filter, body.Operand(2)}, image);
  if (!has_past) result = body.Hide(result);
  if (body.source().String("activation", "none") == "none") {
    body.Finish("Identity", {result});
  } else {
    const int32_t wide = body.AddCast(result, ElementType::kFloat);
    const int32_t sigmoid = body.Add("Sigmoid", {wide}, wide);
    body.Finish("CastLike", {body.Add("Mul", {wide, sigmoid}, wide)});
  }
  const int32_t length = body.AddSizes("Shape", {padded}, 1);
  const int32_t start = body.AddSizes("Sub", {length, one_less}, 1);
  body.Finish("Slice", {padded, start, length}, 1);
}

namespace {

// Heads [T, B, H, size] of packed ones [B, T, H*size].
int32_t AddHeads(BodyWriter& body, int32_t packed, int32_t shape, Dim heads) {
  const auto by_head = [&](TensorType& type) {
    if (type.dims.size() != 3) return;
    type.dims = {type.dims[0], type.dims[1], heads, body.dims().FloorDiv(type.dims[2], heads)};
  };
  const auto time_first = [](TensorType& type) {
    if (type.dims.size() == 4) std::swap(type.dims[0], type.dims[1]);
  };
  const int32_t apart = body.Add("Reshape", {packed, shape}, packed, by_head);
  return body.Add("Transpose", {apart}, apart, time_first);
}

struct LinearRule {
  bool decays = false;
  bool corrects = false;  // by what the state holds of a key already
  bool is_scaled_by_size = false;
  bool is_grouped = false;  // several queries read one state
  Dim query_heads;
};

// The state [B, H, key size, value size] takes up the step's key and value; the query reads it.
void WriteLinearStep(BodyWriter& body, const LinearRule& rule) {
  const auto add_column = [](TensorType& type) { type.dims.push_back(Dim(1)); };
  const auto add_row = [](TensorType& type) {
    if (!type.dims.empty()) type.dims.insert(type.dims.end() - 1, Dim(1));
  };
  const auto swap_last = [](TensorType& type) {
    const size_t rank = type.dims.size();
    if (rank >= 2) std::swap(type.dims[rank - 1], type.dims[rank - 2]);
  };
  size_t next = 0;
  const int32_t whole = body.Operand(next++);
  const auto read_operand = [&] { return body.AddCast(body.Operand(next++), ElementType::kFloat); };
  const int32_t query = read_operand();
  const int32_t key = read_operand();
  const int32_t value = read_operand();
  int32_t decay = rule.decays ? read_operand() : -1;
  const int32_t beta = rule.corrects ? read_operand() : -1;
  const int32_t scale = rule.is_scaled_by_size ? body.Operand(next++) : -1;
  int32_t state = whole;
  if (rule.decays) {
    decay = body.Add("Exp", {decay}, decay);
    decay = body.Add("Unsqueeze", {decay}, decay, add_column);
    state = body.Add("Mul", {state, decay}, whole);
  }
  const int32_t column = body.Add("Unsqueeze", {key}, key, add_column);
  int32_t written = value;
  if (rule.corrects) {
    const int32_t turned = body.Add("Transpose", {state}, whole, swap_last);
    int32_t held = body.Hide(body.Add("MatMul", {turned, column}, value, add_column));
    held = body.Hide(body.Add("Squeeze", {held}, value));
    written = body.Add("Sub", {value, held}, value);
    written = body.Add("Mul", {beta, written}, value);
  }
  const int32_t row = body.Add("Unsqueeze", {written}, value, add_row);
  const int32_t outer = body.Add("MatMul", {column, row}, whole);
  body.Finish("Add", {state, outer});
  int32_t read = body.Result(0);
  if (rule.is_grouped) {
    const auto by_query = [&](TensorType& type) {
      if (type.dims.size() == 4) type.dims[1] = rule.query_heads;
    };
    const int32_t apart = body.Add("Unsqueeze", {read}, read);
    read = body.Add("Expand", {apart, body.Operand(next)}, whole, by_query);
    read = body.Add("Reshape", {read, body.Operand(next + 1)}, read);
  }
  const int32_t asked = body.Add("Unsqueeze", {query}, query, add_row);
  int32_t y = body.Hide(body.Add("MatMul", {asked, read}, body.Result(1), [&](TensorType& type) {
    MakeFloat(type);
    add_row(type);
  }));
  y = body.Hide(body.Add("Squeeze", {y}, body.Result(1), MakeFloat));
  body.Finish("Cast", {body.Add("Mul", {scale, y}, y)}, 1);
}

// [B, H, key size, value size] as it is given, or zeros.
int32_t AddFirstState(BodyWriter& body, std::vector<int32_t> sizes) {
  constexpr size_t kPast = 3;
  if (body.Has(kPast)) return body.AddCast(body.Operand(kPast), ElementType::kFloat);
  const int32_t query = body.Operand(0);
  const Dim heads = body.source().Int("kv_num_heads", 1);
  const Dim query_heads = body.source().Int("q_num_heads", 1);
  const Dims dims = {body.Size(query, 0), heads,
                     body.dims().FloorDiv(body.Size(query, 2), query_heads),
                     body.dims().FloorDiv(body.Size(body.Operand(2), 2), heads)};
  const int32_t shape = body.AddSizes("Concat", std::move(sizes), dims.size());
  return body.Hide(body.Add("ConstantOfShape", {shape}, query, [&](TensorType& type) {
    type = TensorType::Make(ElementType::kFloat, dims);
  }));
}

}  // namespace

// Query, key and value are packed heads [B, T, H*size]; a Scan over T.
void WriteLinearAttention(BodyWriter& body) {
  const absl::string_view update = body.source().String("update_rule", "gated_delta");
  LinearRule rule;
  rule.decays = body.Has(4) && absl::StrContains(update, "gated");
  rule.corrects = body.Has(5) && absl::StrContains(update, "delta");
  rule.is_scaled_by_size = body.source().Float("scale", 0) == 0;
  rule.query_heads = body.source().Int("q_num_heads", 1);
  const Dim heads = body.source().Int("kv_num_heads", 1);
  rule.is_grouped = rule.query_heads != heads;
  const int32_t query = body.Operand(0);
  const int32_t value = body.Operand(2);

  const int32_t batch = body.AddSizes("Shape", {query}, 1);
  const int32_t length = body.AddSizes("Shape", {query}, 1);
  const int32_t query_shape = body.AddSizes("Concat", {batch, length}, 4);
  std::vector<int32_t> scanned = {-1, AddHeads(body, query, query_shape, rule.query_heads)};
  const int32_t shape = body.AddSizes("Concat", {batch, length}, 4);
  scanned.push_back(AddHeads(body, body.Operand(1), shape, heads));
  scanned.push_back(AddHeads(body, value, shape, heads));
  if (rule.decays) scanned.push_back(AddHeads(body, body.Operand(4), shape, heads));
  if (rule.corrects) {
    const int32_t by_head = body.AddSizes("Concat", {batch, length}, 4);
    scanned.push_back(AddHeads(body, body.Operand(5), by_head, body.Size(body.Operand(5), 2)));
  }
  const int32_t query_width = body.AddSizes("Shape", {query}, 1);
  const int32_t value_width = body.AddSizes("Shape", {value}, 1);
  const int32_t key_size = body.AddSizes("Div", {query_width}, 1);
  const int32_t value_size = body.AddSizes("Div", {value_width}, 1);
  scanned[0] = AddFirstState(body, {batch, key_size, value_size});
  std::vector<int32_t> captures;
  if (rule.is_scaled_by_size) {
    int32_t scale = body.Add("Squeeze", {key_size}, key_size, MakeScalar);
    scale = body.AddCast(scale, ElementType::kFloat);
    scale = body.Add("Sqrt", {scale}, scale);
    captures.push_back(body.Add("Reciprocal", {scale}, scale));
  }
  if (rule.is_grouped) {
    captures.push_back(body.AddSizes("Concat", {batch, key_size, value_size}, 5));
    captures.push_back(body.AddSizes("Concat", {batch, key_size, value_size}, 4));
  }
  const Dim size = body.Size(scanned[0], 3);
  const auto of_value = [&](TensorType& type) {
    if (type.dims.size() == 4) type.dims[3] = size;
  };
  const BodyWriter::Scanned result =
      body.AddScan(scanned, captures, scanned[1], of_value,
                   [&](BodyWriter& step) { WriteLinearStep(step, rule); });
  const int32_t y = body.Add("Transpose", {result.stacked}, result.stacked, [](TensorType& type) {
    if (type.dims.size() == 4) std::swap(type.dims[0], type.dims[1]);
  });
  body.Finish("Reshape", {y, body.AddSizes("Concat", {batch, length}, 3)});
  body.Finish("CastLike", {result.state}, 1);
}

}  // namespace footprint
