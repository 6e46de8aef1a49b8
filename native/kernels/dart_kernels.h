/*
 * The one C interface of the kernels (design §10). The CPU implementation is compiled into the addon and into
 * libdart_cpu, the CUDA implementation into libdart_cuda; all export exactly these functions. Array pointers are host
 * pointers for the first and device pointers for the second, statistics included.
 *
 * All matrices are row-major with a row stride counted in elements. N = rows = tokens, V = vocabulary.
 * Functions return 0, or a code of `dart_status`; `dart_last_error()` then says in words what was wrong.
 */
#ifndef DART_KERNELS_H
#define DART_KERNELS_H

#include <stdint.h>

/* Raised whenever a struct or a signature below changes; a caller refuses a library with another number. */
#define DART_KERNELS_ABI 2

#ifdef __cplusplus
extern "C" {
#endif

enum dart_status { DART_OK = 0, DART_BAD_ARGUMENT = 1, DART_DEVICE_ERROR = 2 };

enum dart_type { DART_F32 = 0, DART_BF16 = 1, DART_F16 = 2 };

enum dart_loss { DART_GRPO = 0, DART_GSPO = 1, DART_CISPO = 2, DART_SFT = 3 };

enum dart_level { DART_TOKEN = 0, DART_SEQUENCE = 1 };

enum dart_tis_mode { DART_TRUNCATE = 0, DART_MASK = 1 };

enum dart_kl { DART_K1 = 1, DART_K2 = 2, DART_K3 = 3 };

/* Temperatures lie in 1e-6..1e6: all that a kernel divides and multiplies by is then finite, and not 0, in f32. */

/*
 * Sums over the scored tokens (a token that is masked, has target < 0 or a -inf target is not scored).
 * All are doubles, so that the struct is an array of doubles on every side of the interface.
 */
typedef struct dart_policy_statistics {
  double tokens;          /* scored tokens */
  double ignored;         /* rows with mask 0 or target < 0 */
  double excluded;        /* rows whose target has logit -inf */
  double nonfinite;       /* scored rows that the caller must not step on: see below */
  double loss;            /* sum of scale * token loss */
  double approx_kl;       /* sum of (r - 1) - ln r, r = exp(logp - logo) of the token, logp - logo clamped to +-80 as in its ratio */
  double clipped;         /* tokens whose ratio lies outside the clip range */
  double entropy;         /* sum of entropies, nats */
  double reference_kl;    /* sum of the chosen estimator before beta */
  double reference_tokens;/* tokens with a reference log-probability */
  double weight;          /* sum of importance weights */
  double weight_max;      /* greatest importance weight; the one field that is a maximum */
  double truncated;       /* tokens whose importance weight was above the cap by more than rounding (1e-4 of it): truncated or masked */
  double rollout_tokens;  /* tokens with a usable rollout log-probability */
  double logp_difference; /* sum of |logo - logm| over rollout_tokens */
  double log_weight;      /* sum of logo - logm over rollout_tokens */
} dart_policy_statistics;

/*
 * A scored row counts as `nonfinite` when something of it is NaN or infinite in the type that it is written in: its
 * log-probability, entropy, loss, or scale * loss in f32; the factors of its gradient, which are scale / T times the
 * derivatives of the loss, in f32; or an entry of its gradient in dlogits_type, for which an upper bound is taken
 * (65,504 is the greatest f16). With nonfinite 0, then, no output holds NaN or infinity but the -inf of excluded rows.
 * An output may share no byte with another array of the call, except dlogits with logits where they are the same.
 */
typedef struct dart_policy_loss_args {
  int64_t rows;
  int64_t vocabulary;
  const void *logits; /* [N, V], logits_type */
  int64_t logits_stride;
  void *dlogits; /* [N, V], dlogits_type, or NULL; may be `logits` when stride and type agree */
  int64_t dlogits_stride;
  int32_t logits_type;
  int32_t dlogits_type;

  const int32_t *target;     /* [N], < 0: ignored row; V and above: undefined behaviour, nobody looks */
  const uint8_t *mask;       /* [N] or NULL; 0: ignored row */
  const float *scale;        /* [N], the token's share of the mean; loss = sum of scale * token loss */
  const float *advantage;    /* [N] or NULL (1 everywhere) */
  const float *old_logp;     /* [N] or NULL; NULL or a value that is not finite: the current policy, ratio 1 */
  const float *rollout_logp; /* [N] or NULL; a value that is not finite: unscored, weight 1 */
  const float *ref_logp;     /* [N] or NULL; a value that is not finite: no KL term */

  int64_t sequences;               /* 0 when sequence_offsets is NULL */
  const int32_t *sequence_offsets; /* [sequences + 1], from 0 to N, or NULL: needed by GSPO and sequence weights */

  double temperature;
  double clip_low;
  double clip_high;
  double dual_clip; /* 0: off */
  double tis_cap;   /* 0: importance weights off */
  double kl_beta;   /* 0: off */
  double entropy_coefficient;
  int32_t loss;      /* dart_loss */
  int32_t tis_level; /* dart_level */
  int32_t tis_mode;  /* dart_tis_mode */
  int32_t kl;        /* dart_kl */

  float *logp;       /* [N] out; every per-token output is 0 on ignored rows */
  float *entropy;    /* [N] out, nats */
  float *ratio;      /* [N] out */
  float *weight;     /* [N] out */
  float *token_loss; /* [N] out, before scale */
  dart_policy_statistics *statistics; /* out, overwritten */

  void *workspace; /* dart_policy_loss_workspace() bytes, 16-byte aligned, NULL only without rows; its contents need not survive the call */
  void *stream;    /* cudaStream_t; ignored on the CPU */
} dart_policy_loss_args;

/* Fused policy loss: log-probability, entropy, loss and dlogits of each row. Formulas: policy_math.h. */
int dart_policy_loss(const dart_policy_loss_args *args);
int64_t dart_policy_loss_workspace(int64_t rows);

typedef struct dart_logp_entropy_args {
  int64_t rows;
  int64_t vocabulary;
  const void *logits;
  int64_t logits_stride;
  const int32_t *target; /* [N]; < 0: no log-probability wanted, 0 is written; V and above: undefined behaviour */
  double temperature;
  float *logp;    /* [N] out; -inf where the target's logit is -inf */
  float *entropy; /* [N] out */
  void *stream;
  int32_t logits_type;
} dart_logp_entropy_args;

/* Log-probability of the target and entropy of each row, nothing else. */
int dart_logp_entropy(const dart_logp_entropy_args *args);

typedef struct dart_step_entropy_args {
  int64_t steps;
  const float *token_entropy;  /* [N] */
  const uint8_t *mask;         /* [N] or NULL */
  const int32_t *step_offsets; /* [steps + 1] */
  double *step_entropy;        /* [steps] out: mean over unmasked tokens, NaN for a step without any */
  void *stream;
} dart_step_entropy_args;

int dart_step_entropy(const dart_step_entropy_args *args);

typedef struct dart_select_steps_args {
  int64_t steps;
  int64_t groups;
  const double *step_entropy; /* [steps]; NaN: never selected, not counted */
  const int32_t *step_group;  /* [steps], 0 .. groups - 1 */
  double keep;                /* keep the steps at or above the (1 - keep) quantile of their group */
  double *threshold;          /* [groups] out, NaN for an empty group */
  uint8_t *selected;          /* [steps] out */
  void *stream;
} dart_select_steps_args;

int dart_select_steps(const dart_select_steps_args *args);

typedef struct dart_gradient_norm_args {
  int64_t size;
  const void *gradient;   /* gradient_type: f32, bf16 or f16 */
  double *sum_of_squares; /* in and out: this tensor's sum is added, so that a list of tensors is a list of calls */
  double *nonfinite;      /* in and out: number of NaN and infinite entries */
  void *workspace;        /* dart_gradient_norm_workspace() bytes, 16-byte aligned, NULL only when size is 0 */
  void *stream;
  int32_t gradient_type;
} dart_gradient_norm_args;

int dart_gradient_norm(const dart_gradient_norm_args *args);
int64_t dart_gradient_norm_workspace(int64_t size);

/*
 * One AdamW update in f32. Weights in bf16 are rounded to nearest even; with `master` the f32 weights are kept beside
 * them and nothing is lost to that rounding.
 */
typedef struct dart_adamw_args {
  int64_t size;
  void *parameter;      /* in and out, parameter_type: f32 or bf16 */
  const void *gradient; /* gradient_type: f32, bf16 or f16 */
  float *first_moment;
  float *second_moment;
  float *master;        /* in and out, f32 weights that a bf16 parameter is the rounding of; or NULL */
  int64_t step;         /* 1 on the first update: bias correction */
  double learning_rate;
  double beta1;
  double beta2;
  double epsilon;
  double weight_decay;   /* decoupled */
  double gradient_scale; /* multiplies each gradient */
  /*
   * Global-norm clipping without a visit to the host: when sum_of_squares is not NULL, gradients are also multiplied by
   * min(1, max_grad_norm / (sqrt(*sum_of_squares) + 1e-6)), and nothing changes when *nonfinite > 0.
   */
  const double *sum_of_squares; /* as dart_gradient_norm leaves it, or NULL */
  const double *nonfinite;      /* or NULL */
  double max_grad_norm;         /* Infinity: no clipping */
  void *stream;
  int32_t parameter_type;
  int32_t gradient_type;
} dart_adamw_args;

int dart_adamw(const dart_adamw_args *args);

/* Direct preference optimisation on summed log-probabilities of B pairs: loss = -mean ln sigmoid(beta * margin). */
typedef struct dart_dpo_args {
  int64_t pairs;
  const double *policy_chosen, *policy_rejected, *ref_chosen, *ref_rejected; /* [B] */
  double beta;
  double *loss;                             /* [1] out */
  double *d_policy_chosen, *d_policy_rejected; /* [B] out */
  void *stream;
} dart_dpo_args;

int dart_dpo(const dart_dpo_args *args);

/* Kahneman-Tversky optimisation: x = policy - ref; desirable w*(1 - sigmoid(beta (x - z))), else w*(1 - sigmoid(beta (z - x))). */
typedef struct dart_kto_args {
  int64_t sequences;
  const double *policy, *ref; /* [B] */
  const uint8_t *desirable;   /* [B] */
  double beta;
  double reference_point; /* z, no gradient */
  double desirable_weight, undesirable_weight;
  double *loss;     /* [1] out: mean */
  double *d_policy; /* [B] out */
  void *stream;
} dart_kto_args;

int dart_kto(const dart_kto_args *args);

/* Of the library: ABI number, the last error of this thread in words, the devices that it can use. */
int dart_kernels_abi(void);
const char *dart_last_error(void);
int dart_device_count(void);
/* Writes a name such as "NVIDIA H200, compute 9.0, 139 GiB", or the reason why there is none. Returns a dart_status. */
int dart_device_describe(int device, char *text, int64_t size);
/* The device that the calling thread's next calls mean; 0 is the only one of the CPU. */
int dart_device_set(int device);
/* Waits until everything that this process started on the device is done. */
int dart_device_synchronize(void);

/*
 * Of the CPU: how many threads share a call (0..1024; 0: as many as the machine has cores; results are the same bytes for any
 * number), and which instructions it uses: "auto" (the widest that the machine has), "scalar" (the reference), "avx2",
 * "avx512" or "neon". Both are of the process. CUDA accepts any number of threads and only "auto".
 */
int dart_set_threads(int threads);
int dart_threads(void);
int dart_set_instructions(const char *name);
const char *dart_instructions(void);

/* Device memory for callers that have none of their own (the addon); plain malloc and memcpy on the CPU. */
enum dart_copy_direction { DART_TO_DEVICE = 0, DART_FROM_DEVICE = 1, DART_ON_DEVICE = 2 };
int dart_device_allocate(void **pointer, int64_t bytes);
int dart_device_free(void *pointer);
int dart_device_copy(void *to, const void *from, int64_t bytes, int direction);

#ifdef __cplusplus
}
#endif

#endif
