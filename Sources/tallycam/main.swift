import Glibc

// Call a nonisolated function: code at the top level belongs to the main actor, but a closure that C calls from its own
// thread must not.
let status = run(Array(CommandLine.arguments.dropFirst()))
fflush(nil)
// Skip the destructors of C++ libraries: a thread that hangs in a driver may still use what they destroy.
_exit(status.rawValue)
