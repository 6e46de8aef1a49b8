/*
 * Gives each array of one call an address that the chosen backend can use: the array itself on the CPU, a copy in device
 * memory on CUDA. `finish` brings outputs back; the destructor frees what was allocated.
 */
#ifndef DART_STAGING_H
#define DART_STAGING_H

#include <vector>

#include "arguments.h"
#include "backend.h"

namespace dart {

class Staging {
 public:
  Staging(Napi::Env env, const Arguments &arguments);
  ~Staging();
  Staging(const Staging &) = delete;
  Staging &operator=(const Staging &) = delete;

  const Backend &backend() const { return *backend_; }

  template <typename T>
  const T *in(const Span<T> &span) {
    return static_cast<const T *>(place(span.data, span.size * sizeof(T), true, false));
  }
  template <typename T>
  T *out(const Span<T> &span) {
    return static_cast<T *>(place(span.data, span.size * sizeof(T), false, true));
  }
  template <typename T>
  T *in_out(const Span<T> &span) {
    return static_cast<T *>(place(span.data, span.size * sizeof(T), true, true));
  }
  const void *in(const Matrix &matrix) { return place(matrix.data, bytes(matrix), true, false); }
  /* Copied in as well: columns beyond the vocabulary keep what they hold. */
  void *in_out(const Matrix &matrix) { return place(matrix.data, bytes(matrix), true, true); }

  void *scratch(int64_t bytes);

  /* Throws the backend's words when status is not 0; else copies the outputs back. */
  void finish(int status);

 private:
  struct Copy {
    void *host;
    void *device;
    int64_t bytes;
    bool back;
  };

  static int64_t bytes(const Matrix &matrix) { return matrix.size * (matrix.type == DART_BF16 ? 2 : 4); }
  void *place(void *host, int64_t bytes, bool copy_in, bool copy_back);
  void check(int status) const;

  Napi::Env env_;
  const Backend *backend_;
  std::vector<Copy> copies_;
};

}  // namespace dart

#endif
