#include "ir/ops/onnx/node_check.h"

#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "ir/onnx_op.h"

// Attributes of one name have one type in all operators, with few exceptions: so types are listed
// by name, and not once more for each operator.

namespace footprint {
namespace {

using Kind = Attribute::Kind;

struct KindNames {
  Kind kind;
  absl::string_view names;
};

constexpr KindNames kKinds[] = {
    {Kind::kInt,
     "K N Nkv Nq accuracy_level activation_axis align_corners allowzero antialias "
     "auxiliary_kv_shared axis batch_axis batch_dims beginning_timestamp_token_id bfp_type "
     "bits blk_quant_type block_dim block_size blocksize broadcast causal ceil_mode "
     "center_point_box channels_last char_embedding_size chunk_size compress_ratio "
     "conv_window_size count_include_pad custom d_state decoder_output_cross_qk "
     "decoder_start_token_id default_int64 delta_offset detect_negative detect_positive "
     "dilation dim do_rotary down_type dtype early_stopping embed_mode embedding_size end "
     "eos_token_id exclude_outside exclusive expert_weight_bits fc1_expert_weight_bits "
     "fc2_expert_weight_bits fc3_expert_weight_bits flatten_batch fmod gate_type gather_axis "
     "group group_size group_topk groups head_dim head_rows heads hidden_size ignore_index "
     "index_topk input_channel_offset input_channels input_forget input_start input_width "
     "interleaved inverse is_bidirectional is_case_sensitive is_causal is_inner_broadcast "
     "is_packed_batching is_test isinf_only isnan_only k keepdims kv_cache_bit_width "
     "kv_num_heads largest layout left_window_size linear_before_reset local_window_size "
     "lora_bits lora_block_size main_context mark mask_index_type max_distance max_gram_length "
     "max_map max_ngram_size max_output_entries max_size max_skip_count maxsplit "
     "min_gram_length min_ngram_size min_tokens_to_keep mincharnum model_type mrope_layout "
     "multi_class n_group n_groups n_head_per_ngram n_supports n_targets ndim new_axis "
     "ngram_size no_repeat_ngram_size no_speech_token_id no_timestamps_token_id "
     "noop_with_empty_axes normalize_routing_weights normalized num_branches num_groups "
     "num_heads num_outputs num_scan_inputs offset_group one_class onesided opset order_A "
     "order_B order_X order_Y order_global_weight order_input order_output order_weight "
     "output_bf16 output_datatype output_dtype output_fp16 output_height output_qk "
     "output_sequence output_width p packed_type pad_id pad_token_id past_present_share_buffer "
     "periodic positive precision q_num_heads qk_l2_norm qk_matmul_output_mode qk_output "
     "quantize_axis replaced_value_int64 reset_on_eos reverse right_window_size "
     "rotary_embedding_dim rotary_interleaved rotary_offset round_activation router_size "
     "sample_size sampling_ratio saturate select_last_index signal_ndim size "
     "sliding_window_cache smooth_softmax softmax_precision sorted sparse_block_size spatial "
     "start start_of_lm_token_id stash_type state_capacity state_channels_last state_length "
     "state_update_capacity state_window step storage_order swiglu_fusion "
     "swiglu_limit_after_activation targets time_axis to token_budget top_k topk_group "
     "training_mode transA transB transBatchA transBatchB transcribe_token_id "
     "translate_token_id unidirectional up_type upper use_fp32_arithmetic use_sparse_mixer "
     "v_head_size value_int vocab_size weight_prepacked weights_prepacked window zeros"},
    {Kind::kFloat,
     "activation_gamma alpha beta bias clip cubic_coeff_a decay_factor default_float epsilon "
     "extrapolation_value filter_value gamma gate_div gate_lower_bound gate_mul "
     "head_weight_scale height_scale high k_norm_epsilon lambd limit low mask_filter_value max "
     "mean min momentum norm_coefficient norm_coefficient_post presence_penalty q_norm_epsilon "
     "qk_norm_epsilon ratio reduction_scale replaced_value_float routed_scaling_factor "
     "router_sentinel routing_epsilon scale seed silu_alpha softcap spatial_scale swiglu_limit "
     "temperature threshold time_step_min top_p value_float width_scale"},
    {Kind::kString,
     "DLC activation activation_type aggregate_function approximate attention_mode auto_pad "
     "auxiliary_cache_layout beta_activation case_change_action cast_to "
     "coordinate_transformation_mode default_string delimiter direction ep_cache_context "
     "ep_sdk_version equation gate_activation hardware_architecture indexshare_state_policy "
     "k_cache_dtype k_quant_type keep_aspect_ratio_policy kernel_type kv_cache_layout locale "
     "map_form metric mode nearest_mode norm notes onnx_model_filename pad_value padding_mode "
     "partition_name pattern pixel_format policy_mode post_transform quant_type reduction "
     "round_mode selected_kv_source snpe_version source target_device tokenexp update_rule "
     "v_cache_dtype v_quant_type value_string y"},
    {Kind::kInts,
     "axes cats_int64s class_ids class_nodeids class_treeids classlabels_int64s "
     "classlabels_ints consumed_inputs dilations directions ends imputed_value_int64s "
     "inputdimensions int64_vocabulary kernel_shape keys_int64s leaf_targetids mrope_section "
     "ngram_counts ngram_indexes nodes_falseleafs nodes_falsenodeids nodes_featureids "
     "nodes_missing_value_tracks_true nodes_nodeids nodes_treeids nodes_trueleafs "
     "nodes_truenodeids output_padding output_shape paddings pads perm pool_int64s "
     "pooled_shape qkv_hidden_sizes scan_input_axes scan_input_directions scan_output_axes "
     "scan_output_directions shape split starts strides target_ids target_nodeids "
     "target_treeids tree_roots value_ints values_int64s vectors_per_class"},
    {Kind::kFloats,
     "activation_alpha activation_beta activation_params base_values class_weights "
     "coefficients imputed_value_floats intercepts kernel_params keys_floats nodes_hitrates "
     "nodes_values offset prob_a prob_b rho scales support_vectors target_weights value_floats "
     "values_floats weights"},
    {Kind::kStrings,
     "activations cats_strings classes_strings classlabels_strings keys_strings nodes_modes "
     "pool_strings separators stopwords string_vocabulary value_strings values_strings xs zs"},
    {Kind::kTensor,
     "base_values_as_tensor class_weights_as_tensor default_tensor keys_tensor leaf_weights "
     "membership_values nodes_hitrates_as_tensor nodes_splits nodes_values_as_tensor "
     "sparse_value target_weights_as_tensor value values_tensor"},
    {Kind::kRegion, "body decoder else_branch encoder init_decoder prob_mod score_mod then_branch"},
    {Kind::kType, "type"},
};

// What an attribute is as well, in one operator.
struct Exception {
  absl::string_view domain;
  absl::string_view op;
  absl::string_view attribute;
  Kind kind;
  int until = OnnxOp::kLatest;
};

constexpr Exception kExceptions[] = {
    {"", "Cast", "to", Kind::kString, 5},
    {"", "Dropout", "seed", Kind::kInt},
    {"", "GlobalLpPool", "p", Kind::kFloat, 1},
    {"", "LpPool", "p", Kind::kFloat, 1},
    {"", "Pad", "value", Kind::kFloat, 10},
    {"ai.onnx.ml", "Scaler", "scale", Kind::kFloats},
    {"ai.onnx.ml", "TreeEnsemble", "aggregate_function", Kind::kInt},
    {"ai.onnx.ml", "TreeEnsemble", "nodes_hitrates", Kind::kTensor},
    {"ai.onnx.ml", "TreeEnsemble", "nodes_modes", Kind::kTensor},
    {"ai.onnx.ml", "TreeEnsemble", "post_transform", Kind::kInt},
    {"com.microsoft", "BiasDropout", "seed", Kind::kInt},
    {"com.microsoft", "BitmaskBiasDropout", "seed", Kind::kInt},
    {"com.microsoft", "BitmaskDropout", "seed", Kind::kInt},
    {"com.microsoft", "FusedGemm", "activation_alpha", Kind::kFloat},
    {"com.microsoft", "FusedGemm", "activation_beta", Kind::kFloat},
    {"com.microsoft", "FusedMatMulActivation", "activation_alpha", Kind::kFloat},
    {"com.microsoft", "FusedMatMulActivation", "activation_beta", Kind::kFloat},
    {"com.microsoft", "GroupNorm", "activation", Kind::kInt},
    {"com.microsoft", "MatMulBnb4", "quant_type", Kind::kInt},
    {"com.microsoft", "MoE", "activation_alpha", Kind::kFloat},
    {"com.microsoft", "MoE", "activation_beta", Kind::kFloat},
    {"com.microsoft", "MurmurHash3", "seed", Kind::kInt},
    {"com.microsoft", "QMoE", "activation_alpha", Kind::kFloat},
    {"com.microsoft", "QMoE", "activation_beta", Kind::kFloat},
    {"com.microsoft", "RouterGateUpProj", "activation_alpha", Kind::kFloat},
    {"com.microsoft", "RouterGateUpProj", "activation_beta", Kind::kFloat},
    {"com.microsoft", "SkipGroupNorm", "activation", Kind::kInt},
    {"com.microsoft", "SwiGLU", "activation_alpha", Kind::kFloat},
    {"com.microsoft", "SwiGLU", "activation_beta", Kind::kFloat},
};

const char* Words(Kind kind) {
  switch (kind) {
    case Kind::kInt:
      return "an integer";
    case Kind::kFloat:
      return "a float";
    case Kind::kString:
      return "a string";
    case Kind::kInts:
      return "a list of integers";
    case Kind::kFloats:
      return "a list of floats";
    case Kind::kStrings:
      return "a list of strings";
    case Kind::kTensor:
      return "a tensor";
    case Kind::kRegion:
      return "a graph";
    case Kind::kType:
      return "a type";
    case Kind::kOther:
      return "something else";
  }
  return "";
}

using KindTable = absl::flat_hash_map<absl::string_view, Kind>;

const KindTable& TheKinds() {
  static const KindTable& table = *[] {
    auto* kinds = new KindTable();
    for (const KindNames& row : kKinds) {
      for (const absl::string_view name : absl::StrSplit(row.names, ' ')) {
        kinds->emplace(name, row.kind);
      }
    }
    return kinds;
  }();
  return table;
}

std::string Counted(int count, const char* noun) {
  return absl::StrCat(count, " ", noun, count == 1 ? "" : "s");
}

std::string CheckCount(const Signature::Range& range, int count, const char* noun) {
  if (range.least <= count && count <= range.most) return "";
  std::string expected = absl::StrCat("expected ", Counted(range.least, noun));
  if (range.most == Signature::kAny) {
    absl::StrAppend(&expected, " or more");
  } else if (range.most != range.least) {
    expected = absl::StrCat("expected ", range.least, " to ", Counted(range.most, noun));
  }
  return absl::StrCat(expected, "; found ", count);
}

// Up to the last one that is there.
int CountTo(absl::Span<const ValueId> values) {
  size_t count = values.size();
  while (count > 0 && !values[count - 1].valid()) --count;
  return static_cast<int>(count);
}

std::string CheckAttribute(const Node& node, const Attribute& attribute) {
  if (attribute.kind == Kind::kOther) return "";
  const auto known = TheKinds().find(attribute.name);
  if (known == TheKinds().end() || known->second == attribute.kind) return "";
  Kind expected = known->second;
  for (const Exception& exception : kExceptions) {
    if (exception.attribute != attribute.name || exception.op != node.op_type ||
        exception.domain != node.domain || exception.until < node.version) {
      continue;
    }
    if (exception.kind == attribute.kind) return "";
    expected = exception.kind;
  }
  return absl::StrCat("expected attribute ", attribute.name, " to be ", Words(expected), "; it is ",
                      Words(attribute.kind));
}

std::string CheckRequired(const Node& node, absl::string_view required) {
  if (required.empty() || node.Has(required)) return "";  // most have one, if any
  for (const absl::string_view name : absl::StrSplit(required, ' ')) {
    if (!node.Has(name)) return absl::StrCat("expected an attribute ", name, "; there is none");
  }
  return "";
}

}  // namespace

std::string CheckNode(const Node& node) {
  if (node.op == nullptr) return "";
  const Signature::Form& form = node.op->signature.At(node.version);
  std::string problem = CheckCount(form.inputs, CountTo(node.inputs), "input");
  if (!problem.empty()) return problem;
  // Operators of other domains have optional operands before required ones, and so do bodies.
  if (node.op->domain.empty() && node.op->control == Control::kNone) {
    for (int i = 0; i < form.inputs.least; ++i) {
      if (!node.input(static_cast<size_t>(i)).valid()) {
        return absl::StrCat("input ", i, " is required; it is omitted");
      }
    }
  }
  // Omitted ones at the end do not count as too many.
  const auto written = static_cast<int>(node.outputs.size());
  const int outputs = std::min(written, std::max(CountTo(node.outputs), form.outputs.most));
  problem = CheckCount(form.outputs, outputs, "output");
  if (!problem.empty()) return problem;
  problem = CheckRequired(node, form.required);
  for (size_t i = 0; problem.empty() && i < node.attributes.size(); ++i) {
    problem = CheckAttribute(node, node.attributes[i]);
  }
  return problem;
}

}  // namespace footprint
