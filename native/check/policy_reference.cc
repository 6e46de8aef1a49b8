#include "policy_reference.h"

#include <algorithm>
#include <cmath>

namespace check {
namespace {

constexpr double kClamp = 20;
/* A weight that passes the cap by no more than this is at the cap (dart_kernels.h: `truncated`). */
constexpr double kCapSlack = 1e-4;

bool given(const std::vector<float> &values, int64_t t) { return !values.empty() && std::isfinite(values[t]); }
double between(double x, double low, double high) { return std::min(std::max(x, low), high); }
double advantage_of(const PolicyInputs &in, int64_t t) { return in.advantage.empty() ? 1 : in.advantage[t]; }

/* logo; the policy itself where there is none. */
double old_of(const PolicyInputs &in, int64_t t, double own) { return given(in.old_logp, t) ? in.old_logp[t] : own; }

double estimate(int32_t kind, double d) {
  if (kind == DART_K1) return -d;
  if (kind == DART_K2) return d * d / 2;
  return std::exp(d) - d - 1;
}

double slope(int32_t kind, double d) {
  if (kind == DART_K1) return -1;
  if (kind == DART_K2) return d;
  return std::exp(d) - 1;
}

double ratio_of(const PolicyInputs &in, int64_t t, double logp, const Frozen &frozen) {
  if (in.options.loss == DART_GSPO) return frozen.sequence_ratio * std::exp(logp - frozen.logp);
  return std::exp(logp - old_of(in, t, frozen.logp));
}

double surrogate(const PolicyInputs &in, int64_t t, double logp, const Frozen &frozen) {
  const PolicyOptions &o = in.options;
  const double A = advantage_of(in, t);
  if (o.loss == DART_SFT) return -A * logp;
  if (o.loss == DART_CISPO) return -std::min(ratio_of(in, t, frozen.logp, frozen), 1 + o.clip_high) * A * logp;
  const double r = ratio_of(in, t, logp, frozen);
  double loss = -std::min(r * A, between(r, 1 - o.clip_low, 1 + o.clip_high) * A);
  if (o.dual_clip > 0 && A < 0) loss = std::min(loss, -o.dual_clip * A);
  return loss;
}

/* Of the surrogate by logp. */
double surrogate_slope(const PolicyInputs &in, int64_t t, const Frozen &frozen) {
  const PolicyOptions &o = in.options;
  const double A = advantage_of(in, t), r = ratio_of(in, t, frozen.logp, frozen);
  if (o.loss == DART_SFT) return -A;
  if (o.loss == DART_CISPO) return -std::min(r, 1 + o.clip_high) * A;
  const bool clipped = A >= 0 ? r > 1 + o.clip_high : r < 1 - o.clip_low;
  const bool dual = o.dual_clip > 0 && A < 0 && r > o.dual_clip;
  return clipped || dual ? 0 : -r * A;
}

void set_weight(const PolicyInputs &in, double log_weight, Frozen &frozen) {
  const PolicyOptions &o = in.options;
  frozen.weight = 1;
  frozen.truncated = false;
  if (o.tis_cap <= 0 || std::isnan(log_weight)) return;
  const double w = std::exp(between(log_weight, -kClamp, kClamp));
  frozen.truncated = w > o.tis_cap * (1 + kCapSlack);
  frozen.weight = std::min(w, o.tis_cap);
  if (frozen.truncated && o.tis_mode == DART_MASK) frozen.weight = 0;
}

double mean_or(const std::vector<double> &values, double otherwise) {
  double sum = 0;
  for (const double x : values) sum += x;
  return values.empty() ? otherwise : sum / static_cast<double>(values.size());
}

}  // namespace

RowTerms row_terms(const double *logits, int64_t vocabulary, int32_t target, double temperature) {
  RowTerms out;
  double maximum = -INFINITY, sum = 0, weighted = 0;
  for (int64_t j = 0; j < vocabulary; j++) maximum = std::max(maximum, logits[j] / temperature);
  if (maximum == -INFINITY) { /* no mass at all */
    out.logp = target < 0 ? 0 : -INFINITY;
    return out;
  }
  for (int64_t j = 0; j < vocabulary; j++) {
    const double d = logits[j] / temperature - maximum, e = std::exp(d);
    sum += e;
    if (e > 0) weighted += e * d;
  }
  out.maximum = maximum;
  out.log_sum = std::log(sum);
  out.entropy = out.log_sum - weighted / sum;
  if (target >= 0) out.logp = logits[target] / temperature - maximum - out.log_sum;
  return out;
}

double token_loss(const PolicyInputs &in, int64_t t, double logp, double entropy, const Frozen &frozen) {
  const PolicyOptions &o = in.options;
  double loss = frozen.weight * surrogate(in, t, logp, frozen);
  if (o.kl_beta != 0 && given(in.ref_logp, t)) loss += o.kl_beta * estimate(o.kl, between(in.ref_logp[t] - logp, -kClamp, kClamp));
  return loss - o.entropy_coefficient * entropy;
}

void sequence_tokens(const PolicyInputs &in, int64_t s, const std::vector<RowTerms> &rows, std::vector<TokenTerms> &tokens) {
  const PolicyOptions &o = in.options;
  std::vector<double> ratios, weights;
  for (int64_t t = in.offsets[s]; t < in.offsets[s + 1]; t++) {
    if (!in.scored(t)) continue;
    TokenTerms &token = tokens[t];
    token = TokenTerms{};
    token.row = rows[t];
    token.frozen.logp = rows[t].logp;
    const double old = old_of(in, t, rows[t].logp);
    ratios.push_back(rows[t].logp - old);
    token.frozen.log_weight = given(in.rollout_logp, t) ? old - in.rollout_logp[t] : NAN;
    if (given(in.rollout_logp, t)) weights.push_back(between(token.frozen.log_weight, -kClamp, kClamp));
  }
  const double ratio = std::exp(mean_or(ratios, 0)), weight = mean_or(weights, NAN);
  for (int64_t t = in.offsets[s]; t < in.offsets[s + 1]; t++) {
    if (!in.scored(t)) continue;
    TokenTerms &token = tokens[t];
    token.frozen.sequence_ratio = ratio;
    set_weight(in, o.tis_level == DART_SEQUENCE ? weight : token.frozen.log_weight, token.frozen);
    const double logp = token.row.logp, own = logp - old_of(in, t, logp);
    token.ratio = ratio_of(in, t, logp, token.frozen);
    token.loss = token_loss(in, t, logp, token.row.entropy, token.frozen);
    token.d_logp = token.frozen.weight * surrogate_slope(in, t, token.frozen);
    token.approx_kl = std::exp(own) - 1 - own;
    token.clipped = o.loss != DART_SFT && (token.ratio > 1 + o.clip_high || (o.loss != DART_CISPO && token.ratio < 1 - o.clip_low));
    token.has_reference = given(in.ref_logp, t);
    if (!token.has_reference) continue;
    const double raw = in.ref_logp[t] - logp, d = between(raw, -kClamp, kClamp);
    token.reference_kl = estimate(o.kl, d);
    if (raw == d) token.d_logp -= o.kl_beta * slope(o.kl, d);
  }
}

double distance_from_edges(const PolicyInputs &in, int64_t s, const std::vector<TokenTerms> &tokens) {
  const PolicyOptions &o = in.options;
  double least = INFINITY;
  const auto edge = [&](double x, double at) { least = std::min(least, std::fabs(x - at)); };
  for (int64_t t = in.offsets[s]; t < in.offsets[s + 1]; t++) {
    if (!in.scored(t)) continue;
    const TokenTerms &token = tokens[t];
    if (o.loss != DART_SFT && (o.loss == DART_GSPO || given(in.old_logp, t))) {
      edge(token.ratio, 1 - o.clip_low);
      edge(token.ratio, 1 + o.clip_high);
      if (o.dual_clip > 0) edge(token.ratio, o.dual_clip);
    }
    if (token.has_reference) edge(std::fabs(in.ref_logp[t] - token.row.logp), kClamp);
    if (o.tis_cap <= 0 || std::isnan(token.frozen.log_weight)) continue;
    std::vector<double> all;
    for (int64_t u = in.offsets[s]; u < in.offsets[s + 1]; u++)
      if (in.scored(u) && !std::isnan(tokens[u].frozen.log_weight)) all.push_back(between(tokens[u].frozen.log_weight, -kClamp, kClamp));
    const double d = o.tis_level == DART_SEQUENCE ? mean_or(all, 0) : between(token.frozen.log_weight, -kClamp, kClamp);
    if (d == 0) continue; /* the sampling policy itself: exact */
    edge(d, std::log(o.tis_cap));
    edge(d, std::log(o.tis_cap * (1 + kCapSlack)));
  }
  return least;
}

std::vector<double> row_gradient(const PolicyInputs &in, int64_t t, const TokenTerms &token) {
  const PolicyOptions &o = in.options;
  const double factor = static_cast<double>(in.scale[t]) / o.temperature;
  std::vector<double> out(in.vocabulary, 0);
  for (int64_t j = 0; j < in.vocabulary; j++) {
    const double log_p = in.row(t)[j] / o.temperature - token.row.maximum - token.row.log_sum, p = std::exp(log_p);
    const double indicator = j == in.target[t] ? 1 : 0;
    out[j] = factor * token.d_logp * (indicator - p);
    if (p > 0) out[j] += factor * o.entropy_coefficient * p * (log_p + token.row.entropy);
  }
  return out;
}

Slope difference_quotient(const PolicyInputs &in, int64_t t, int64_t entry, const TokenTerms &token) {
  std::vector<double> row(in.row(t), in.row(t) + in.vocabulary);
  const double here = row[entry], step = (in.options.loss == DART_GSPO ? 5e-6 : 1e-4) * in.options.temperature; /* within its narrow clip range */
  double loss[2];
  for (int side = 0; side < 2; side++) {
    row[entry] = here + (side == 0 ? -step : step);
    const RowTerms terms = row_terms(row.data(), in.vocabulary, in.target[t], in.options.temperature);
    loss[side] = token_loss(in, t, terms.logp, terms.entropy, token.frozen);
  }
  const double size = std::fabs(in.scale[t] * token.loss);
  return {in.scale[t] * (loss[1] - loss[0]) / (2 * step), size * (1e-15 / step + step * step)};
}

}  // namespace check
