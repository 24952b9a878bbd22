import Glibc
import LinuxIO

/// Standard input as the place of commands: a terminal, while the program is in its foreground, or whatever else
/// was asked for by `--commands`. Used from the main thread.
final class CommandInput {
    /// Longer lines are no commands; what is too much is thrown away.
    private static let longestLine = 512

    private let input: OwnedFileDescriptor
    private let isTerminal: Bool
    private var received: [UInt8] = []
    private var hasEnded = false

    /// - Returns: `nil` where standard input is no place of commands.
    init?(_ options: PublishOptions) {
        isTerminal = LinuxIO.isTerminal(STDIN_FILENO)
        guard !options.media.readsStandardInput, isTerminal || options.takesCommands else { return nil }
        let descriptor = dup(STDIN_FILENO)
        guard descriptor >= 0 else { return nil }
        input = OwnedFileDescriptor(adopting: descriptor)
    }

    /// To be polled; -1 when nothing more comes, or while another program has the terminal: to read then would stop
    /// this one.
    var fileDescriptor: Int32 {
        guard !hasEnded, !isTerminal || tcgetpgrp(STDIN_FILENO) == getpgrp() else { return -1 }
        return input.rawValue
    }

    /// The lines that are whole. To be called when the descriptor is readable: it waits otherwise.
    func takeLines() -> [String] {
        var block = [UInt8](repeating: 0, count: 512)
        do {
            let count = try block.withMutableBytes { bytes throws(SystemCallError) in try input.readIfReady(into: bytes)
            }
            guard let count else { return [] }
            hasEnded = count == 0
            received += block[..<count]
        } catch {
            hasEnded = true
        }
        var lines: [String] = []
        while let end = received.firstIndex(of: 0x0A) {
            lines.append(String(decoding: received[..<end], as: UTF8.self))
            received.removeFirst(end + 1)
        }
        if hasEnded, !received.isEmpty { lines.append(String(decoding: received, as: UTF8.self)) }
        if hasEnded || received.count > Self.longestLine { received = [] }
        return lines
    }
}
