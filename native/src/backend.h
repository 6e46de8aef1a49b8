/* The CPU kernels linked into the addon and the CUDA kernels in a library opened on first use, behind one table. */
#ifndef DART_BACKEND_H
#define DART_BACKEND_H

#include <string>

#include "../kernels/dart_kernels.h"

namespace dart {

#define DART_EACH_KERNEL(X)                                                                                                         \
  X(dart_policy_loss) X(dart_policy_loss_workspace) X(dart_logp_entropy) X(dart_step_entropy) X(dart_select_steps)                  \
  X(dart_gradient_norm) X(dart_gradient_norm_workspace) X(dart_adamw) X(dart_dpo) X(dart_kto) X(dart_kernels_abi) X(dart_last_error) \
  X(dart_device_count) X(dart_device_describe) X(dart_device_allocate) X(dart_device_free) X(dart_device_copy)     \
  X(dart_device_set) X(dart_device_synchronize) X(dart_set_threads) X(dart_threads) X(dart_set_instructions) X(dart_instructions)

struct Backend {
#define DART_MEMBER(name) decltype(&::name) name;
  DART_EACH_KERNEL(DART_MEMBER)
#undef DART_MEMBER
  bool on_device; /* its pointers are not host pointers */
};

const Backend &cpu_backend();

/*
 * The CUDA kernels if the device with that number can be used, else nullptr; `text` names it, or says in one line why not.
 * Opens the library on the first call with its path. A library that cannot be used stays so: the first call decides. A
 * device that was found stays found, and is described but once.
 */
const Backend *cuda_device(const std::string &library, int device, std::string *text);

}  // namespace dart

#endif
