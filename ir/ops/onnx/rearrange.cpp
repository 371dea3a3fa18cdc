// Operators that copy elements to other places: each output element is one of an input, or a
// filler.
#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "ir/ops/onnx/families.h"
#include "ir/ops/onnx/rules.h"
#include "ir/ops/onnx/values.h"

namespace footprint {
namespace {

// False after an error.
bool Permutation(InferContext& c, int rank, Sizes* perm) {
  perm->resize(static_cast<size_t>(rank));
  std::iota(perm->rbegin(), perm->rend(), 0);
  if (!c.node().Has("perm")) return true;
  const absl::Span<const int64_t> given = c.node().Ints("perm");
  std::vector<bool> seen(static_cast<size_t>(rank), false);
  bool valid = given.size() == seen.size();
  for (size_t i = 0; valid && i < given.size(); ++i) {
    const int64_t axis = given[i] < 0 ? given[i] + rank : given[i];
    valid = axis >= 0 && axis < rank && !seen[static_cast<size_t>(axis)];
    if (!valid) break;
    seen[static_cast<size_t>(axis)] = true;
    (*perm)[i] = axis;
  }
  if (!valid) {
    c.Error(absl::StrCat("perm is no permutation of the axes of an operand of rank ", rank));
  }
  return valid;
}

void TransposeTypes(InferContext& c) {
  const TensorType* data = c.RankedInput(0);
  if (data == nullptr) {
    const absl::Span<const int64_t> given = c.node().Ints("perm");
    if (given.empty()) return SetUnranked(c, 0, c.InputElement(0));
    return SetRankOnly(c, 0, c.InputElement(0), static_cast<int64_t>(given.size()));
  }
  Sizes perm;
  if (!Permutation(c, data->rank(), &perm)) return;
  TensorType result = *data;
  for (size_t i = 0; i < perm.size(); ++i) {
    result.dims[i] = data->dims[static_cast<size_t>(perm[i])];
  }
  c.SetOutput(0, std::move(result));
}

void TransposeValues(InferContext& c) {
  KeepBounds(c);
  const KnownValuePtr value = c.InputValue(0);
  Sizes from;
  Sizes to;
  Sizes perm;
  if (value == nullptr || !SmallSizes(c.InputType(0), &from) || !SmallSizes(c.OutputType(0), &to) ||
      !Permutation(c, static_cast<int>(from.size()), &perm)) {
    return;
  }
  const Sizes strides = Strides(from);
  std::vector<int64_t> index;
  Odometer at(to);
  if (Product(to) != 0) {
    do {
      int64_t position = 0;
      for (size_t i = 0; i < perm.size(); ++i) {
        position += at[i] * strides[static_cast<size_t>(perm[i])];
      }
      index.push_back(position);
    } while (at.Next());
  }
  c.SetOutputValue(0, Pick(*value, index));
}

void ConcatTypes(InferContext& c) {
  // Before version 4 the axis could be left out.
  const Attribute* attribute = c.node().Find("axis");
  if (attribute == nullptr && c.version() >= 4) return c.Error("attribute axis is missing");
  SetConcat(c, c.InputElement(0), 0, 1, c.node().Int("axis", 1));
}

// Contents of input i; integers that are not known are that many unknown ones.
KnownValuePtr PartValue(InferContext& c, int i) {
  KnownValuePtr value = c.InputValue(i);
  Sizes sizes;
  if (value != nullptr || !IsInteger(c.InputElement(i)) || !SmallSizes(c.InputType(i), &sizes)) {
    return value;
  }
  return IntegerValue(std::vector<Dim>(static_cast<size_t>(Product(sizes))));
}

void ConcatValues(InferContext& c) {
  Sizes to;
  if (!SmallSizes(c.OutputType(0), &to) || to.empty()) return;
  std::vector<KnownValuePtr> parts;
  bool any = false;
  for (int i = 0; i < c.num_inputs(); ++i) {
    any |= c.InputValue(i) != nullptr;
    parts.push_back(PartValue(c, i));
  }
  if (!any) return;
  const KnownValuePtr all = Join(parts);
  if (all == nullptr) return;
  const int rank = static_cast<int>(to.size());
  const int64_t axis = c.node().Int("axis", 1);
  const auto at = static_cast<size_t>(axis < 0 ? axis + rank : axis);
  int64_t outer = 1;
  for (size_t i = 0; i < at; ++i) outer *= to[i];
  // Where each part begins in `all`, and its elements per outer step.
  std::vector<int64_t> index;
  for (int64_t o = 0; o < outer; ++o) {
    int64_t begin = 0;
    for (const KnownValuePtr& part : parts) {
      const int64_t chunk = ElementsOf(*part) / outer;
      for (int64_t j = 0; j < chunk; ++j) index.push_back(begin + o * chunk + j);
      begin += ElementsOf(*part);
    }
  }
  c.SetOutputValue(0, Pick(*all, index));
}

// How often each axis is repeated; Tile-1 repeated one axis.
Known Repeats(InferContext& c, int rank, std::vector<Dim>* repeats) {
  if (c.version() >= 6) return ReadDims(c, "", 1, repeats);
  const Dim tiles = ScalarInput(c, 1);
  const Dim axis = ScalarInput(c, 2);
  if (!axis.is_constant() || axis.value() < 0 || axis.value() >= rank) return Known::kNo;
  repeats->assign(static_cast<size_t>(rank), 1);
  (*repeats)[static_cast<size_t>(axis.value())] = tiles;
  return Known::kYes;
}

void TileTypes(InferContext& c) {
  const TensorType* data = c.RankedInput(0);
  const ElementType element = c.InputElement(0);
  if (data == nullptr) {
    const std::optional<int> rank = c.version() >= 6 ? RankFromLength(c, 1) : std::nullopt;
    return rank ? SetRankOnly(c, 0, element, *rank) : SetUnranked(c, 0, element);
  }
  std::vector<Dim> repeats;
  if (Repeats(c, data->rank(), &repeats) != Known::kYes) {
    return SetRankOnly(c, 0, element, data->rank());
  }
  if (repeats.size() != data->dims.size()) {
    return c.Error(absl::StrCat("repeats has ", repeats.size(), " elements for an operand of rank ",
                                data->rank()));
  }
  TensorType result = TensorType::Make(element, data->dims);
  for (size_t i = 0; i < repeats.size(); ++i) {
    result.dims[i] = c.dims().Mul(result.dims[i], repeats[i]);
  }
  c.SetOutput(0, std::move(result));
}

// The position in `from` that each position of `to` has when `from` is repeated.
void TileValues(InferContext& c) {
  KeepBounds(c);
  const KnownValuePtr value = c.InputValue(0);
  Sizes from;
  Sizes to;
  if (value == nullptr || !SmallSizes(c.InputType(0), &from) || !SmallSizes(c.OutputType(0), &to) ||
      from.size() != to.size()) {
    return;
  }
  const Sizes strides = Strides(from);
  std::vector<int64_t> index;
  Odometer at(to);
  if (Product(to) != 0) {
    do {
      int64_t position = 0;
      for (size_t i = 0; i < from.size(); ++i) position += at[i] % from[i] * strides[i];
      index.push_back(position);
    } while (at.Next());
  }
  c.SetOutputValue(0, Pick(*value, index));
}

// Padding before and after every axis; `begin` and `end` have the operand's rank.
Known Paddings(InferContext& c, int rank, std::vector<Dim>* begin, std::vector<Dim>* end) {
  std::vector<Dim> pads;
  const Known known = ReadDims(c, c.version() < 2 ? "paddings" : "pads", 1, &pads);
  if (known != Known::kYes) return known;
  Sizes axes;
  const Known limited = c.version() >= 18 ? ReadAxes(c, "axes", 3, rank, &axes) : Known::kAbsent;
  if (limited == Known::kNo) return Known::kNo;
  if (limited == Known::kAbsent) {
    axes.resize(static_cast<size_t>(rank));
    std::iota(axes.begin(), axes.end(), 0);
  }
  if (pads.size() != 2 * axes.size()) {
    c.Error(absl::StrCat("pads has ", pads.size(), " elements for ", axes.size(), " axes"));
    return Known::kNo;
  }
  begin->assign(static_cast<size_t>(rank), 0);
  end->assign(static_cast<size_t>(rank), 0);
  for (size_t i = 0; i < axes.size(); ++i) {
    (*begin)[static_cast<size_t>(axes[i])] = pads[i];
    (*end)[static_cast<size_t>(axes[i])] = pads[i + axes.size()];
  }
  return Known::kYes;
}

void PadTypes(InferContext& c) {
  const TensorType* data = c.RankedInput(0);
  const ElementType element = c.InputElement(0);
  if (data == nullptr) return SetUnranked(c, 0, element);
  std::vector<Dim> begin;
  std::vector<Dim> end;
  if (Paddings(c, data->rank(), &begin, &end) != Known::kYes) {
    return SetRankOnly(c, 0, element, data->rank());
  }
  TensorType result = TensorType::Make(element, data->dims);
  for (size_t i = 0; i < begin.size(); ++i) {
    Dim& size = result.dims[i];
    size = c.dims().Sum({size, begin[i], end[i]});
    if (size.is_constant() && size.value() < 0) {
      return c.Error(absl::StrCat("padding leaves a size of ", size.value(), " on axis ", i));
    }
  }
  c.SetOutput(0, std::move(result));
}

void PadValues(InferContext& c) {
  const KnownValuePtr value = c.InputValue(0);
  Sizes from;
  Sizes to;
  std::vector<Dim> begin;
  std::vector<Dim> end;
  if (value == nullptr || c.node().String("mode", "constant") != "constant" ||
      !SmallSizes(c.InputType(0), &from) || !SmallSizes(c.OutputType(0), &to) ||
      from.size() != to.size() ||
      Paddings(c, static_cast<int>(from.size()), &begin, &end) != Known::kYes) {
    return;
  }
  for (const Dim& size : begin) {
    if (!size.is_constant()) return;
  }
  const KnownValuePtr filler = c.HasInput(2)     ? c.InputValue(2)
                               : value->is_float ? FloatValue({c.node().Float("value", 0)})
                                                 : IntegerValue({0});
  const Sizes strides = Strides(from);
  std::vector<int64_t> index;
  Odometer at(to);
  if (Product(to) == 0) return c.SetOutputValue(0, Pick(*value, index));
  do {
    int64_t position = 0;
    for (size_t i = 0; i < from.size() && position >= 0; ++i) {
      const int64_t source = at[i] - begin[i].value();
      position = source < 0 || source >= from[i] ? -1 : position + source * strides[i];
    }
    index.push_back(position);
  } while (at.Next());
  c.SetOutputValue(0, Pick(*value, index, filler.get()));
}

// [N, C, H, W] <-> [N, C/b^2, H*b, W*b]
void DepthSpace(InferContext& c, bool to_space) {
  const TensorType* data = RequireRank(c, 0, 4, "input");
  const ElementType element = c.InputElement(0);
  const int64_t block = c.node().Int("blocksize", 0);
  if (block <= 0 || block > 1 << 20) {
    return c.Error(absl::StrCat("blocksize is ", block, " where a positive one is needed"));
  }
  if (data == nullptr) return SetRankOnly(c, 0, element, 4);
  DimTable& dims = c.dims();
  const auto divided = [&](Dim size, int64_t by, absl::string_view what) {
    if (size.is_constant() && size.value() % by != 0) {
      c.Error(absl::StrCat(what, " of ", size.value(), " is no multiple of ", by));
    }
    return dims.FloorDiv(size, by);
  };
  const auto& d = data->dims;
  if (to_space) {
    return SetRanked(c, 0, element,
                     {d[0], divided(d[1], block * block, "a depth"), dims.Mul(d[2], block),
                      dims.Mul(d[3], block)});
  }
  SetRanked(c, 0, element,
            {d[0], dims.Mul(d[1], block * block), divided(d[2], block, "a height"),
             divided(d[3], block, "a width")});
}

void DepthToSpaceTypes(InferContext& c) { DepthSpace(c, /*to_space=*/true); }
void SpaceToDepthTypes(InferContext& c) { DepthSpace(c, /*to_space=*/false); }

void TriluTypes(InferContext& c) {
  RequireRankAtLeast(c, 0, 2, "input");
  CopyType(c, 0, 0);
}

void TriluValues(InferContext& c) {
  const KnownValuePtr value = c.InputValue(0);
  const Dim k = c.HasInput(1) ? ScalarInput(c, 1) : Dim(0);
  Sizes sizes;
  if (value == nullptr || !k.is_constant() || !SmallSizes(c.InputType(0), &sizes) ||
      sizes.size() < 2) {
    return;
  }
  const bool upper = c.node().Int("upper", 1) != 0;
  const int64_t columns = sizes.back();
  const int64_t rows = sizes[sizes.size() - 2];
  std::vector<int64_t> index;
  for (int64_t i = 0; i < Product(sizes); ++i) {
    const int64_t diagonal = i % columns - i / columns % rows;
    index.push_back((upper ? diagonal >= k.value() : diagonal <= k.value()) ? i : -1);
  }
  const KnownValuePtr zero = value->is_float ? FloatValue({0}) : IntegerValue({0});
  c.SetOutputValue(0, Pick(*value, index, zero.get()));
}

constexpr OnnxOp kRows[] = {
    {.name = "Concat",
     .signature = "1-*->1; 4: 1-*->1 axis",
     .types = ConcatTypes,
     .values = ConcatValues,
     .same_element = kEveryOperand},
    {.name = "DepthToSpace", .signature = "1->1 blocksize", .types = DepthToSpaceTypes},
    {.name = "Pad",
     .signature = "1->1 paddings; 2: 1->1 pads; 11: 2-3->1; 18: 2-4->1",
     .types = PadTypes,
     .values = PadValues},
    {.name = "Pad", .domain = "com.microsoft", .signature = "2-3->1", .types = PadTypes},
    {.name = "ReverseSequence", .since = 10, .signature = "2->1", .types = SameAsInput0},
    {.name = "SpaceToDepth", .signature = "1->1 blocksize", .types = SpaceToDepthTypes},
    {.name = "Tile", .signature = "3->1; 6: 2->1", .types = TileTypes, .values = TileValues},
    {.name = "Transpose", .types = TransposeTypes, .values = TransposeValues},
    {.name = "Trilu",
     .since = 14,
     .signature = "1-2->1",
     .types = TriluTypes,
     .values = TriluValues},
};

}  // namespace

OnnxFamily RearrangeOps() { return kRows; }

}  // namespace footprint
