/* A library with the C interface of dart_kernels.h, opened by its path, and arrays in its memory. */
#ifndef DART_CHECK_LIBRARY_H
#define DART_CHECK_LIBRARY_H

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "../kernels/dart_kernels.h"

namespace check {

#define DART_CHECK_FUNCTIONS(use)                                                                                     \
  use(dart_policy_loss) use(dart_policy_loss_workspace) use(dart_logp_entropy) use(dart_step_entropy)                 \
  use(dart_select_steps) use(dart_gradient_norm) use(dart_gradient_norm_workspace) use(dart_adamw) use(dart_dpo)      \
  use(dart_kto) use(dart_kernels_abi) use(dart_last_error) use(dart_device_count) use(dart_device_describe)           \
  use(dart_device_set) use(dart_device_synchronize) use(dart_set_threads) use(dart_threads)                           \
  use(dart_set_instructions) use(dart_instructions) use(dart_device_allocate) use(dart_device_free)                   \
  use(dart_device_copy)

struct Library {
#define DART_CHECK_MEMBER(name) decltype(&::name) name;
  DART_CHECK_FUNCTIONS(DART_CHECK_MEMBER)
#undef DART_CHECK_MEMBER
};

/* Opens the library and checks its interface number and that it has a device; ends the program with code 2 otherwise. */
Library open_library(const std::string &path);

/* Ends the program with code 2 and the library's own words unless status is DART_OK. */
void require(const Library &library, int status, const char *what);

/*
 * An array of T in the library's memory between two guards, `shift` elements past an aligned address. It starts as
 * bytes 0xff: NaN in every floating type, so that an output that was never written shows.
 */
template <typename T>
class Array {
 public:
  Array(const Library &library, int64_t size, int64_t shift = 0) : library_(library), size_(size), shift_(shift) {
    require(library, library.dart_device_allocate(&memory_, bytes()), "dart_device_allocate");
    poison();
  }
  Array(const Library &library, const std::vector<T> &values, int64_t shift = 0) : Array(library, static_cast<int64_t>(values.size()), shift) {
    write(values);
  }
  ~Array() { library_.dart_device_free(memory_); }
  Array(const Array &) = delete;
  Array &operator=(const Array &) = delete;

  T *get() const { return reinterpret_cast<T *>(static_cast<char *>(memory_) + before()); }
  int64_t size() const { return size_; }

  void poison() {
    std::vector<unsigned char> all(bytes(), kGuardByte);
    std::memset(all.data() + before(), 0xff, size_ * sizeof(T));
    require(library_, library_.dart_device_copy(memory_, all.data(), bytes(), DART_TO_DEVICE), "dart_device_copy");
  }
  void write(const std::vector<T> &values) {
    require(library_, library_.dart_device_copy(get(), values.data(), size_ * sizeof(T), DART_TO_DEVICE), "dart_device_copy");
  }
  std::vector<T> read() const {
    std::vector<T> values(size_);
    require(library_, library_.dart_device_copy(values.data(), get(), size_ * sizeof(T), DART_FROM_DEVICE), "dart_device_copy");
    return values;
  }
  /* True when nothing was written beside the array. */
  bool guarded() const {
    std::vector<unsigned char> all(bytes());
    require(library_, library_.dart_device_copy(all.data(), memory_, bytes(), DART_FROM_DEVICE), "dart_device_copy");
    for (int64_t i = 0; i < before(); i++)
      if (all[i] != kGuardByte) return false;
    for (int64_t i = before() + size_ * static_cast<int64_t>(sizeof(T)); i < bytes(); i++)
      if (all[i] != kGuardByte) return false;
    return true;
  }

 private:
  static constexpr unsigned char kGuardByte = 0x5a;
  static constexpr int64_t kGuard = 256;
  int64_t before() const { return kGuard + shift_ * static_cast<int64_t>(sizeof(T)); }
  int64_t bytes() const { return before() + size_ * static_cast<int64_t>(sizeof(T)) + kGuard; }

  const Library &library_;
  int64_t size_, shift_;
  void *memory_ = nullptr;
};

}  // namespace check

#endif
