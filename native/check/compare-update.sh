#!/bin/sh
# compare-update.sh CUDA_LIBRARY FOLDER RECORDS: the same update of the base policy from the same samples with --device cpu and
# --device cuda:0, through the built commands; compare_updates.js says how far apart loss and weights are.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
library=$1 folder=$2 records=$3
rm -rf "$folder"
mkdir -p "$folder"
cd "$root"
policy=fixtures/policies/base.onnx
bin/dart-rollout --tasks fixtures/tasks/embedded --env embedded:8 --policy "onnx:$policy" --sample 8 --seed 3 -n 4 --max-steps 6 --blobs "$folder/blobs" --quiet |
  bin/dart-curate - --quiet > "$folder/samples.ndjson"
for name in cpu gpu; do
  device=cpu
  [ $name = gpu ] && device=cuda:0
  DART_CUDA_LIBRARY=$library bin/dart-train "$folder/samples.ndjson" --policy "onnx:$policy" --blobs "$folder/blobs" --publish "$folder/$name" \
    --device $device --preset dart --entropy-coef 0.001 --batch-samples 16 --max-updates 1 --seed 1 --quiet > "$folder/$name.ndjson"
done
node dist/commands/bench/compare_updates.js "$folder" >> "$records"
