/*
 * Reads one JavaScript object of arguments into plain values. Numbers and choices were checked by the TypeScript face; here every
 * array is checked again for what memory safety needs: its type, its length, and a buffer that is attached and not shared.
 */
#ifndef DART_ARGUMENTS_H
#define DART_ARGUMENTS_H

#include <napi.h>

#include <string>

#include "../kernels/dart_kernels.h"

namespace dart {

template <typename T>
struct ArrayKind;
template <>
struct ArrayKind<float> {
  static constexpr napi_typedarray_type type = napi_float32_array;
  static constexpr const char *name = "Float32Array";
};
template <>
struct ArrayKind<double> {
  static constexpr napi_typedarray_type type = napi_float64_array;
  static constexpr const char *name = "Float64Array";
};
template <>
struct ArrayKind<int32_t> {
  static constexpr napi_typedarray_type type = napi_int32_array;
  static constexpr const char *name = "Int32Array";
};
template <>
struct ArrayKind<uint8_t> {
  static constexpr napi_typedarray_type type = napi_uint8_array;
  static constexpr const char *name = "Uint8Array";
};

/* Elements of a typed array, at its byteOffset; data is nullptr for an absent optional array. */
template <typename T>
struct Span {
  T *data = nullptr;
  int64_t size = 0;
};

/* Numbers in one of several precisions: logits, gradients, weights. */
struct Values {
  void *data = nullptr;
  int64_t size = 0;
  int32_t type = DART_F32;

  int64_t bytes() const { return size * (type == DART_F32 ? 4 : 2); }
};

constexpr int64_t kAnyLength = -1;

class Arguments {
 public:
  explicit Arguments(const Napi::CallbackInfo &info);
  /* An object inside another one; `path` goes before its names in messages. */
  Arguments(Napi::Object object, std::string path) : object_(object), path_(std::move(path)) {}

  Napi::Env env() const { return object_.Env(); }
  Napi::Object object() const { return object_; }
  Napi::Value value(const char *name) const { return object_.Get(name); }
  double number(const char *name) const;
  int64_t integer(const char *name) const { return static_cast<int64_t>(number(name)); }
  int32_t choice(const char *name) const { return static_cast<int32_t>(number(name)); }
  bool flag(const char *name) const { return value(name).ToBoolean().Value(); }
  std::string text(const char *name) const;

  /* Float32Array, or Uint16Array that holds numbers of type `half` (dart_type), with at least so many elements. */
  Values at_least(const char *name, int64_t least, int32_t half) const;
  Values optional_at_least(const char *name, int64_t least, int32_t half) const;
  /* The same with exactly so many. */
  Values exactly(const char *name, int64_t length, int32_t half) const;

  template <typename T>
  Span<T> array(const char *name, int64_t length = kAnyLength) const {
    const Napi::Value value = object_.Get(name);
    if (!is_kind(value, ArrayKind<T>::type) || (length != kAnyLength && length_of(value) != length))
      refuse(name, ArrayKind<T>::name + of_length(length), value);
    return {static_cast<T *>(data_of(name, value)), length_of(value)};
  }

  template <typename T>
  Span<T> optional_array(const char *name, int64_t length) const {
    return is_absent(name) ? Span<T>{} : array<T>(name, length);
  }

 private:
  static bool is_kind(const Napi::Value &value, napi_typedarray_type type);
  static int64_t length_of(const Napi::Value &value);
  static std::string of_length(int64_t length);
  bool is_absent(const char *name) const;
  Values values(const char *name, const Napi::Value &value, int32_t half) const;
  void *data_of(const char *name, const Napi::Value &value) const;
  [[noreturn]] void refuse(const char *name, const std::string &expected, const Napi::Value &value) const;

  Napi::Object object_;
  std::string path_;
};

}  // namespace dart

#endif
