#!/bin/sh
# gpu-check.sh [--rehearse] [--records FILE]: for a machine with an NVIDIA GPU and nvcc, with nothing to download. Builds the
# CUDA kernels, checks each against float64, times them beside a device copy, eager PyTorch and Liger (where Python has
# them), times one training step of the torch engine beside an eager loss, and runs one update of dart-train on the CPU and
# on the GPU. --rehearse does the same with emulated kernels and tiny sizes, so that this script itself is tested where
# there is no GPU.
# Exit code of this script (make turns each but 0 into 2): 1: a check missed; 2: this machine cannot run it.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
started=$(date +%s)
rehearse='' records=''
while [ $# -gt 0 ]; do
  case $1 in
    --rehearse) rehearse=--rehearse ;;
    --records) records=${2:?--records takes a file}; shift ;;
    *) echo "gpu-check: unknown argument $1. It takes --rehearse and --records FILE" >&2; exit 2 ;;
  esac
  shift
done

say() { echo "gpu-check: $*" >&2; }
part() { say "$(($(date +%s) - started)) s: $*"; }

# A driver that does not work makes nvidia-smi print its failure, on stdout, and exit with another code than 0.
require_gpu() {
  code=0
  if command -v nvidia-smi > /dev/null; then list=$(nvidia-smi -L 2>&1) || code=$?
  else list=$(ls -d /proc/driver/nvidia/gpus/* 2> /dev/null) && list="GPU $list" || list=''
  fi
  [ $code = 0 ] || { say "nvidia-smi does not find a GPU that works (exit code $code: ${list%%"$line_end"*}). Try: nvidia-smi -L, or ARGS=--rehearse"; exit 2; }
  case $list in
    *GPU\ *) ;;
    *) say 'there is no NVIDIA GPU on this machine (nvidia-smi lists none). Try: ARGS=--rehearse'; exit 2 ;;
  esac
}
line_end='
'

if [ -z "$rehearse" ]; then
  nvcc=$(command -v nvcc || true)
  [ -n "$nvcc" ] || { say 'there is no nvcc on PATH, so the CUDA kernels cannot be built. Try: PATH=/usr/local/cuda/bin:$PATH, or ARGS=--rehearse'; exit 2; }
  require_gpu
fi

folder=$root/native/build/gpu-check${rehearse}
mkdir -p "$folder"
records=${records:-$folder/records.ndjson}
: > "$records"
missed=0

part 'build the kernels, where they are older than their sources'
if [ -n "$rehearse" ]; then
  library=$root/native/build/libdart_cuda_emulated.so
  sh "$root/native/kernels/cuda/build_emulated.sh" "$library"
else
  library=$(sh "$here/cuda-library.sh" "$nvcc" "$folder/libdart_cuda.so" "$root/native/build/Release/libdart_cuda.so") ||
    { say 'the CUDA kernels do not compile: see above'; exit 2; }
  say "kernels: $library"
fi
sh "$here/build.sh" "$folder"

part 'hold them to float64 on fresh random inputs'
"$folder/check_kernels" "$library" --misses ${rehearse:+--quick --every 16} || missed=1

part 'time them beside a copy'
"$folder/check_kernels" "$library" --time --records "$records" ${rehearse:+--quick} > "$folder/time.txt" || missed=1

python=${DART_PYTHON:-python3}
if command -v "$python" > /dev/null; then
  part 'time them beside PyTorch and Liger'
  PYTHONDONTWRITEBYTECODE=1 "$python" "$here/gpu_compare.py" "$library" "$records" $rehearse || missed=1
  part 'time one training step of a Qwen2.5-VL beside an eager loss'
  PYTHONDONTWRITEBYTECODE=1 "$python" "$here/gpu_step.py" "$library" "$records" $rehearse || missed=1
else
  say "left out: eager PyTorch and Liger, one training step: there is no $python"
fi

if ! command -v node > /dev/null; then
  say 'left out: one update of dart-train on CPU and GPU: there is no node'
elif [ ! -d "$root/node_modules" ] || [ ! -f "$root/dist/.built" ] || [ ! -f "$root/native/build/Release/dart_native.node" ]; then
  say 'left out: one update of dart-train on CPU and GPU: the toolkit is not built. Try: make build'
else
  part 'one update of dart-train on the CPU and on the GPU'
  sh "$here/compare-update.sh" "$library" "$folder/update" "$records" || missed=1
fi

if command -v "$python" > /dev/null; then
  PYTHONDONTWRITEBYTECODE=1 "$python" "$here/gpu_table.py" "$records"
else
  cat "$folder/time.txt"
fi
part "done; records in $records"
[ $missed = 0 ] || say 'NOT OK: see above'
exit $missed
