# bash completion for the dart commands: source this file, or put it into bash-completion's folder.

_dart() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}
  local place=${COMP_WORDS[0]##*/} word
  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$place $word" in
      'dart-env tasks' | 'dart-env up' | 'dart-env down' | 'dart-env list' | 'dart-env logs' | 'dart-env exec' | 'dart-env screenshot' | 'dart-env act' | 'dart-env doctor' | 'dart-env guest' | 'dart-env build-image' | 'dart-rollout simulate' | 'dart-rollout serve' | 'dart-rollout show' | 'dart-curate import' | 'dart-curate select-tasks' | 'dart-curate demos' | 'dart-curate pairs' | 'dart-curate pool' | 'dart-curate pool add' | 'dart-curate pool list' | 'dart-curate pool prune' | 'dart-curate pool export' | 'dart-curate stats' | 'dart-curate explain' | 'dart-train export' | 'dart-train init' | 'dart-eval score' | 'dart-eval compare' | 'dart-eval check' | 'dart-eval fetch-assets' | 'dart-eval metric') place="$place $word" ;;
      *) break ;;
    esac
  done
  local words=
  case "$place $previous" in
    'dart-env tasks --on-error') words='fail skip' ;;
    'dart-env tasks --log-level') words='error warn info debug' ;;
    'dart-env tasks --log-format') words='text json' ;;
    'dart-env up --driver') words='embedded attach xvfb docker kubernetes' ;;
    'dart-env up --profile') words='desktop osworld' ;;
    'dart-env up --pull-policy') words='Always IfNotPresent Never' ;;
    'dart-env up --address') words='pod forward' ;;
    'dart-env up --on-error') words='fail skip' ;;
    'dart-env up --log-level') words='error warn info debug' ;;
    'dart-env up --log-format') words='text json' ;;
    'dart-env down --driver') words='xvfb docker kubernetes' ;;
    'dart-env down --on-error') words='fail skip' ;;
    'dart-env down --log-level') words='error warn info debug' ;;
    'dart-env down --log-format') words='text json' ;;
    'dart-env list --driver') words='xvfb docker kubernetes' ;;
    'dart-env list --on-error') words='fail skip' ;;
    'dart-env list --log-level') words='error warn info debug' ;;
    'dart-env list --log-format') words='text json' ;;
    'dart-env logs --driver') words='xvfb docker kubernetes' ;;
    'dart-env logs --on-error') words='fail skip' ;;
    'dart-env logs --log-level') words='error warn info debug' ;;
    'dart-env logs --log-format') words='text json' ;;
    'dart-env exec --driver') words='xvfb docker kubernetes' ;;
    'dart-env exec --on-error') words='fail skip' ;;
    'dart-env exec --log-level') words='error warn info debug' ;;
    'dart-env exec --log-format') words='text json' ;;
    'dart-env screenshot --driver') words='xvfb docker kubernetes' ;;
    'dart-env screenshot --on-error') words='fail skip' ;;
    'dart-env screenshot --log-level') words='error warn info debug' ;;
    'dart-env screenshot --log-format') words='text json' ;;
    'dart-env act --driver') words='xvfb docker kubernetes' ;;
    'dart-env act --on-error') words='fail skip' ;;
    'dart-env act --log-level') words='error warn info debug' ;;
    'dart-env act --log-format') words='text json' ;;
    'dart-env doctor --on-error') words='fail skip' ;;
    'dart-env doctor --log-level') words='error warn info debug' ;;
    'dart-env doctor --log-format') words='text json' ;;
    'dart-env guest --on-error') words='fail skip' ;;
    'dart-env guest --log-level') words='error warn info debug' ;;
    'dart-env guest --log-format') words='text json' ;;
    'dart-env build-image --variant') words='slim office full' ;;
    'dart-env build-image --progress') words='auto bar lines none' ;;
    'dart-env build-image --on-error') words='fail skip' ;;
    'dart-env build-image --log-level') words='error warn info debug' ;;
    'dart-env build-image --log-format') words='text json' ;;
    'dart-rollout --on-parse-error') words='observe fail' ;;
    'dart-rollout --mode') words='async batch' ;;
    'dart-rollout --sync') words='one global off' ;;
    'dart-rollout --coordinates') words='absolute relative smart-resize' ;;
    'dart-rollout --update') words='auto restart off' ;;
    'dart-rollout --progress') words='auto bar lines none' ;;
    'dart-rollout --on-error') words='fail skip' ;;
    'dart-rollout --log-level') words='error warn info debug' ;;
    'dart-rollout --log-format') words='text json' ;;
    'dart-rollout simulate --mode') words='async batch both' ;;
    'dart-rollout simulate --sync') words='one global' ;;
    'dart-rollout simulate --on-error') words='fail skip' ;;
    'dart-rollout simulate --log-level') words='error warn info debug' ;;
    'dart-rollout simulate --log-format') words='text json' ;;
    'dart-rollout serve --sync') words='one global off' ;;
    'dart-rollout serve --coordinates') words='absolute relative smart-resize' ;;
    'dart-rollout serve --update') words='auto restart off' ;;
    'dart-rollout serve --on-error') words='fail skip' ;;
    'dart-rollout serve --log-level') words='error warn info debug' ;;
    'dart-rollout serve --log-format') words='text json' ;;
    'dart-rollout show --on-error') words='fail skip' ;;
    'dart-rollout show --log-level') words='error warn info debug' ;;
    'dart-rollout show --log-format') words='text json' ;;
    'dart-curate --preset') words='dart arpo grpo' ;;
    'dart-curate --advantage') words='grpo dr_grpo rloo' ;;
    'dart-curate --advantage-scope') words='trajectory step' ;;
    'dart-curate --on-error') words='fail skip' ;;
    'dart-curate --log-level') words='error warn info debug' ;;
    'dart-curate --log-format') words='text json' ;;
    'dart-curate import --from') words='dart osworld jsonl' ;;
    'dart-curate import --coordinates') words='smart-resize relative absolute' ;;
    'dart-curate import --on-error') words='fail skip' ;;
    'dart-curate import --log-level') words='error warn info debug' ;;
    'dart-curate import --log-format') words='text json' ;;
    'dart-curate select-tasks --on-error') words='fail skip' ;;
    'dart-curate select-tasks --log-level') words='error warn info debug' ;;
    'dart-curate select-tasks --log-format') words='text json' ;;
    'dart-curate demos --rank') words='newest shortest' ;;
    'dart-curate demos --on-error') words='fail skip' ;;
    'dart-curate demos --log-level') words='error warn info debug' ;;
    'dart-curate demos --log-format') words='text json' ;;
    'dart-curate pairs --for') words='dpo kto' ;;
    'dart-curate pairs --on-error') words='fail skip' ;;
    'dart-curate pairs --log-level') words='error warn info debug' ;;
    'dart-curate pairs --log-format') words='text json' ;;
    'dart-curate pool --on-error') words='fail skip' ;;
    'dart-curate pool --log-level') words='error warn info debug' ;;
    'dart-curate pool --log-format') words='text json' ;;
    'dart-curate pool add --on-error') words='fail skip' ;;
    'dart-curate pool add --log-level') words='error warn info debug' ;;
    'dart-curate pool add --log-format') words='text json' ;;
    'dart-curate pool list --on-error') words='fail skip' ;;
    'dart-curate pool list --log-level') words='error warn info debug' ;;
    'dart-curate pool list --log-format') words='text json' ;;
    'dart-curate pool prune --on-error') words='fail skip' ;;
    'dart-curate pool prune --log-level') words='error warn info debug' ;;
    'dart-curate pool prune --log-format') words='text json' ;;
    'dart-curate pool export --on-error') words='fail skip' ;;
    'dart-curate pool export --log-level') words='error warn info debug' ;;
    'dart-curate pool export --log-format') words='text json' ;;
    'dart-curate stats --on-error') words='fail skip' ;;
    'dart-curate stats --log-level') words='error warn info debug' ;;
    'dart-curate stats --log-format') words='text json' ;;
    'dart-curate explain --on-error') words='fail skip' ;;
    'dart-curate explain --log-level') words='error warn info debug' ;;
    'dart-curate explain --log-format') words='text json' ;;
    'dart-train --objective') words='grpo sft dpo kto' ;;
    'dart-train --preset') words='dart arpo grpo' ;;
    'dart-train --loss') words='grpo gspo cispo dr_grpo dapo' ;;
    'dart-train --tis-level') words='token sequence' ;;
    'dart-train --tis-mode') words='truncate mask' ;;
    'dart-train --kl-estimator') words='k1 k2 k3' ;;
    'dart-train --aggregation') words='token-mean sequence-mean constant' ;;
    'dart-train --lr-schedule') words='constant linear cosine' ;;
    'dart-train --on-error') words='fail skip' ;;
    'dart-train --log-level') words='error warn info debug' ;;
    'dart-train --log-format') words='text json' ;;
    'dart-train export --on-error') words='fail skip' ;;
    'dart-train export --log-level') words='error warn info debug' ;;
    'dart-train export --log-format') words='text json' ;;
    'dart-train init --on-error') words='fail skip' ;;
    'dart-train init --log-level') words='error warn info debug' ;;
    'dart-train init --log-format') words='text json' ;;
    'dart-eval --protocol') words='verified strict hard' ;;
    'dart-eval --gate') words='scored errors-as-zero' ;;
    'dart-eval --coordinates') words='absolute relative smart-resize' ;;
    'dart-eval --on-error') words='fail skip' ;;
    'dart-eval --log-level') words='error warn info debug' ;;
    'dart-eval --log-format') words='text json' ;;
    'dart-eval score --gate') words='scored errors-as-zero' ;;
    'dart-eval score --on-error') words='fail skip' ;;
    'dart-eval score --log-level') words='error warn info debug' ;;
    'dart-eval score --log-format') words='text json' ;;
    'dart-eval compare --gate') words='scored errors-as-zero' ;;
    'dart-eval compare --on-error') words='fail skip' ;;
    'dart-eval compare --log-level') words='error warn info debug' ;;
    'dart-eval compare --log-format') words='text json' ;;
    'dart-eval check --on-error') words='fail skip' ;;
    'dart-eval check --log-level') words='error warn info debug' ;;
    'dart-eval check --log-format') words='text json' ;;
    'dart-eval fetch-assets --on-error') words='fail skip' ;;
    'dart-eval fetch-assets --log-level') words='error warn info debug' ;;
    'dart-eval fetch-assets --log-format') words='text json' ;;
    'dart-eval metric --protocol') words='verified strict hard' ;;
    'dart-eval metric --on-error') words='fail skip' ;;
    'dart-eval metric --log-level') words='error warn info debug' ;;
    'dart-eval metric --log-format') words='text json' ;;
  esac
  if [[ -n $words ]]; then
    COMPREPLY=($(compgen -W "$words" -- "$current"))
    return
  fi
  case "$place" in
    'dart-env') words='tasks up down list logs exec screenshot act doctor guest build-image --help --version' ;;
    'dart-env tasks') words='--from --meta --domain --id --sample --output --table --seed --on-error --config --print-config --quiet --log-level --log-format --dry-run --help --version' ;;
    'dart-env up') words='--driver --count --port --run-id --detach --grace --latency --evaluate --jitter --url --skeleton --start --profile --cpus --network --qcow2 --vm-disk --vm-memory --vm-cpus --emulate --host --pull-policy --pull-secret --namespace --kubeconfig --context --address --kubernetes-port --cdp-port --vlc-port --vnc-port --cpu --cpu-limit --memory-limit --env --label --node-selector --toleration --service-account --priority-class --runtime-class --restricted --start-timeout --qps --burst --kubernetes-grace --reset --size --user --boot-timeout --first-port --image --memory --shm --after-reset --after-action --before-evaluate --spares --parallel --output --table --seed --on-error --config --print-config --quiet --log-level --log-format --dry-run --help --version' ;;
    'dart-env down') words='--run --orphans --all --driver --host --namespace --kubeconfig --context --output --seed --on-error --config --print-config --quiet --log-level --log-format --dry-run --help --version' ;;
    'dart-env list') words='--run --orphans --driver --host --namespace --kubeconfig --context --output --table --seed --on-error --config --print-config --quiet --log-level --log-format --help --version' ;;
    'dart-env logs') words='--follow --tail --driver --host --namespace --kubeconfig --context --seed --on-error --config --print-config --quiet --log-level --log-format --help --version' ;;
    'dart-env exec') words='--driver --host --namespace --kubeconfig --context --seed --on-error --config --print-config --quiet --log-level --log-format --help --version' ;;
    'dart-env screenshot') words='--output --driver --host --namespace --kubeconfig --context --seed --on-error --config --print-config --quiet --log-level --log-format --help --version' ;;
    'dart-env act') words='--screenshot --driver --host --namespace --kubeconfig --context --output --seed --on-error --config --print-config --quiet --log-level --log-format --dry-run --help --version' ;;
    'dart-env doctor') words='--seed --on-error --config --print-config --quiet --log-level --log-format --help --version' ;;
    'dart-env guest') words='--port --host --open --size --home --skeleton --user --display --start --seed --on-error --config --print-config --quiet --log-level --log-format --dry-run --help --version' ;;
    'dart-env build-image') words='--variant --tag --base --mirror --security-mirror --host --output --table --progress --seed --on-error --config --print-config --quiet --log-level --log-format --dry-run --help --version' ;;
    'dart-rollout') words='simulate serve show --tasks --env --policy --domain --task --sample --assets --asset-cache --mirror --offline --rollouts --follow --max-steps --min-steps --length-slack --success-window --dynamic-rollouts --no-dynamic-rollouts --dynamic-length --no-dynamic-length --window --weight --eval-seeds --temperature --top-p --top-k --max-tokens --on-parse-error --fail-at-limit --workers --threads --mode --batch-groups --version-wait --sync --sync-interval --store --blobs --run-id --grace --usage --fail-fast --model --coordinates --request-timeout --request-tries --patience --versions --update --spawn --gpus --start-timeout --metrics --metrics-token --output --table --progress --seed --on-error --config --print-config --quiet --log-level --log-format --dry-run --help --version' ;;
    'dart-rollout simulate') words='--workload --from --desktops --workers --gpus --mode --sync --hours --updates --sweep --output --table --seed --on-error --config --print-config --quiet --log-level --log-format --help --version' ;;
    'dart-rollout serve') words='--policy --host --port --token --updates --max-requests --grace --workers --threads --sync --sync-interval --model --coordinates --request-timeout --request-tries --patience --versions --update --spawn --gpus --start-timeout --seed --on-error --config --print-config --quiet --log-level --log-format --dry-run --help --version' ;;
    'dart-rollout show') words='--id --index --html --blobs --seed --on-error --config --print-config --quiet --log-level --log-format --help --version' ;;
    'dart-curate') words='import select-tasks demos pairs pool stats explain --follow --blobs --hold-memory --cursor --lock --from-store --store --lease --run-id --preset --max-staleness --min-scored --max-group --group-timeout --keep-constant --advantage --advantage-scope --no-pool --pool-capacity --output --table --seed --on-error --config --print-config --quiet --log-level --log-format --dry-run --help --version' ;;
    'dart-curate import') words='--from --reward --task-dir --coordinates --render-replies --initial-screens --require-screens --run-id --blobs --store --pool-capacity --output --table --seed --on-error --config --print-config --quiet --log-level --log-format --dry-run --help --version' ;;
    'dart-curate select-tasks') words='--min-success --rollouts --exclude-infeasible --tasks --list --store --run-id --output --seed --on-error --config --print-config --quiet --log-level --log-format --help --version' ;;
    'dart-curate demos') words='--threshold --per-task --rank --blobs --output --table --seed --on-error --config --print-config --quiet --log-level --log-format --help --version' ;;
    'dart-curate pairs') words='--for --pairs --threshold --blobs --output --seed --on-error --config --print-config --quiet --log-level --log-format --help --version' ;;
    'dart-curate pool') words='add list prune export --seed --on-error --config --print-config --quiet --log-level --log-format --help --version' ;;
    'dart-curate pool add') words='--blobs --store --pool-capacity --output --table --seed --on-error --config --print-config --quiet --log-level --log-format --dry-run --help --version' ;;
    'dart-curate pool list') words='--store --output --table --seed --on-error --config --print-config --quiet --log-level --log-format --help --version' ;;
    'dart-curate pool prune') words='--store --task --older-than --keep --output --table --seed --on-error --config --print-config --quiet --log-level --log-format --dry-run --help --version' ;;
    'dart-curate pool export') words='--store --task --output --table --seed --on-error --config --print-config --quiet --log-level --log-format --help --version' ;;
    'dart-curate stats') words='--store --run-id --success-window --rollouts --min-steps --max-steps --length-slack --output --table --seed --on-error --config --print-config --quiet --log-level --log-format --help --version' ;;
    'dart-curate explain') words='--task --store --run-id --success-window --rollouts --min-steps --max-steps --length-slack --output --seed --on-error --config --print-config --quiet --log-level --log-format --help --version' ;;
    'dart-train') words='export init --policy --init-from --blobs --follow --all-outcomes --min-reward --objective --preset --loss --keep-entropy --clip-low --clip-high --dual-clip --no-tis --tis-cap --tis-level --tis-mode --kl-beta --kl-estimator --entropy-coef --aggregation --aggregation-constant --preference-beta --desirable-weight --undesirable-weight --lr --lr-schedule --lr-warmup --lr-floor --lr-total-updates --betas --weight-decay --max-grad-norm --epochs --minibatches --batch-samples --batch-groups --micro-batch --max-bad-updates --publish --publish-every --keep-versions --store --run-id --max-updates --max-samples --max-seconds --device --threads --output --table --seed --on-error --config --print-config --quiet --log-level --log-format --dry-run --help --version' ;;
    'dart-train export') words='--output --version-number --seed --on-error --config --print-config --quiet --log-level --log-format --help --version' ;;
    'dart-train init') words='--output --reading-steps --seed --on-error --config --print-config --quiet --log-level --log-format --help --version' ;;
    'dart-eval') words='score compare check fetch-assets metric --tasks --meta --domain --id --sample --policy --env --repeats --temperature --max-steps --protocol --python-bridge --fail-at-limit --workers --resume --trajectories --blobs --assets --asset-cache --mirror --offline --fail-under --gate --baseline --max-regression --report --model --coordinates --request-timeout --request-tries --patience --spawn --gpus --start-timeout --output --table --seed --on-error --config --print-config --quiet --log-level --log-format --dry-run --help --version' ;;
    'dart-eval score') words='--blobs --fail-under --gate --baseline --max-regression --report --output --table --seed --on-error --config --print-config --quiet --log-level --log-format --help --version' ;;
    'dart-eval compare') words='--fail-under --max-regression --gate --output --table --seed --on-error --config --print-config --quiet --log-level --log-format --help --version' ;;
    'dart-eval check') words='--from --meta --domain --id --sample --fail-under --output --table --seed --on-error --config --print-config --quiet --log-level --log-format --help --version' ;;
    'dart-eval fetch-assets') words='--from --meta --domain --id --sample --asset-cache --mirror --checksums --parallel --output --seed --on-error --config --print-config --quiet --log-level --log-format --dry-run --help --version' ;;
    'dart-eval metric') words='--rules --options --protocol --python-bridge --fail-under --output --seed --on-error --config --print-config --quiet --log-level --log-format --help --version' ;;
  esac
  if [[ $current == -* ]]; then
    COMPREPLY=($(compgen -W "$words" -- "$current"))
    return
  fi
  COMPREPLY=($(compgen -W "${words//--*/}" -- "$current") $(compgen -f -- "$current"))
}
complete -o filenames -F _dart dart-env dart-rollout dart-curate dart-train dart-eval
