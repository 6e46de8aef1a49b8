/*
 * Reads one JavaScript object of arguments into plain values. Numbers and choices were checked by the TypeScript face; here every
 * array is checked again for what memory safety needs: its type, its length, and that its buffer is still attached.
 */
#ifndef DART_ARGUMENTS_H
#define DART_ARGUMENTS_H

#include <napi.h>

#include <string>

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
template <>
struct ArrayKind<uint16_t> {
  static constexpr napi_typedarray_type type = napi_uint16_array;
  static constexpr const char *name = "Uint16Array";
};

/* Elements of a typed array, at its byteOffset; data is nullptr for an absent optional array. */
template <typename T>
struct Span {
  T *data = nullptr;
  int64_t size = 0;
};

/* A matrix of logits in either precision. */
struct Matrix {
  void *data = nullptr;
  int64_t size = 0;
  int32_t type = 0; /* dart_type */
};

constexpr int64_t kAnyLength = -1;

class Arguments {
 public:
  explicit Arguments(const Napi::CallbackInfo &info);
  explicit Arguments(Napi::Object object) : object_(object) {}

  double number(const char *name) const;
  int64_t integer(const char *name) const { return static_cast<int64_t>(number(name)); }
  std::string text(const char *name) const;
  Napi::Value value(const char *name) const { return object_.Get(name); }

  /* Float32Array or Uint16Array (bf16) of at least `least` elements. */
  Matrix matrix(const char *name, int64_t least) const;
  Matrix optional_matrix(const char *name, int64_t least) const;

  template <typename T>
  Span<T> array(const char *name, int64_t length = kAnyLength) const {
    const Napi::Value value = object_.Get(name);
    if (!is_kind(value, ArrayKind<T>::type) || (length != kAnyLength && length_of(value) != length))
      refuse(name, ArrayKind<T>::name, length, value);
    return {static_cast<T *>(data_of(name, value)), length_of(value)};
  }

  template <typename T>
  Span<T> optional_array(const char *name, int64_t length) const {
    const Napi::Value value = object_.Get(name);
    if (value.IsNull() || value.IsUndefined()) return {};
    return array<T>(name, length);
  }

 private:
  static bool is_kind(const Napi::Value &value, napi_typedarray_type type);
  static int64_t length_of(const Napi::Value &value);
  void *data_of(const char *name, const Napi::Value &value) const;
  [[noreturn]] void refuse(const char *name, const char *expected, int64_t length, const Napi::Value &value) const;

  Napi::Object object_;
};

}  // namespace dart

#endif
