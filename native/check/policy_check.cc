/* The policy loss against the reference: every output of every case, and what must hold whatever the options. */
#include <algorithm>
#include <cmath>

#include "checks.h"
#include "policy_run.h"

namespace check {
namespace {

/* Rounding of the written type, as golden/policy_loss.json has it for bf16; f16 has three digits more. */
double rounding_of(int32_t type) { return type == DART_BF16 ? 0x1p-7 : type == DART_F16 ? 0x1p-10 : 0; }

bool broken(const PolicyInputs &in, int64_t t) {
  for (int64_t j = 0; j < in.vocabulary; j++)
    if (std::isnan(in.row(t)[j]) || in.row(t)[j] == INFINITY) return true;
  return false;
}

/* Everything that the reference says of the inputs. */
struct Wanted {
  std::vector<TokenTerms> tokens;
  std::vector<bool> compared; /* scored, and nothing broken in it */
};

Wanted reference(const PolicyInputs &in) {
  Wanted want{std::vector<TokenTerms>(in.rows), std::vector<bool>(in.rows)};
  std::vector<RowTerms> rows(in.rows);
  for (int64_t t = 0; t < in.rows; t++) {
    want.compared[t] = in.scored(t) && !broken(in, t);
    if (want.compared[t]) rows[t] = row_terms(in.row(t), in.vocabulary, in.target[t], in.options.temperature);
  }
  for (size_t s = 0; s + 1 < in.offsets.size(); s++) sequence_tokens(in, static_cast<int64_t>(s), rows, want.tokens);
  return want;
}

void compare_tokens(const PolicyInputs &in, const Wanted &want, const PolicyResult &got, double rtol, Case &row) {
  struct Column {
    const char *name;
    const std::vector<float> &got;
    double (*want)(const TokenTerms &);
  };
  const Column columns[] = {
      {"logp", got.logp, [](const TokenTerms &t) { return t.row.logp; }},
      {"entropy", got.entropy, [](const TokenTerms &t) { return t.row.entropy; }},
      {"ratio", got.ratio, [](const TokenTerms &t) { return t.ratio; }},
      {"weight", got.weight, [](const TokenTerms &t) { return t.frozen.weight; }},
      {"token_loss", got.token_loss, [](const TokenTerms &t) { return t.loss; }},
  };
  for (const Column &column : columns) {
    double most = 1;
    for (int64_t t = 0; t < in.rows; t++)
      if (want.compared[t]) most = std::max(most, std::fabs(column.want(want.tokens[t])));
    for (int64_t t = 0; t < in.rows; t++) {
      if (want.compared[t]) row.number(column.name, column.got[t], column.want(want.tokens[t]), rtol * most);
      if (in.ignored(t)) row.exact("ignored row", column.got[t], 0);
      if (in.excluded(t)) row.exact("excluded target", column.got[t], &column == columns ? -INFINITY : 0);
    }
  }
  for (int64_t t = 0; t < in.rows; t++)
    if (in.scored(t) && !want.compared[t]) row.holds("loss of a NaN or inf row", !std::isfinite(got.token_loss[t]));
}

void compare_gradient(const PolicyCase &one, const PolicyInputs &in, const Wanted &want, const PolicyResult &got, double rtol, Random &random, Case &row) {
  const int32_t type = one.output == Output::in_place ? one.logits_type : one.dlogits_type;
  rtol = std::max(rtol, rounding_of(type));
  for (int64_t t = 0; t < in.rows; t++) {
    const double *own = got.dlogits.data() + t * in.vocabulary;
    if (!in.scored(t))
      for (int64_t j = 0; j < in.vocabulary; j++) row.exact("dlogits of a row without loss", own[j], 0);
    if (!want.compared[t]) continue;
    const std::vector<double> expected = row_gradient(in, t, want.tokens[t]);
    double most = 0, sum = 0, size = 0;
    for (const double x : expected) most = std::max(most, std::fabs(x));
    const double tolerance = rtol * most + 1e-7;
    for (int64_t j = 0; j < in.vocabulary; j++) {
      row.number("dlogits", own[j], expected[j], tolerance);
      if (in.row(t)[j] == -INFINITY) row.exact("dlogits of an excluded entry", own[j], 0);
      sum += own[j], size += std::fabs(expected[j]);
    }
    if (type == DART_F32) row.number("sum of a dlogits row", sum, 0, rtol * size + 1e-7); /* softmax is blind to a shift */
    for (const int64_t j : {static_cast<int64_t>(in.target[t]), random.integer(0, in.vocabulary - 1)}) {
      if (t >= 6 || in.row(t)[j] == -INFINITY) continue;
      const Slope slope = difference_quotient(in, t, j, want.tokens[t]);
      row.number("finite difference", own[j], slope.value, tolerance + slope.uncertainty);
    }
  }
}

dart_policy_statistics sums_of(const PolicyInputs &in, const Wanted &want) {
  dart_policy_statistics sums{};
  for (int64_t t = 0; t < in.rows; t++) {
    sums.ignored += in.ignored(t), sums.excluded += in.excluded(t), sums.tokens += in.scored(t);
    sums.nonfinite += in.scored(t) && !want.compared[t];
    if (!want.compared[t]) continue;
    const TokenTerms &token = want.tokens[t];
    sums.loss += in.scale[t] * token.loss, sums.approx_kl += token.approx_kl, sums.clipped += token.clipped, sums.entropy += token.row.entropy;
    sums.reference_kl += token.reference_kl, sums.reference_tokens += token.has_reference;
    sums.weight += token.frozen.weight, sums.weight_max = std::max(sums.weight_max, token.frozen.weight), sums.truncated += token.frozen.truncated;
    if (std::isnan(token.frozen.log_weight)) continue;
    sums.rollout_tokens += 1, sums.logp_difference += std::fabs(token.frozen.log_weight), sums.log_weight += token.frozen.log_weight;
  }
  return sums;
}

void compare_statistics(const PolicyInputs &in, const Wanted &want, const PolicyResult &got, double rtol, Case &row) {
  const dart_policy_statistics sums = sums_of(in, want), &own = got.statistics;
  row.exact("statistics.tokens", own.tokens, sums.tokens);
  row.exact("statistics.ignored", own.ignored, sums.ignored);
  row.exact("statistics.excluded", own.excluded, sums.excluded);
  row.exact("statistics.nonfinite", own.nonfinite, sums.nonfinite);
  if (sums.nonfinite > 0) return; /* the sums are of no use then */
  row.exact("statistics.clipped", own.clipped, sums.clipped);
  row.exact("statistics.truncated", own.truncated, sums.truncated);
  row.exact("statistics.reference_tokens", own.reference_tokens, sums.reference_tokens);
  row.exact("statistics.rollout_tokens", own.rollout_tokens, sums.rollout_tokens);
  row.number("loss", own.loss, sums.loss, rtol * std::max(1.0, std::fabs(sums.loss)));
  const auto sum = [&](const char *name, double x, double y) { row.number(name, x, y, rtol * std::max({1.0, sums.tokens, std::fabs(y)})); };
  sum("statistics.approx_kl", own.approx_kl, sums.approx_kl);
  sum("statistics.entropy", own.entropy, sums.entropy);
  sum("statistics.reference_kl", own.reference_kl, sums.reference_kl);
  sum("statistics.weight", own.weight, sums.weight);
  sum("statistics.weight_max", own.weight_max, sums.weight_max);
  sum("statistics.logp_difference", own.logp_difference, sums.logp_difference);
  sum("statistics.log_weight", own.log_weight, sums.log_weight);
}

bool same_bytes(const PolicyResult &a, const PolicyResult &b) {
  const auto same = [](const std::vector<float> &x, const std::vector<float> &y) {
    return x.empty() || std::memcmp(x.data(), y.data(), x.size() * sizeof(float)) == 0;
  };
  return a.bytes == b.bytes && same(a.logp, b.logp) && same(a.entropy, b.entropy) && same(a.ratio, b.ratio) && same(a.weight, b.weight) &&
         same(a.token_loss, b.token_loss) && std::memcmp(&a.statistics, &b.statistics, sizeof a.statistics) == 0;
}

/* A second run, with other threads where there are such, must give the same bytes. */
bool repeats(const Library &library, const PolicyCase &one, const PolicyInputs &in, const PolicyResult &first) {
  const int threads = library.dart_threads();
  require(library, library.dart_set_threads(threads == 1 ? 3 : 1), "dart_set_threads");
  const bool same = same_bytes(run_policy_loss(library, one, in), first);
  require(library, library.dart_set_threads(threads), "dart_set_threads");
  return same;
}

std::string describe(const PolicyCase &one) {
  std::string text = one.name + ": N " + std::to_string(one.rows) + ", V " + std::to_string(one.vocabulary) + ", " + name_of(one.logits_type);
  if (one.output == Output::separate) text += std::string(" to ") + name_of(one.dlogits_type);
  if (one.output == Output::in_place) text += " in place";
  if (one.gap > 0) text += ", stride";
  if (one.shift > 0) text += ", unaligned";
  return text;
}

}  // namespace

void check_policy_loss(const Library &library, const Settings &settings, Report &report) {
  Random random(settings.seed);
  int64_t number = 0;
  for (const PolicyCase &one : policy_cases(!settings.quick)) {
    if (number++ % settings.every != 0) continue;
    const PolicyInputs in = make_inputs(one, random);
    const Wanted want = reference(in);
    const PolicyResult got = run_policy_loss(library, one, in);
    const double rtol = relative_tolerance(in);
    Case row("policy_loss", describe(one));
    row.holds("memory beside the outputs", got.guarded);
    row.holds("the logits", got.logits_kept);
    compare_tokens(in, want, got, rtol, row);
    if (one.output != Output::none) compare_gradient(one, in, want, got, rtol, random, row);
    compare_statistics(in, want, got, rtol, row);
    row.holds("the same bytes again", repeats(library, one, in, got));
    report.add(row);
  }
}

}  // namespace check
