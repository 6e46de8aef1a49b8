/* The loops of vector_*.h for NEON, which every 64-bit ARM has. */
#if defined(__aarch64__)

#include "lanes_neon.h"
#include "vector_gradient.h"
#include "vector_optimizer.h"
#include "vector_sums.h"

namespace dart {

static bool available() { return true; }

const Instructions kNeon = {"neon", "NEON", available, row_sums, gradient, gradient_from_kept, sum_of_squares, adamw};

}  // namespace dart

#endif
