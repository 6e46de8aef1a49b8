#!/bin/sh
# bench-kernels.sh FOLDER [--quick]: CPU kernels beside eager PyTorch; bench_kernels.py says what is measured.
# The Python is DART_PYTHON, else python3; without PyTorch the ratios to it are left out.
set -e
here=$(cd "$(dirname "$0")" && pwd)
folder=$1
shift
mkdir -p "$folder"
python=${DART_PYTHON:-python3}
command -v "$python" > /dev/null || { echo "bench-kernels: there is no $python. Try: DART_PYTHON=PROGRAM" >&2; exit 2; }
library=$here/../build/Release/libdart_cpu.so
[ -f "$library" ] || { echo "bench-kernels: $library is not built. Try: make build" >&2; exit 2; }
"${CXX:-c++}" -O3 -march=native -std=c++17 -shared -fPIC -pthread -o "$folder/libsweep.so" "$here/sweep.cc"
exec env PYTHONDONTWRITEBYTECODE=1 "$python" "$here/bench_kernels.py" "$library" "$folder/libsweep.so" "$@"
