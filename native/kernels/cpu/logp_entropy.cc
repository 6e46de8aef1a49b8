/* Log-probability and entropy alone: the pass before an update that gives logo and the entropies for selection. */
#include "../validate.h"
#include "error.h"
#include "rows.h"

namespace dart {
namespace {

template <typename T>
void logp_entropy(const dart_logp_entropy_args &args) {
  for (int64_t row = 0; row < args.rows; row++) {
    const T *logits = static_cast<const T *>(args.logits) + row * args.logits_stride;
    const RowStatistics statistics = row_statistics(logits, args.vocabulary, args.target[row], args.temperature);
    args.entropy[row] = statistics.entropy;
    args.logp[row] = args.target[row] < 0 ? 0.0f : target_logp(statistics, args.temperature);
  }
}

}  // namespace
}  // namespace dart

extern "C" int dart_logp_entropy(const dart_logp_entropy_args *args) {
  if (const char *problem = dart::problem_with(*args)) return dart::fail(DART_BAD_ARGUMENT, problem);
  if (args->logits_type == DART_BF16) dart::logp_entropy<uint16_t>(*args);
  if (args->logits_type == DART_F32) dart::logp_entropy<float>(*args);
  return DART_OK;
}
