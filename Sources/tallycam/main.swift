import Glibc

// One call into a nonisolated function: code written here belongs to the main
// actor, and a closure that C calls from its own thread must not.
exit(run(Array(CommandLine.arguments.dropFirst())).rawValue)
