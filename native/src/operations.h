/* What the addon exports; each function takes one object, or nothing. */
#ifndef DART_OPERATIONS_H
#define DART_OPERATIONS_H

#include <napi.h>

namespace dart {

Napi::Value policy_loss(const Napi::CallbackInfo &info);
Napi::Value logp_entropy(const Napi::CallbackInfo &info);
Napi::Value step_entropy(const Napi::CallbackInfo &info);
Napi::Value select_steps(const Napi::CallbackInfo &info);
Napi::Value gradient_norm(const Napi::CallbackInfo &info);
Napi::Value adamw(const Napi::CallbackInfo &info);
Napi::Value dpo(const Napi::CallbackInfo &info);
Napi::Value kto(const Napi::CallbackInfo &info);
Napi::Value lock_file(const Napi::CallbackInfo &info);
Napi::Value poll_hangup(const Napi::CallbackInfo &info);
Napi::Value cuda_status(const Napi::CallbackInfo &info);
Napi::Value cpu_status(const Napi::CallbackInfo &info);
Napi::Value set_threads(const Napi::CallbackInfo &info);
Napi::Value threads(const Napi::CallbackInfo &info);
Napi::Value set_instructions(const Napi::CallbackInfo &info);
Napi::Value instructions(const Napi::CallbackInfo &info);

}  // namespace dart

#endif
