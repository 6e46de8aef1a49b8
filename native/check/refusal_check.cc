#include <cmath>

#include "checks.h"

namespace check {
namespace {

void refused(const Library &library, Report &report, const char *kernel, const char *what, int status) {
  Case row(kernel, std::string("refuses ") + what);
  row.exact("status", status, DART_BAD_ARGUMENT);
  row.holds("its words", std::string(library.dart_last_error()).size() > 8);
  report.add(row);
}

}  // namespace

void check_refusals(const Library &library, Report &report) {
  Array<float> floats(library, std::vector<float>(64, 1));
  Array<int32_t> target(library, std::vector<int32_t>(2, 0));
  Array<double> doubles(library, 4);
  Array<uint8_t> bytes(library, 4);
  Array<dart_policy_statistics> statistics(library, 1);
  const auto policy = [&](const char *what, auto change) {
    dart_policy_loss_args args{};
    args.rows = 2, args.vocabulary = 8, args.logits = args.dlogits = floats.get(), args.logits_stride = args.dlogits_stride = 8;
    args.target = target.get(), args.scale = floats.get(), args.temperature = 1, args.kl = DART_K3;
    args.logp = args.entropy = args.ratio = args.weight = args.token_loss = floats.get() + 32;
    args.statistics = statistics.get(), args.workspace = doubles.get();
    change(args);
    refused(library, report, "policy_loss", what, library.dart_policy_loss(&args));
  };
  policy("temperature 0", [](dart_policy_loss_args &a) { a.temperature = 0; });
  policy("temperature NaN", [](dart_policy_loss_args &a) { a.temperature = NAN; });
  policy("a stride below V", [](dart_policy_loss_args &a) { a.logits_stride = 7; });
  policy("another type in place", [](dart_policy_loss_args &a) { a.dlogits_type = DART_BF16; });
  policy("an unknown type", [](dart_policy_loss_args &a) { a.logits_type = 9; });
  policy("an unknown loss", [](dart_policy_loss_args &a) { a.loss = 9; });
  policy("an unknown estimator", [](dart_policy_loss_args &a) { a.kl = 0; });
  policy("gspo without sequences", [](dart_policy_loss_args &a) { a.loss = DART_GSPO; });
  policy("a negative number of rows", [](dart_policy_loss_args &a) { a.rows = -1; });
  const dart_select_steps_args steps = {2, 1, doubles.get(), target.get(), 1.5, doubles.get() + 2, bytes.get(), nullptr};
  refused(library, report, "select_steps", "keep 1.5", library.dart_select_steps(&steps));
  dart_adamw_args adamw{};
  adamw.size = 4, adamw.parameter = adamw.first_moment = adamw.second_moment = floats.get(), adamw.gradient = floats.get(), adamw.step = 0;
  refused(library, report, "adamw", "step 0", library.dart_adamw(&adamw));
  adamw.step = 1, adamw.beta1 = 1;
  refused(library, report, "adamw", "beta1 = 1", library.dart_adamw(&adamw));
  adamw.beta1 = 0.9, adamw.parameter_type = DART_F16;
  refused(library, report, "adamw", "f16 weights", library.dart_adamw(&adamw));
  Case row("policy_loss", "a refusal changes nothing");
  for (const float x : floats.read()) row.exact("array", x, 1);
  report.add(row);
}

}  // namespace check
