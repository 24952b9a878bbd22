# shellcheck shell=bash
# Runs that would disturb each other take turns. Sourced by the scripts that make cards.

# take_turn DESCRIPTOR TEXT: locks that open file. While another run has it, the text says what is waited for.
take_turn() {
    flock --nonblock "$1" && return
    echo "$2" >&2
    flock "$1"
}
