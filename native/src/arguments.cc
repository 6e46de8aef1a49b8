#include "arguments.h"

namespace dart {
namespace {

/* The ArrayBuffer or SharedArrayBuffer under a view. */
napi_value buffer_of(const Napi::TypedArray &array) {
  napi_value buffer = nullptr;
  napi_get_typedarray_info(array.Env(), array, nullptr, nullptr, nullptr, &buffer, nullptr);
  return buffer;
}

bool is_shared(const Napi::TypedArray &array) {
  bool plain = true;
  napi_is_arraybuffer(array.Env(), buffer_of(array), &plain);
  return !plain;
}

bool is_detached(const Napi::TypedArray &array) {
  bool detached = false;
  napi_is_detached_arraybuffer(array.Env(), buffer_of(array), &detached);
  return detached;
}

/* "Float32Array of length 3", "null", "a string": what was received instead. */
std::string describe(const Napi::Value &value) {
  if (value.IsUndefined() || value.IsNull()) return value.IsNull() ? "null" : "undefined";
  if (value.IsSymbol()) return "a symbol";
  if (!value.IsObject()) return value.ToString().Utf8Value();
  if (value.IsArray()) return "an array";
  if (!value.IsTypedArray()) return "an object";
  const Napi::TypedArray array = value.As<Napi::TypedArray>();
  const std::string name = array.Get("constructor").ToObject().Get("name").ToString().Utf8Value();
  if (is_shared(array)) return name + " over a SharedArrayBuffer";
  if (is_detached(array)) return name + " whose buffer is detached";
  return name + " of length " + std::to_string(array.ElementLength());
}

const char *half_name(int32_t half) { return half == DART_F16 ? "Uint16Array (f16)" : "Uint16Array (bf16)"; }

}  // namespace

Arguments::Arguments(const Napi::CallbackInfo &info) {
  if (info.Length() < 1 || !info[0].IsObject()) throw Napi::TypeError::New(info.Env(), "Expected an object of arguments");
  object_ = info[0].As<Napi::Object>();
}

double Arguments::number(const char *name) const {
  const Napi::Value value = object_.Get(name);
  if (!value.IsNumber()) refuse(name, "a number", value);
  return value.As<Napi::Number>().DoubleValue();
}

std::string Arguments::text(const char *name) const {
  const Napi::Value value = object_.Get(name);
  if (!value.IsString()) refuse(name, "a string", value);
  return value.As<Napi::String>().Utf8Value();
}

Values Arguments::values(const char *name, const Napi::Value &value, int32_t half) const {
  return {data_of(name, value), length_of(value), is_kind(value, napi_uint16_array) ? half : DART_F32};
}

Values Arguments::at_least(const char *name, int64_t least, int32_t half) const {
  const Napi::Value value = object_.Get(name);
  if ((is_kind(value, napi_float32_array) || is_kind(value, napi_uint16_array)) && length_of(value) >= least) return values(name, value, half);
  refuse(name, std::string("Float32Array or ") + half_name(half) + " of at least " + std::to_string(least) + " elements", value);
}

Values Arguments::optional_at_least(const char *name, int64_t least, int32_t half) const {
  return is_absent(name) ? Values{} : at_least(name, least, half);
}

Values Arguments::exactly(const char *name, int64_t length, int32_t half) const {
  const Napi::Value value = object_.Get(name);
  const bool fits = is_kind(value, napi_float32_array) || is_kind(value, napi_uint16_array);
  if (fits && (length == kAnyLength || length_of(value) == length)) return values(name, value, half);
  refuse(name, std::string("Float32Array or ") + half_name(half) + of_length(length), value);
}

bool Arguments::is_kind(const Napi::Value &value, napi_typedarray_type type) {
  return value.IsTypedArray() && value.As<Napi::TypedArray>().TypedArrayType() == type;
}

int64_t Arguments::length_of(const Napi::Value &value) {
  return static_cast<int64_t>(value.As<Napi::TypedArray>().ElementLength());
}

std::string Arguments::of_length(int64_t length) { return length == kAnyLength ? "" : " of length " + std::to_string(length); }

bool Arguments::is_absent(const char *name) const {
  const Napi::Value value = object_.Get(name);
  return value.IsNull() || value.IsUndefined();
}

/* Shared memory is refused: another thread could change an index after it was checked. */
void *Arguments::data_of(const char *name, const Napi::Value &value) const {
  void *data = nullptr;
  const Napi::TypedArray array = value.As<Napi::TypedArray>();
  if (is_shared(array)) refuse(name, "an array over an ArrayBuffer", value);
  if (is_detached(array)) refuse(name, "an attached array", value);
  napi_get_typedarray_info(array.Env(), array, nullptr, nullptr, &data, nullptr, nullptr);
  return data;
}

void Arguments::refuse(const char *name, const std::string &expected, const Napi::Value &value) const {
  throw Napi::TypeError::New(object_.Env(), "Expected " + expected + " for " + path_ + name + " but received " + describe(value));
}

}  // namespace dart
