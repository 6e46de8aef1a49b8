#include "call.h"

#include "lane.h"

namespace dart {

napi_value Outcome::error_value(napi_env env) const {
  napi_value message = nullptr, error = nullptr;
  napi_create_string_utf8(env, text.c_str(), text.size(), &message);
  if (status == DART_BAD_ARGUMENT) napi_create_type_error(env, nullptr, message, &error);
  else napi_create_error(env, nullptr, message, &error);
  return error;
}

Call::Call(const Arguments &in) {
  target_.cuda = in.text("backend") == "cuda";
  if (!target_.cuda) return;
  target_.device = in.choice("deviceIndex");
  target_.library = in.text("cudaLibrary");
}

Outcome Call::run() noexcept {
  try {
    Staging staging(target_);
    work(staging);
    return {};
  } catch (const Failure &failure) {
    return {failure.status, failure.what()};
  } catch (const std::exception &error) {
    return {DART_DEVICE_ERROR, error.what()};
  }
}

Napi::Value perform(const Arguments &in, std::unique_ptr<Call> call) {
  if (in.flag("async")) return Lane::of(in.env()).start(in.object(), std::move(call));
  const Outcome outcome = call->run();
  if (outcome.status != DART_OK) throw Napi::Error(in.env(), outcome.error_value(in.env()));
  return in.env().Undefined();
}

}  // namespace dart
