#include "arguments.h"

#include "../kernels/dart_kernels.h"

namespace dart {
namespace {

bool is_detached(const Napi::TypedArray &array) {
  bool detached = false;
  napi_is_detached_arraybuffer(array.Env(), array.ArrayBuffer(), &detached);
  return detached;
}

/* "Float32Array of length 3", "null", "a string": what was received instead. */
std::string describe(const Napi::Value &value) {
  if (value.IsUndefined() || value.IsNull()) return value.IsNull() ? "null" : "undefined";
  if (!value.IsObject()) return value.ToString().Utf8Value();
  const Napi::Object object = value.As<Napi::Object>();
  const std::string name = object.Get("constructor").As<Napi::Object>().Get("name").ToString().Utf8Value();
  if (!value.IsTypedArray()) return name;
  if (is_detached(value.As<Napi::TypedArray>())) return name + " whose buffer is detached";
  return name + " of length " + std::to_string(value.As<Napi::TypedArray>().ElementLength());
}

}  // namespace

Arguments::Arguments(const Napi::CallbackInfo &info) {
  if (info.Length() < 1 || !info[0].IsObject()) throw Napi::TypeError::New(info.Env(), "Expected an object of arguments");
  object_ = info[0].As<Napi::Object>();
}

double Arguments::number(const char *name) const {
  const Napi::Value value = object_.Get(name);
  if (!value.IsNumber())
    throw Napi::TypeError::New(object_.Env(), std::string("Expected a number for ") + name + " but received " + describe(value));
  return value.As<Napi::Number>().DoubleValue();
}

std::string Arguments::text(const char *name) const {
  const Napi::Value value = object_.Get(name);
  if (!value.IsString())
    throw Napi::TypeError::New(object_.Env(), std::string("Expected a string for ") + name + " but received " + describe(value));
  return value.As<Napi::String>().Utf8Value();
}

Matrix Arguments::matrix(const char *name, int64_t least) const {
  const Napi::Value value = object_.Get(name);
  const bool single = is_kind(value, napi_float32_array), half = is_kind(value, napi_uint16_array);
  if ((!single && !half) || length_of(value) < least) {
    const std::string expected = "Float32Array or Uint16Array (bf16) of at least " + std::to_string(least) + " elements";
    refuse(name, expected.c_str(), kAnyLength, value);
  }
  return {data_of(name, value), length_of(value), half ? DART_BF16 : DART_F32};
}

Matrix Arguments::optional_matrix(const char *name, int64_t least) const {
  const Napi::Value value = object_.Get(name);
  if (value.IsNull() || value.IsUndefined()) return {};
  return matrix(name, least);
}

bool Arguments::is_kind(const Napi::Value &value, napi_typedarray_type type) {
  return value.IsTypedArray() && value.As<Napi::TypedArray>().TypedArrayType() == type;
}

int64_t Arguments::length_of(const Napi::Value &value) {
  return static_cast<int64_t>(value.As<Napi::TypedArray>().ElementLength());
}

void *Arguments::data_of(const char *name, const Napi::Value &value) const {
  void *data = nullptr;
  const Napi::TypedArray array = value.As<Napi::TypedArray>();
  if (is_detached(array)) refuse(name, "an attached array", kAnyLength, value);
  napi_get_typedarray_info(array.Env(), array, nullptr, nullptr, &data, nullptr, nullptr);
  return data;
}

void Arguments::refuse(const char *name, const char *expected, int64_t length, const Napi::Value &value) const {
  const std::string size = length == kAnyLength ? "" : " of length " + std::to_string(length);
  throw Napi::TypeError::New(object_.Env(), "Expected " + std::string(expected) + size + " for " + name + " but received " + describe(value));
}

}  // namespace dart
