import CLinux
import Glibc

/// Starts a program without waiting for it; its standard streams go to /dev/null. The kernel reaps it when it exits.
/// - Parameter arguments: path and arguments.
public func startProgram(_ arguments: [String]) throws(SystemCallError) {
    let strings = arguments.map { strdup($0) }
    defer { strings.forEach { free($0) } }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    for descriptor in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] {
        posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", O_RDWR, 0)
    }
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    // This process blocks the signals that it takes through a descriptor. The child must not inherit that mask.
    var none = sigset_t()
    sigemptyset(&none)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
    // Nobody waits for the children, so let the kernel reap them.
    signal(SIGCHLD, SIG_IGN)
    var process = pid_t()
    let environment: [UnsafeMutablePointer<CChar>?] = [strdup("PATH=/usr/sbin:/usr/bin:/sbin:/bin"), nil]
    defer { environment.forEach { free($0) } }
    let number = posix_spawn(&process, arguments.first ?? "", &actions, &attributes, strings + [nil], environment)
    guard number == 0 else { throw SystemCallError("posix_spawn", number: number, subject: arguments.first) }
}

/// Asks init (process 1, from BusyBox) to shut the machine down in an orderly way.
public func askInit(toReboot: Bool) throws(SystemCallError) {
    guard kill(1, toReboot ? SIGTERM : SIGUSR2) == 0 else { throw SystemCallError("kill", subject: "process 1") }
}
