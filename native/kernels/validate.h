/* Argument checks that both implementations make before they touch memory; each returns a reason, or nullptr. */
#ifndef DART_VALIDATE_H
#define DART_VALIDATE_H

#include "policy_math.h"

namespace dart {

inline bool is_type(int32_t type) { return type == DART_F32 || type == DART_BF16 || type == DART_F16; }

/* Far from where 1 / T leaves the range of f32, and beyond what anyone samples at. */
constexpr double kLeastTemperature = 1e-6, kGreatestTemperature = 1e6;

inline const char *temperature_problem(double temperature) {
  return temperature >= kLeastTemperature && temperature <= kGreatestTemperature ? nullptr : "temperature must lie in 1e-6..1e6";
}

/* Of memory that a call with something to do works in; `absent` says how much of it is needed. */
inline const char *workspace_problem(const void *workspace, bool needed, const char *absent) {
  if (!needed) return nullptr;
  if (workspace == nullptr) return absent;
  return (uintptr_t)workspace % 16 == 0 ? nullptr : "workspace must lie on a multiple of 16 bytes";
}

inline const char *problem_with(const dart_policy_loss_args &args) {
  if (args.rows < 0 || args.vocabulary < 1) return "rows must be at least 0 and vocabulary at least 1";
  if (!is_type(args.logits_type) || !is_type(args.dlogits_type)) return "unknown logits type";
  if (args.logits_stride < args.vocabulary) return "logits_stride is smaller than the vocabulary";
  if (args.dlogits != nullptr && args.dlogits_stride < args.vocabulary) return "dlogits_stride is smaller than the vocabulary";
  if (args.dlogits == args.logits && args.dlogits != nullptr &&
      (args.dlogits_type != args.logits_type || args.dlogits_stride != args.logits_stride))
    return "dlogits in place of logits must have their type and stride";
  if (const char *problem = temperature_problem(args.temperature)) return problem;
  if (args.loss < DART_GRPO || args.loss > DART_SFT) return "unknown loss";
  if (args.kl < DART_K1 || args.kl > DART_K3) return "unknown KL estimator";
  if (needs_sequences(args) && args.sequence_offsets == nullptr) return "gspo and sequence weights need sequence_offsets";
  return workspace_problem(args.workspace, args.rows > 0, "workspace is NULL: dart_policy_loss_workspace(rows) bytes are needed");
}

inline const char *problem_with(const dart_logp_entropy_args &args) {
  if (args.rows < 0 || args.vocabulary < 1) return "rows must be at least 0 and vocabulary at least 1";
  if (!is_type(args.logits_type)) return "unknown logits type";
  if (args.logits_stride < args.vocabulary) return "logits_stride is smaller than the vocabulary";
  return temperature_problem(args.temperature);
}

inline const char *problem_with(const dart_select_steps_args &args) {
  if (args.steps < 0 || args.groups < 0) return "steps and groups must be at least 0";
  if (!(args.keep >= 0 && args.keep <= 1)) return "keep must lie in 0..1";
  return nullptr;
}

inline const char *problem_with(const dart_gradient_norm_args &args) {
  if (args.size < 0) return "size must be at least 0";
  if (!is_type(args.gradient_type)) return "unknown gradient type";
  return workspace_problem(args.workspace, args.size > 0, "workspace is NULL: dart_gradient_norm_workspace(size) bytes are needed");
}

inline const char *problem_with(const dart_adamw_args &args) {
  if (args.size < 0) return "size must be at least 0";
  if (args.parameter_type != DART_F32 && args.parameter_type != DART_BF16) return "weights must be f32 or bf16";
  if (!is_type(args.gradient_type)) return "unknown gradient type";
  if (args.step < 1) return "step counts from 1";
  if (!(args.beta1 >= 0 && args.beta1 < 1 && args.beta2 >= 0 && args.beta2 < 1)) return "betas must lie in 0..1";
  if (!((float)args.epsilon > 0) || !fits(args.epsilon, DART_F32)) return "epsilon must be above 0 in f32";
  const double step_size = args.learning_rate / (1 - std::pow(args.beta1, (double)args.step));
  if (!(args.learning_rate >= 0) || !fits(step_size, DART_F32)) return "learning_rate must be at least 0, and its step within f32";
  if (!fits(1 - args.learning_rate * args.weight_decay, DART_F32)) return "weight_decay must leave a factor within f32";
  return nullptr;
}

}  // namespace dart

#endif
