/* Log-probability and entropy alone: the pass before an update that gives logo and the entropies for selection. */
#include "../validate.h"
#include "error.h"
#include "instructions.h"
#include "threads.h"
#include "types.h"

namespace dart {
namespace {

void logp_entropy(const dart_logp_entropy_args &args, const Instructions &table, int64_t begin, int64_t end) {
  const int64_t bytes = args.logits_stride * width_of(args.logits_type);
  for (int64_t row = begin; row < end; row++) {
    const char *logits = static_cast<const char *>(args.logits) + row * bytes;
    const Row one = {logits, args.vocabulary, args.logits_type, args.target[row], args.temperature, row + 1 < end ? logits + bytes : nullptr};
    const RowStatistics statistics = table.row_sums(one, {nullptr, nullptr}).statistics;
    args.entropy[row] = statistics.entropy;
    args.logp[row] = args.target[row] < 0 ? 0.0f : target_logp(statistics, args.temperature);
  }
}

}  // namespace
}  // namespace dart

extern "C" int dart_logp_entropy(const dart_logp_entropy_args *args) {
  if (const char *problem = dart::problem_with(*args)) return dart::fail(DART_BAD_ARGUMENT, problem);
  const dart::Instructions &table = dart::instructions();
  dart::for_pieces(args->rows, dart::rows_of_a_piece(args->rows, args->vocabulary), args->rows * args->vocabulary,
                   [&](int64_t begin, int64_t end) { dart::logp_entropy(*args, table, begin, end); });
  return DART_OK;
}
