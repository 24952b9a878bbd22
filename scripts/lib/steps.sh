# shellcheck shell=bash
# Makes parts of a root in steps, independent steps at the same time, and shows the progress in one line. Sourced by
# scripts/build-root, which sets recipe, root, logs and fail. The format of recipe/steps is described in that file.

: "${recipe:?}" "${root:?}" "${logs:?}"
declare -A part_needs=() part_of=() usual=() size=() after=()
declare -A state=() started=() took=() workers=()
steps=() chosen=()

read_steps() {
    local name rest part seconds mb predecessors
    while read -r name rest; do
        case $name in
            ''|\#*) ;;
            part) read -r part predecessors <<<"$rest"; part_needs[$part]=$predecessors ;;
            *)
                read -r part seconds mb predecessors <<<"$rest"
                steps+=("$name")
                part_of[$name]=$part usual[$name]=$seconds size[$name]=$mb after[$name]=$predecessors ;;
        esac
    done <"$recipe/steps"
}

# with_needs PART...: prints these parts and the parts that they need.
with_needs() {
    local part
    for part in "$@"; do
        echo "$part"
        # shellcheck disable=SC2086  # a list of names
        with_needs ${part_needs[$part]}
    done
}

# choose_steps PART...: chooses the remaining steps for these parts.
choose_steps() {
    local step parts
    parts=" $(with_needs "$@" | tr '\n' ' ')"
    for step in "${steps[@]}"; do
        [[ $parts == *" ${part_of[$step]} "* && ! -e $root/.done/$step ]] || continue
        chosen+=("$step")
        state[$step]=waiting
    done
}

# mark_parts: marks the parts whose steps are all done.
mark_parts() {
    local part step
    for part in "${!part_needs[@]}"; do
        for step in "${steps[@]}"; do
            [ "${part_of[$step]}" != "$part" ] || [ -e "$root/.done/$step" ] || continue 2
        done
        touch "$root/.has-$part"
    done
}

start_step() {
    local words
    IFS=: read -ra words <<<"$1"
    # In its own namespaces: everything that it has mounted or started ends with it.
    unshare --mount --pid --mount-proc --fork --kill-child bash -euo pipefail "$recipe/${words[0]}" "${words[@]:1}" \
        >"$logs/$1" 2>&1 </dev/null 9>&- &
    workers[$1]=$! started[$1]=$SECONDS state[$1]=running
}

start_ready_steps() {
    local step predecessor
    for step in "${chosen[@]}"; do
        [ "${state[$step]}" = waiting ] || continue
        for predecessor in ${after[$step]}; do
            [[ ${state[$predecessor]:-ended} == ended ]] || continue 2
        done
        start_step "$step"
    done
}

stop_steps() {
    local worker first
    for worker in "${workers[@]}"; do
        # When the first process of a namespace ends, the others end, too. It is waited for.
        first=$(cat "/proc/$worker/task/$worker/children" 2>/dev/null) || true
        kill -KILL "${first:-$worker}" 2>/dev/null || true
    done
    wait 2>/dev/null || true
}

# end_finished_steps: records the steps that have ended; a failed one ends everything.
end_finished_steps() {
    local step status
    for step in "${!workers[@]}"; do
        ! kill -0 "${workers[$step]}" 2>/dev/null || continue
        status=0
        wait "${workers[$step]}" || status=$?
        unset "workers[$step]"
        took[$step]=$((SECONDS - started[$step]))
        clear_line
        if [ $status != 0 ]; then
            stop_steps
            tail -n 15 "$logs/$step" >&2
            fail "step $step failed (status $status); its whole output is in $logs/$step"
        fi
        state[$step]=ended
        touch "$root/.done/$step"
        mark_parts
        printf '  %s  %-26s %4d s\n' "$(clock $SECONDS)" "$step" "${took[$step]}"
        sed -n 's/^note: /        /p' "$logs/$step"
    done
}

clock() { printf '%d:%02d' $(($1 / 60)) $(($1 % 60)); }

# seconds_left: until all steps are done, if they differ from their usual times as much as the finished ones did.
seconds_left() {
    local step predecessor spent=10 expected=10 left start least
    local -A end=()
    for step in "${chosen[@]}"; do
        case ${state[$step]} in
            ended) spent=$((spent + took[$step])) expected=$((expected + usual[$step])) ;;
            running)
                [ $((SECONDS - started[$step])) -le "${usual[$step]}" ] ||
                    spent=$((spent + SECONDS - started[$step])) expected=$((expected + usual[$step])) ;;
        esac
    done
    left=0
    for step in "${chosen[@]}"; do
        [ "${state[$step]}" != ended ] || continue
        start=0
        for predecessor in ${after[$step]}; do
            [ "${end[$predecessor]:-0}" -le "$start" ] || start=${end[$predecessor]}
        done
        least=1
        if [ "${state[$step]}" = running ]; then
            start=$((started[$step] - SECONDS))
            least=$((1 - start / 10))
        fi
        end[$step]=$((start + usual[$step] * spent / expected))
        [ "${end[$step]}" -ge "$least" ] || end[$step]=$least
        [ "${end[$step]}" -le "$left" ] || left=${end[$step]}
    done
    echo "$left"
}

clear_line() { [ ! -t 1 ] || printf '\r\033[K'; }

show_progress() {
    local step line
    line="  $(clock $SECONDS), about $(clock "$(seconds_left)") to go:"
    for step in "${chosen[@]}"; do
        [ "${state[$step]}" != running ] || line+=" $step $((SECONDS - started[$step])) s,"
    done
    clear_line
    if [ -t 1 ]; then printf '%.78s' "${line%,}"; else echo "${line%,}"; fi
}

# run_steps: runs the chosen steps. It may be interrupted; the next run continues with the missing steps.
run_steps() {
    local step shown=0 interval=20 total=0 downloads=0
    [ ! -t 1 ] || interval=1
    mkdir -p "$root/.done" "$logs"
    for step in "${chosen[@]}"; do downloads=$((downloads + size[$step])); done
    trap 'clear_line; stop_steps; fail "interrupted; run it again to continue"' INT TERM
    SECONDS=0
    total=$(seconds_left)
    echo "  about $(clock "$total") on two processors, $downloads MB to download"
    start_ready_steps
    while [ ${#workers[@]} -gt 0 ]; do
        sleep 0.2
        end_finished_steps
        start_ready_steps
        [ $((SECONDS - shown)) -lt $interval ] || { show_progress; shown=$SECONDS; }
    done
    clear_line
    trap - INT TERM
}
