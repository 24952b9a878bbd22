import Glibc

// One call into a nonisolated function: code written here belongs to the main
// actor, and a closure that C calls from its own thread must not.
let status = run(Array(CommandLine.arguments.dropFirst()))
fflush(nil)
// Without the C++ libraries' destructors: a thread that hangs in a driver may still be in what they destroy.
_exit(status.rawValue)
