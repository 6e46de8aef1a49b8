#include "policy_cases.h"

#include <algorithm>
#include <cmath>

namespace check {
namespace {

constexpr int32_t kTypes[] = {DART_F32, DART_BF16, DART_F16};

PolicyOptions dart_options() {
  PolicyOptions o;
  o.tis_cap = 1, o.kl_beta = 0.1;
  return o;
}

PolicyOptions arpo_options() {
  PolicyOptions o;
  o.clip_high = 0.3, o.dual_clip = 3;
  return o;
}

PolicyOptions grpo_options() {
  PolicyOptions o;
  o.clip_high = 0.2;
  return o;
}

PolicyOptions gspo_options() {
  PolicyOptions o;
  o.loss = DART_GSPO, o.clip_low = 3e-4, o.clip_high = 4e-4;
  return o;
}

PolicyCase make(const std::string &name, const PolicyOptions &options, int64_t vocabulary = 29, int64_t rows = 13) {
  PolicyCase one;
  one.name = name, one.options = options, one.vocabulary = vocabulary, one.rows = rows;
  if (options.loss == DART_GSPO) one.drift = 0.01;
  if (options.dual_clip > 0) one.drift = 0.9;
  return one;
}

/* Each way of writing dlogits that the interface allows for logits of one type. */
void add_outputs(std::vector<PolicyCase> &cases, PolicyCase one) {
  one.output = Output::in_place;
  cases.push_back(one);
  one.output = Output::separate;
  for (const int32_t type : kTypes) {
    one.dlogits_type = type;
    cases.push_back(one);
  }
}

void add_presets(std::vector<PolicyCase> &cases) {
  const std::pair<const char *, PolicyOptions> presets[] = {{"dart", dart_options()}, {"arpo", arpo_options()}, {"grpo", grpo_options()}};
  for (const auto &[name, options] : presets)
    for (const int32_t type : kTypes) {
      PolicyCase one = make(name, options, 29);
      one.logits_type = type;
      add_outputs(cases, one);
      one.vocabulary = 64;
      cases.push_back(one);
      one.vocabulary = 515, one.rows = 7, one.gap = 3, one.shift = 1;
      add_outputs(cases, one);
    }
}

/* One option after the other. */
void add_options(std::vector<PolicyCase> &cases) {
  const auto with = [&](const char *name, PolicyOptions options, double drift = 0.3) {
    PolicyCase one = make(name, options, 61, 17);
    if (options.loss != DART_GSPO) one.drift = drift;
    cases.push_back(one);
  };
  PolicyOptions o;
  with("plain", o);
  o = PolicyOptions(), o.temperature = 0.7, o.tis_cap = 2, with("temperature 0.7", o);
  o = PolicyOptions(), o.temperature = 1.5, with("temperature 1.5", o);
  o = PolicyOptions(), o.entropy_coefficient = 0.01, with("entropy bonus", o);
  o = dart_options(), o.entropy_coefficient = -0.05, with("entropy penalty", o);
  o = PolicyOptions(), o.clip_low = o.clip_high = 0.05, with("narrow clip", o);
  o = PolicyOptions(), o.dual_clip = 1.5, with("dual clip 1.5", o, 0.9);
  for (const int32_t level : {DART_TOKEN, DART_SEQUENCE})
    for (const int32_t mode : {DART_TRUNCATE, DART_MASK}) {
      o = PolicyOptions(), o.tis_cap = 1.1, o.tis_level = level, o.tis_mode = mode;
      with(level == DART_TOKEN ? mode == DART_MASK ? "tis token, mask" : "tis token, truncate" : mode == DART_MASK ? "tis sequence, mask" : "tis sequence, truncate", o);
    }
  const char *estimators[] = {"k1", "k2", "k3"};
  for (const int32_t kl : {DART_K1, DART_K2, DART_K3}) {
    o = PolicyOptions(), o.kl_beta = 0.2, o.kl = kl, with(estimators[kl - DART_K1], o);
    with((std::string(estimators[kl - DART_K1]) + ", clamp reached").c_str(), o, 14);
  }
  with("gspo", gspo_options());
  o = gspo_options(), o.tis_cap = 1.05, o.tis_level = DART_SEQUENCE, o.kl_beta = 0.1, o.entropy_coefficient = 0.01, with("gspo, sequence tis, k3, entropy", o);
  o = gspo_options(), o.dual_clip = 3, with("gspo, dual clip", o);
  o = PolicyOptions(), o.loss = DART_CISPO, o.clip_high = 4, with("cispo", o, 0.9);
  o.tis_cap = 1.5, o.kl_beta = 0.1, o.temperature = 0.8, with("cispo, tis, k3, temperature", o, 0.9);
  o = PolicyOptions(), o.loss = DART_SFT, with("sft", o);
  o.kl_beta = 0.1, o.entropy_coefficient = 0.01, with("sft, k3, entropy", o);
}

/* Inputs that are rare or bad. */
void add_inputs(std::vector<PolicyCase> &cases) {
  for (const int32_t type : kTypes) {
    PolicyOptions o = dart_options();
    o.entropy_coefficient = 0.01;
    PolicyCase one = make("-inf entries", o, 129, 19);
    one.logits_type = type, one.excluded = true, one.holes = true;
    cases.push_back(one);
    one = make("NaN and inf rows", dart_options(), 67, 19);
    one.logits_type = type, one.broken = true;
    cases.push_back(one);
    one = make("large logits", o, 31, 9);
    one.logits_type = type, one.spread = 60;
    cases.push_back(one);
    if (type == DART_F16) continue;
    one.name = "logits of 1e4", one.options = PolicyOptions(), one.spread = 1e4;
    cases.push_back(one);
  }
  PolicyCase one = make("gspo, -inf entries and missing log-probabilities", gspo_options(), 33, 19);
  one.options.tis_cap = 1.05, one.options.tis_level = DART_SEQUENCE, one.excluded = one.holes = true;
  cases.push_back(one);
  one = make("on policy, cap 1", dart_options());
  one.on_policy = true;
  cases.push_back(one);
  one = make("nothing but logits and targets", dart_options());
  one.masks = one.old = one.rollout = one.reference = one.advantage = false;
  cases.push_back(one);
  one.name = "no old log-probabilities", one.rollout = one.advantage = true;
  cases.push_back(one);
  one.name = "gspo, no old log-probabilities", one.options = gspo_options();
  cases.push_back(one);
  one = make("forward only", dart_options());
  one.output = Output::none;
  cases.push_back(one);
  one = make("every row ignored", dart_options());
  one.all_ignored = true;
  cases.push_back(one);
  one = make("no rows", dart_options(), 29, 0);
  cases.push_back(one);
}

/* Lengths around where a kernel changes its way through the row, odd and even, rows not a multiple of anything. */
void add_shapes(std::vector<PolicyCase> &cases) {
  PolicyOptions o = dart_options();
  for (const int64_t vocabulary : {1, 2, 3, 7, 8, 16, 31, 255, 256, 257, 1023, 1024, 1031, 2049, 4100}) cases.push_back(make("dart", o, vocabulary, 5));
  for (const int64_t rows : {1, 2, 131}) cases.push_back(make("dart", o, 40, rows));
  o.entropy_coefficient = 0.01;
  for (const int32_t type : kTypes) {
    PolicyCase one = make("dart, entropy bonus", o, 20011, 3);
    one.logits_type = type;
    cases.push_back(one);
  }
}

void add_large(std::vector<PolicyCase> &cases) {
  PolicyOptions o = dart_options();
  o.entropy_coefficient = 0.01;
  for (const int32_t type : kTypes)
    for (const int64_t vocabulary : {32000, 65536, 100003, 151936, 152064, 262145}) {
      PolicyCase one = make("dart, entropy bonus", o, vocabulary, 5);
      one.logits_type = type;
      cases.push_back(one);
    }
  for (const int64_t vocabulary : {151936, 152063}) {
    PolicyCase one = make("gspo", gspo_options(), vocabulary, 7);
    cases.push_back(one);
    one = make("arpo", arpo_options(), vocabulary, 7);
    one.logits_type = DART_BF16, one.excluded = true, one.shift = 1;
    add_outputs(cases, one);
  }
}

std::vector<int32_t> sequence_offsets(int64_t rows, Random &random) {
  std::vector<int32_t> offsets = {0};
  while (offsets.back() < rows) offsets.push_back(static_cast<int32_t>(std::min<int64_t>(rows, offsets.back() + random.integer(1, 5))));
  return offsets;
}

void fill_logits(const PolicyCase &one, PolicyInputs &in, Random &random) {
  const double most = one.logits_type == DART_F16 ? 6e4 : 1e30;
  for (double &x : in.logits) x = stored(std::max(-most, std::min(most, one.spread * random.normal())), one.logits_type);
  for (int64_t t = 0; t < one.rows; t++) {
    double *row = in.logits.data() + t * one.vocabulary;
    if (in.ignored(t) && random.chance(0.5)) row[random.integer(0, one.vocabulary - 1)] = NAN; /* nobody may look */
    if (!one.excluded || in.ignored(t)) continue;
    for (int64_t j = 0; j < one.vocabulary; j++)
      if (j != in.target[t] && random.chance(0.2)) row[j] = -INFINITY;
    if (t % 6 == 1) row[in.target[t]] = -INFINITY;
    if (t % 6 == 2) std::fill(row, row + one.vocabulary, -INFINITY);
    if (t % 6 == 3) { /* all mass on the target: entropy 0 */
      std::fill(row, row + one.vocabulary, -INFINITY);
      row[in.target[t]] = 1;
    }
  }
}

float missing_or(const PolicyCase &one, Random &random, double value) {
  if (one.holes && random.chance(0.15)) return random.chance(0.5) ? NAN : -INFINITY;
  return static_cast<float>(value);
}

void draw_log_probabilities(const PolicyCase &one, PolicyInputs &in, int64_t s, const std::vector<RowTerms> &rows, Random &random) {
  for (int64_t t = in.offsets[s]; t < in.offsets[s + 1]; t++) {
    const double logp = in.scored(t) ? rows[t].logp : NAN, old = logp + one.drift * random.normal();
    if (one.old) in.old_logp[t] = missing_or(one, random, old);
    if (one.rollout) in.rollout_logp[t] = one.on_policy ? static_cast<float>(old) : missing_or(one, random, (one.old ? old : logp) + one.drift * random.normal());
    if (one.reference) in.ref_logp[t] = missing_or(one, random, logp + one.drift * random.normal());
  }
}

}  // namespace

std::vector<PolicyCase> policy_cases(bool large) {
  std::vector<PolicyCase> cases;
  add_presets(cases);
  add_options(cases);
  add_inputs(cases);
  add_shapes(cases);
  if (large) add_large(cases);
  return cases;
}

double relative_tolerance(const PolicyInputs &in) {
  double most = 0;
  for (const double x : in.logits)
    if (std::isfinite(x)) most = std::max(most, std::fabs(x));
  return 1e-5 + 0x1p-22 * most;
}

PolicyInputs make_inputs(const PolicyCase &one, Random &random) {
  PolicyInputs in;
  in.options = one.options, in.rows = one.rows, in.vocabulary = one.vocabulary;
  in.logits.resize(one.rows * one.vocabulary);
  in.offsets = sequence_offsets(one.rows, random);
  if (one.masks) in.mask.resize(one.rows);
  for (int64_t t = 0; t < one.rows; t++) {
    const bool off = one.all_ignored || (one.masks && random.chance(0.15)), by_mask = one.masks && random.chance(0.6);
    in.target.push_back(off && !by_mask ? -1 - static_cast<int32_t>(random.integer(0, 99)) : static_cast<int32_t>(random.integer(0, one.vocabulary - 1)));
    if (one.masks) in.mask[t] = off && by_mask ? 0 : static_cast<uint8_t>(random.integer(1, 255));
    in.scale.push_back(in.ignored(t) ? NAN : static_cast<float>((0.5 + random.uniform()) / static_cast<double>(one.rows)));
    if (one.advantage) in.advantage.push_back(in.ignored(t) ? NAN : static_cast<float>(random.normal()));
  }
  if (one.old) in.old_logp.resize(one.rows);
  if (one.rollout) in.rollout_logp.resize(one.rows);
  if (one.reference) in.ref_logp.resize(one.rows);
  fill_logits(one, in, random);
  std::vector<RowTerms> rows(one.rows);
  for (int64_t t = 0; t < one.rows; t++)
    if (in.scored(t)) rows[t] = row_terms(in.row(t), one.vocabulary, in.target[t], one.options.temperature);
  std::vector<TokenTerms> tokens(one.rows);
  const double apart = std::max(one.options.loss == DART_GSPO ? 2e-5 : 1e-3, 8 * relative_tolerance(in) - 8e-5);
  for (int64_t s = 0; s + 1 < static_cast<int64_t>(in.offsets.size()); s++)
    for (int attempt = 0; attempt < 1000; attempt++) {
      draw_log_probabilities(one, in, s, rows, random);
      sequence_tokens(in, s, rows, tokens);
      if (distance_from_edges(in, s, tokens) > apart) break;
    }
  for (int64_t t = 0; one.broken && t < one.rows; t += 3) {
    double *row = in.logits.data() + t * one.vocabulary;
    if (t % 4 == 0) std::fill(row, row + one.vocabulary, NAN); /* what a broken layer makes of a whole row */
    else row[random.integer(0, one.vocabulary - 1)] = t % 4 == 3 ? INFINITY : NAN;
  }
  return in;
}

}  // namespace check
