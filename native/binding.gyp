{
  "variables": {
    "nvcc": "<!(command -v nvcc || true)",
    "cuda_headers": [
      "kernels/dart_kernels.h",
      "kernels/policy_math.h",
      "kernels/adamw_math.h",
      "kernels/preference_math.h",
      "kernels/quantile.h",
      "kernels/validate.h",
      "kernels/cuda/cluster.cuh",
      "kernels/cuda/common.cuh",
      "kernels/cuda/plan.cuh",
      "kernels/cuda/policy_rows.cuh",
      "kernels/cuda/softmax.cuh",
      "kernels/cuda/vectors.cuh",
      "kernels/cuda/build.sh"
    ],
    "cuda_sources": [
      "kernels/cuda/adamw.cu",
      "kernels/cuda/device.cu",
      "kernels/cuda/logp_entropy.cu",
      "kernels/cuda/policy_loss.cu",
      "kernels/cuda/policy_sequence.cu",
      "kernels/cuda/policy_statistics.cu",
      "kernels/cuda/preference.cu",
      "kernels/cuda/step_selection.cu"
    ]
  },
  "target_defaults": {
    "cflags!": ["-fno-exceptions"],
    "cflags_cc!": ["-fno-exceptions", "-std=gnu++17"],
    # No contraction to fused multiply-add: the same bits on every machine. The other two change no result.
    "cflags_cc": ["-std=c++20", "-O3", "-fexceptions", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math", "-Wall", "-Wextra"],
    "xcode_settings": {
      "GCC_ENABLE_CPP_EXCEPTIONS": "YES",
      "CLANG_CXX_LANGUAGE_STANDARD": "c++20",
      "OTHER_CPLUSPLUSFLAGS": ["-O3", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math"]
    }
  },
  "targets": [
    {
      # Compiled once, linked into the addon and into the library below.
      "target_name": "dart_cpu_kernels",
      "type": "static_library",
      "sources": [
        "kernels/cpu/adamw.cc",
        "kernels/cpu/avx2.cc",
        "kernels/cpu/avx512.cc",
        "kernels/cpu/device.cc",
        "kernels/cpu/instructions.cc",
        "kernels/cpu/logp_entropy.cc",
        "kernels/cpu/neon.cc",
        "kernels/cpu/policy_loss.cc",
        "kernels/cpu/preference.cc",
        "kernels/cpu/scalar.cc",
        "kernels/cpu/step_selection.cc",
        "kernels/cpu/threads.cc"
      ],
      "cflags": ["-fPIC"],
      "link_settings": {"libraries": ["-lpthread"]}
    },
    {
      # What callers without Node open (the PyTorch engine, the checks): the C interface and nothing else.
      "target_name": "dart_cpu",
      "type": "shared_library",
      "product_prefix": "lib",
      "dependencies": ["dart_cpu_kernels"],
      "ldflags": ["-Wl,--whole-archive"],
      "libraries": ["-Wl,--no-whole-archive"]
    },
    {
      "target_name": "dart_native",
      "dependencies": ["dart_cpu_kernels"],
      "sources": [
        "src/arguments.cc",
        "src/backend.cc",
        "src/call.cc",
        "src/executor.cc",
        "src/lane.cc",
        "src/module.cc",
        "src/optimizer.cc",
        "src/policy.cc",
        "src/posix.cc",
        "src/preference.cc",
        "src/settings.cc",
        "src/staging.cc",
        "src/steps.cc"
      ],
      "include_dirs": ["<!(node -p \"require('node-addon-api').include_dir\")"],
      "defines": ["NAPI_VERSION=9", "NODE_ADDON_API_DISABLE_DEPRECATED"],
      "libraries": ["-ldl"],
      # A worker that ends unloads the addon; threads of the kernels and of the executor would lose their code.
      "conditions": [["OS=='linux'", {"ldflags": ["-Wl,-z,nodelete"]}]]
    },
    {
      # A library of its own, opened when a GPU is asked for. Without nvcc there is nothing to do.
      "target_name": "dart_cuda",
      "type": "none",
      "conditions": [
        ["nvcc!=''", {
          "actions": [
            {
              "action_name": "compile_cuda_kernels",
              "inputs": ["<@(cuda_sources)", "<@(cuda_headers)"],
              "outputs": ["<(PRODUCT_DIR)/libdart_cuda.so"],
              "message": "Compiling the CUDA kernels with <(nvcc)",
              "action": ["sh", "kernels/cuda/build.sh", "<(nvcc)", "<@(_outputs)", "<@(cuda_sources)"]
            }
          ]
        }]
      ]
    }
  ]
}
