import Glibc
import LinuxIO

/// Standard input as the place of commands: a terminal, while the program is in its foreground, or whatever else
/// was asked for by `--commands`. Used from the main thread.
public final class StandardInputCommands {
    /// Longer lines are no commands, and no part of them is one.
    private static let longestLine = 4096

    private let input: OwnedFileDescriptor
    private let isTerminal: Bool
    /// What the terminal did before its own echo and line editing were turned off, which the live view, drawn four
    /// times a second, would garble.
    private var previousMode: termios?
    private var editor = LineEditor(prompt: "> ")
    private var received: [UInt8] = []
    /// The line that is coming is too long.
    private var isTooLong = false
    private var hasEnded = false

    /// - Parameters:
    ///   - isAskedFor: standard input is the place, whatever it is; else a terminal is.
    ///   - editsLines: a live view is shown, and the line that is typed is a part of it.
    ///   - descriptor: standard input, but for tests.
    /// - Returns: `nil` where standard input is no place of commands.
    public init?(isAskedFor: Bool, editsLines: Bool, from descriptor: Int32 = STDIN_FILENO) {
        isTerminal = LinuxIO.isTerminal(descriptor)
        guard isTerminal || isAskedFor else { return nil }
        let own = dup(descriptor)
        guard own >= 0 else { return nil }
        input = OwnedFileDescriptor(adopting: own)
        if editsLines, isTerminal, isInForeground { takeOverEditing() }
    }

    /// Another program has the terminal otherwise: to read or to change it then would stop this one.
    private var isInForeground: Bool { tcgetpgrp(input.rawValue) == getpgrp() }

    private func takeOverEditing() {
        var mode = termios()
        guard tcgetattr(input.rawValue, &mode) == 0 else { return }
        previousMode = mode
        mode.c_lflag &= ~tcflag_t(ICANON | ECHO)
        tcsetattr(input.rawValue, TCSANOW, &mode)
    }

    /// Restores the terminal as it was. To be called at the end.
    public func restoreTerminal() {
        guard var mode = previousMode, isInForeground else { return }
        previousMode = nil
        tcsetattr(input.rawValue, TCSANOW, &mode)
    }

    /// Whether commands come only when the terminal is released.
    public var isInBackground: Bool { !hasEnded && isTerminal && !isInForeground }

    /// To be polled; -1 when nothing comes.
    public var fileDescriptor: Int32 { hasEnded || isInBackground ? -1 : input.rawValue }

    /// What is typed, as the view's last line; `nil` where the terminal shows it itself.
    public var prompt: String? { previousMode == nil ? nil : String(decoding: editor.drawing, as: UTF8.self) }

    /// The lines that are whole. To be called when the descriptor is readable: it waits otherwise.
    public func takeLines() -> [String] {
        guard !isInBackground else { return [] }
        var block = [UInt8](repeating: 0, count: 512)
        do {
            let count = try block.withMutableBytes { bytes throws(SystemCallError) in
                try input.readIfReady(into: bytes)
            }
            guard let count else { return [] }
            hasEnded = count == 0
            return previousMode == nil ? lines(Array(block[..<count])) : edited(Array(block[..<count]))
        } catch {
            hasEnded = true
            return []
        }
    }

    private func edited(_ bytes: [UInt8]) -> [String] {
        editor.received(bytes).compactMap { if case .submit(let line) = $0 { line } else { nil } }
    }

    private func lines(_ bytes: [UInt8]) -> [String] {
        received += bytes
        var lines: [String] = []
        while let end = received.firstIndex(of: 0x0A) {
            lines.append(line(received[..<end]))
            received.removeFirst(end + 1)
        }
        if hasEnded, isTooLong || !received.isEmpty { lines.append(line(received[...])) }
        isTooLong = isTooLong || received.count > Self.longestLine
        if hasEnded || isTooLong { received = [] }
        return lines
    }

    /// What is too long, or no text, is refused like any other word that is no command.
    private func line(_ bytes: ArraySlice<UInt8>) -> String {
        defer { isTooLong = false }
        guard isTooLong || bytes.count > Self.longestLine else {
            return String(validating: bytes, as: UTF8.self) ?? "a-line-that-is-not-UTF-8"
        }
        return "a-line-of-more-than-\(Self.longestLine)-bytes"
    }
}
