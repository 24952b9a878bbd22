import Glibc
import LinuxIO

/// Commands from standard input: a terminal, while the program is in its foreground, or any other input if `--commands`
/// was given. Used from the main thread.
public final class StandardInputCommands {
    /// Longer lines are not commands, and no part of them is interpreted as one.
    private static let longestLine = 4096

    private let input: OwnedFileDescriptor
    private let isTerminal: Bool
    /// The terminal's mode before its echo and line editing were turned off. The live view, redrawn four times a
    /// second, would garble them.
    private var previousMode: termios?
    private var editor = LineEditor(prompt: "> ")
    private var received: [UInt8] = []
    /// The present line is too long.
    private var isTooLong = false
    private var hasEnded = false

    /// - Parameters:
    ///   - isAskedFor: read commands from any standard input rather than only from a terminal.
    ///   - editsLines: a live view is shown, and the typed line is part of it.
    ///   - descriptor: standard input, except in tests.
    /// - Returns: `nil` if commands are not read from standard input.
    public init?(isAskedFor: Bool, editsLines: Bool, from descriptor: Int32 = STDIN_FILENO) {
        isTerminal = LinuxIO.isTerminal(descriptor)
        guard isTerminal || isAskedFor else { return nil }
        let own = dup(descriptor)
        guard own >= 0 else { return nil }
        input = OwnedFileDescriptor(adopting: own)
        if editsLines, isTerminal, isInForeground { takeOverEditing() }
    }

    /// In the background, reading or changing the terminal would stop this program.
    private var isInForeground: Bool { tcgetpgrp(input.rawValue) == getpgrp() }

    private func takeOverEditing() {
        var mode = termios()
        guard tcgetattr(input.rawValue, &mode) == 0 else { return }
        previousMode = mode
        mode.c_lflag &= ~tcflag_t(ICANON | ECHO)
        tcsetattr(input.rawValue, TCSANOW, &mode)
    }

    /// Restores the terminal's mode. To be called at the end.
    public func restoreTerminal() {
        guard var mode = previousMode, isInForeground else { return }
        previousMode = nil
        tcsetattr(input.rawValue, TCSANOW, &mode)
    }

    /// Whether commands can arrive only after the terminal is released.
    public var isInBackground: Bool { !hasEnded && isTerminal && !isInForeground }

    /// For polling; -1 when nothing can arrive.
    public var fileDescriptor: Int32 { hasEnded || isInBackground ? -1 : input.rawValue }

    /// The typed line, as the view's last line; `nil` if the terminal echoes it itself.
    public var prompt: String? { previousMode == nil ? nil : String(decoding: editor.drawing, as: UTF8.self) }

    /// The complete lines. To be called when the descriptor is readable; otherwise it waits.
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

    /// A line that is too long or not text is refused like an unknown command.
    private func line(_ bytes: ArraySlice<UInt8>) -> String {
        defer { isTooLong = false }
        guard isTooLong || bytes.count > Self.longestLine else {
            return String(validating: bytes, as: UTF8.self) ?? "a-line-that-is-not-UTF-8"
        }
        return "a-line-of-more-than-\(Self.longestLine)-bytes"
    }
}
