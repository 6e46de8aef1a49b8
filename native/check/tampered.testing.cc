/*
 * A library whose kernels are wrong in one small way, named by DART_TAMPER: what the tests hold check_kernels to. Linked
 * against the real library, which does the work and answers for all other functions.
 */
#include <dlfcn.h>

#include <cstdlib>
#include <cstring>

#include "../kernels/dart_kernels.h"

namespace {

bool tampered(const char *how) {
  const char *wanted = std::getenv("DART_TAMPER");
  return wanted != nullptr && std::strcmp(wanted, how) == 0;
}

template <typename Function>
Function *real(const char *name) {
  return reinterpret_cast<Function *>(dlsym(RTLD_NEXT, name));
}

}  // namespace

extern "C" int dart_policy_loss(const dart_policy_loss_args *args) {
  dart_policy_loss_args own = *args;
  if (tampered("dual clip")) own.dual_clip = 0;
  if (tampered("kl gradient") && own.kl == DART_K3) own.kl = DART_K2;
  const int status = real<int(const dart_policy_loss_args *)>("dart_policy_loss")(&own);
  if (status != DART_OK || args->rows == 0 || args->dlogits == nullptr || args->dlogits_type != DART_F32) return status;
  float *gradient = static_cast<float *>(args->dlogits);
  if (tampered("one entry")) gradient[args->vocabulary / 2] *= 1.001f;
  if (tampered("gap") && args->dlogits_stride > args->vocabulary) gradient[args->vocabulary] = 0;
  if (tampered("ignored row"))
    for (int64_t t = 0; t < args->rows; t++)
      if (args->target[t] < 0) gradient[t * args->dlogits_stride] = 1e-30f;
  if (tampered("count")) args->statistics->clipped += 1;
  return status;
}

extern "C" int dart_logp_entropy(const dart_logp_entropy_args *args) {
  const int status = real<int(const dart_logp_entropy_args *)>("dart_logp_entropy")(args);
  if (tampered("entropy") && args->rows > 0) args->entropy[0] += 1e-3f;
  return status;
}

extern "C" int dart_select_steps(const dart_select_steps_args *args) {
  const int status = real<int(const dart_select_steps_args *)>("dart_select_steps")(args);
  for (int64_t s = 0; tampered("ties") && s < args->steps; s++)
    if (args->step_entropy[s] == args->threshold[args->step_group[s]]) args->selected[s] = 0;
  return status;
}

extern "C" int dart_adamw(const dart_adamw_args *args) {
  dart_adamw_args own = *args;
  if (tampered("weight decay")) own.weight_decay *= 0.9;
  if (tampered("clipping")) own.max_grad_norm *= 1.01;
  return real<int(const dart_adamw_args *)>("dart_adamw")(&own);
}
