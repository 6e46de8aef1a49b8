/* The addon's exports. State of its own is kept per environment (lane.h), so that worker threads may load it as often as they like. */
#include "../kernels/dart_kernels.h"
#include "operations.h"

#ifdef DART_LEAK_TEST
/* Only in the build of leaks.test.ts: a leak that it must see, and the sanitizer's report of all so far, in a file of its own. */
extern "C" int __lsan_do_recoverable_leak_check(void);
extern "C" void __sanitizer_set_report_path(const char *path);

static Napi::Value leak(const Napi::CallbackInfo &info) {
  static char *volatile lost;
  lost = new char[77];
  lost = nullptr;
  return info.Env().Undefined();
}

static Napi::Value report_leaks(const Napi::CallbackInfo &info) {
  __sanitizer_set_report_path(info[0].ToString().Utf8Value().c_str());
  return Napi::Number::New(info.Env(), __lsan_do_recoverable_leak_check());
}
#endif

static Napi::Object initialise(Napi::Env env, Napi::Object exports) {
  const auto add = [&](const char *name, Napi::Value (*call)(const Napi::CallbackInfo &)) {
    exports.Set(name, Napi::Function::New(env, call, name));
  };
  add("policyLoss", dart::policy_loss);
  add("logpEntropy", dart::logp_entropy);
  add("stepEntropy", dart::step_entropy);
  add("selectSteps", dart::select_steps);
  add("gradientNorm", dart::gradient_norm);
  add("adamw", dart::adamw);
  add("dpo", dart::dpo);
  add("kto", dart::kto);
  add("flock", dart::lock_file);
  add("pollHangup", dart::poll_hangup);
  add("cudaStatus", dart::cuda_status);
  add("cpuStatus", dart::cpu_status);
  add("setThreads", dart::set_threads);
  add("threads", dart::threads);
  add("setInstructions", dart::set_instructions);
  add("instructions", dart::instructions);
#ifdef DART_LEAK_TEST
  add("leak", leak);
  add("reportLeaks", report_leaks);
#endif
  exports.Set("abi", Napi::Number::New(env, DART_KERNELS_ABI));
  return exports;
}

NODE_API_MODULE(dart_native, initialise)
