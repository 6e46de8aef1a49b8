/* gradientNorm and adamw over a list of tensors. */
#include <algorithm>

#include "call.h"
#include "operations.h"

namespace dart {
namespace {

/* totals[0]: sum of squares of all gradients, totals[1]: how many of their entries are not finite. */
constexpr int64_t kTotals = 2;

/*
 * Sets the host's totals to the sums over all gradients and returns where they lie on the device. The gradients stay there
 * for what comes after.
 */
double *norm_pass(Staging &staging, const std::vector<Values> &gradients, const Span<double> &host) {
  host.data[0] = host.data[1] = 0;
  double *totals = static_cast<double *>(staging.place(host.data, kTotals * sizeof(double), Direction::in));
  int64_t workspace = 0;
  for (const Values &gradient : gradients) workspace = std::max(workspace, staging.backend().dart_gradient_norm_workspace(gradient.size));
  void *scratch = staging.scratch(workspace);
  for (const Values &gradient : gradients) {
    dart_gradient_norm_args args{};
    args.size = gradient.size;
    args.gradient = staging.place(gradient.data, gradient.bytes(), Direction::in);
    args.gradient_type = gradient.type;
    args.sum_of_squares = totals;
    args.nonfinite = totals + 1;
    args.workspace = scratch;
    staging.check(staging.backend().dart_gradient_norm(&args));
  }
  if (totals != host.data) staging.check(staging.backend().dart_device_copy(host.data, totals, kTotals * sizeof(double), DART_FROM_DEVICE));
  return totals;
}

class NormCall final : public Call {
 public:
  explicit NormCall(const Arguments &in) : Call(in), totals_(in.array<double>("totals", kTotals)) {
    const Napi::Array gradients = in.value("gradients").As<Napi::Array>();
    const int32_t half = in.choice("half");
    for (uint32_t i = 0; i < gradients.Length(); i++) {
      const std::string name = "gradients[" + std::to_string(i) + "]";
      Napi::Object one = Napi::Object::New(in.env());
      one.Set(name, gradients.Get(i));
      gradients_.push_back(Arguments(one, "").exactly(name.c_str(), kAnyLength, half));
    }
  }

 private:
  void work(Staging &staging) override { norm_pass(staging, gradients_, totals_); }

  std::vector<Values> gradients_;
  Span<double> totals_;
};

struct Tensor {
  Values parameter;
  Span<float> first_moment, second_moment, master;
  double weight_decay;
};

/* The norm over all tensors, then each tensor's update, unless a gradient is not finite. */
class AdamwCall final : public Call {
 public:
  explicit AdamwCall(const Arguments &in) : Call(in), totals_(in.array<double>("totals", kTotals)) {
    constants_.step = in.integer("step");
    constants_.learning_rate = in.number("learningRate");
    constants_.beta1 = in.number("beta1");
    constants_.beta2 = in.number("beta2");
    constants_.epsilon = in.number("epsilon");
    constants_.gradient_scale = 1;
    constants_.max_grad_norm = in.number("maxGradNorm");
    const Napi::Array tensors = in.value("tensors").As<Napi::Array>();
    for (uint32_t i = 0; i < tensors.Length(); i++)
      add(Arguments(tensors.Get(i).As<Napi::Object>(), "tensors[" + std::to_string(i) + "]."));
  }

 private:
  void add(const Arguments &in) {
    Tensor tensor;
    tensor.parameter = in.exactly("parameter", kAnyLength, DART_BF16);
    const int64_t size = tensor.parameter.size;
    gradients_.push_back(in.exactly("gradient", size, in.choice("half")));
    tensor.first_moment = in.array<float>("firstMoment", size);
    tensor.second_moment = in.array<float>("secondMoment", size);
    tensor.master = in.optional_array<float>("master", size);
    tensor.weight_decay = in.number("weightDecay");
    tensors_.push_back(tensor);
  }

  void work(Staging &staging) override {
    const double *totals = norm_pass(staging, gradients_, totals_);
    if (totals_.data[1] > 0) return; /* moments and weights need not travel */
    for (size_t i = 0; i < tensors_.size(); i++) update(staging, tensors_[i], gradients_[i], totals);
    staging.bring_back();
  }

  static float *in_out(Staging &staging, const Span<float> &span) {
    return static_cast<float *>(staging.place(span.data, span.size * sizeof(float), Direction::in_out));
  }

  void update(Staging &staging, const Tensor &tensor, const Values &gradient, const double *totals) const {
    dart_adamw_args args = constants_;
    args.size = gradient.size;
    args.gradient = staging.place(gradient.data, gradient.bytes(), Direction::in);
    args.gradient_type = gradient.type;
    args.parameter = staging.place(tensor.parameter.data, tensor.parameter.bytes(), Direction::in_out);
    args.parameter_type = tensor.parameter.type;
    args.first_moment = in_out(staging, tensor.first_moment);
    args.second_moment = in_out(staging, tensor.second_moment);
    args.master = in_out(staging, tensor.master);
    args.weight_decay = tensor.weight_decay;
    args.sum_of_squares = totals;
    args.nonfinite = totals + 1;
    staging.check(staging.backend().dart_adamw(&args));
  }

  dart_adamw_args constants_{};
  std::vector<Tensor> tensors_;
  std::vector<Values> gradients_;
  Span<double> totals_;
};

}  // namespace

Napi::Value gradient_norm(const Napi::CallbackInfo &info) {
  const Arguments in(info);
  return perform(in, std::make_unique<NormCall>(in));
}

Napi::Value adamw(const Napi::CallbackInfo &info) {
  const Arguments in(info);
  return perform(in, std::make_unique<AdamwCall>(in));
}

}  // namespace dart
