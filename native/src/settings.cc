/* What the kernels run on and how: devices, threads, instructions. */
#include "arguments.h"
#include "backend.h"
#include "operations.h"

namespace dart {
namespace {

void check(Napi::Env env, int status) {
  if (status != DART_OK) throw Napi::TypeError::New(env, dart_last_error());
}

}  // namespace

/* { available, text } of one CUDA device; the library is opened by the first call. */
Napi::Value cuda_status(const Napi::CallbackInfo &info) {
  const Arguments in(info);
  std::string text;
  const Backend *cuda = cuda_device(in.text("cudaLibrary"), in.choice("deviceIndex"), &text);
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

Napi::Value set_threads(const Napi::CallbackInfo &info) {
  check(info.Env(), dart_set_threads(Arguments(info).choice("threads")));
  return info.Env().Undefined();
}

Napi::Value threads(const Napi::CallbackInfo &info) { return Napi::Number::New(info.Env(), dart_threads()); }

Napi::Value set_instructions(const Napi::CallbackInfo &info) {
  check(info.Env(), dart_set_instructions(Arguments(info).text("name").c_str()));
  return info.Env().Undefined();
}

Napi::Value instructions(const Napi::CallbackInfo &info) { return Napi::String::New(info.Env(), dart_instructions()); }

}  // namespace dart
