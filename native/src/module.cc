/* The addon's exports. It keeps no state of its own, so that worker threads may load it as often as they like. */
#include "backend.h"
#include "operations.h"

namespace dart {
namespace {

/* { available, text } of the CUDA library at the given path; opening it is left to the first call that asks. */
Napi::Value cuda_status(const Napi::CallbackInfo &info) {
  std::string text;
  const Backend *cuda = cuda_backend(info[0].ToString().Utf8Value(), &text);
  Napi::Object status = Napi::Object::New(info.Env());
  status.Set("available", Napi::Boolean::New(info.Env(), cuda != nullptr));
  status.Set("text", Napi::String::New(info.Env(), text));
  return status;
}

Napi::Value cpu_status(const Napi::CallbackInfo &info) {
  char text[128] = "";
  dart_device_describe(0, text, sizeof text);
  return Napi::String::New(info.Env(), text);
}

Napi::Object initialise(Napi::Env env, Napi::Object exports) {
  const auto add = [&](const char *name, Napi::Value (*call)(const Napi::CallbackInfo &)) {
    exports.Set(name, Napi::Function::New(env, call, name));
  };
  add("policyLoss", policy_loss);
  add("logpEntropy", logp_entropy);
  add("stepEntropy", step_entropy);
  add("selectSteps", select_steps);
  add("gradientNorm", gradient_norm);
  add("adamw", adamw);
  add("dpo", dpo);
  add("kto", kto);
  add("flock", lock_file);
  add("pollHangup", poll_hangup);
  add("cudaStatus", cuda_status);
  add("cpuStatus", cpu_status);
  exports.Set("abi", Napi::Number::New(env, DART_KERNELS_ABI));
  return exports;
}

}  // namespace
}  // namespace dart

static Napi::Object Initialise(Napi::Env env, Napi::Object exports) { return dart::initialise(env, exports); }

NODE_API_MODULE(dart_native, Initialise)
