/*
 * Gives each array of one call an address that the chosen backend can use: the array itself on the CPU, a copy in device
 * memory on CUDA. `bring_back` copies outputs to the host; the destructor frees what was allocated. Knows nothing of
 * JavaScript: it works on whichever thread runs the call.
 */
#ifndef DART_STAGING_H
#define DART_STAGING_H

#include <stdexcept>
#include <string>
#include <vector>

#include "backend.h"

namespace dart {

/* Where a call runs, as JavaScript named it. */
struct Target {
  bool cuda = false;
  int device = 0;
  std::string library; /* of the CUDA kernels */
};

/* Why a call could not be done. */
class Failure : public std::runtime_error {
 public:
  Failure(int status, const std::string &text) : std::runtime_error(text), status(status) {}
  const int status; /* dart_status */
};

enum class Direction { in, out, in_out };

class Staging {
 public:
  /* Opens the CUDA library if the target asks for it, and makes its device that of the calling thread. */
  explicit Staging(const Target &target);
  ~Staging();
  Staging(const Staging &) = delete;
  Staging &operator=(const Staging &) = delete;

  const Backend &backend() const { return *backend_; }

  /* The array's address on the device. One host array has one copy, however often it is named. */
  void *place(void *host, int64_t bytes, Direction direction);
  void *scratch(int64_t bytes);
  void bring_back();
  /* Throws the backend's words when status is not DART_OK. */
  void check(int status) const;

 private:
  struct Copy {
    void *host;
    void *device;
    int64_t bytes;
    bool back;
  };

  const Backend *backend_;
  std::vector<Copy> copies_;
};

}  // namespace dart

#endif
