import ApplianceLogic
import Glibc
import LinuxIO
import StreamLogic
import Terminal

/// Status and command line on the board's UART. It needs no login: anyone who can touch the pins can also take the card. Used
/// from the main thread.
package final class SerialConsole {
    /// If the line accepts no data (nobody is listening, or hardware flow control), further output is dropped.
    private static let outputLimit = 32 * 1024

    /// Limits one turn, so that an endless sender does not block the appliance; its line stays readable.
    private static let readsPerTurn = 16

    package let path: String
    private let port: SerialPort
    private var editor = LineEditor(prompt: "tallycam> ")
    private var output: [UInt8] = []
    /// Whether a command is running whose answer goes below it, before the next prompt.
    private var isTaking = false

    package init(path: String) throws(SystemCallError) {
        self.path = path
        port = try SerialPort(path)
        print("Tallycam \(Program.version); help lists the commands")
    }

    package var pollEntry: PollEntry {
        PollEntry(port.fileDescriptor, output.isEmpty ? .readable : [.readable, .writable])
    }

    /// Prints lines above the one being typed.
    package func print(_ text: String) {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).joined(separator: "\r\n")
        send(editor.erasure + Array("\(lines)\r\n".utf8) + editor.drawing)
    }

    /// Handles received input.
    /// - Parameter take: receives each command with its asker.
    /// - Throws: if the line is gone: an unplugged adapter, or a terminal whose other end was closed.
    package func serve(_ take: (String, CommandAsker) -> Void) throws(SystemCallError) {
        for _ in 0..<Self.readsPerTurn {
            guard let bytes = try port.read() else { break }
            // It stays readable, but nothing will arrive any more.
            guard !bytes.isEmpty else { throw SystemCallError("read", number: EIO, subject: path) }
            for action in editor.received(bytes) {
                switch action {
                case .write(let bytes): send(bytes)
                case .submit(let line):
                    isTaking = true
                    if !line.allSatisfy({ $0 == " " }) { take(line, asker) }
                    isTaking = false
                    send(editor.drawing)
                }
            }
        }
        flush()
    }

    private var asker: CommandAsker {
        CommandAsker(on: .console, seesEvents: true) { [weak self] answer, form in
            self?.show(String(decoding: answer.content(as: form), as: UTF8.self))
        }
    }

    /// - Parameter answer: whole lines.
    private func show(_ answer: String) {
        let lines = answer.split(separator: "\n")
        guard isTaking else { return print(lines.joined(separator: "\n")) }
        send(lines.flatMap { Array("\($0)\r\n".utf8) })
    }

    private func send(_ bytes: [UInt8]) {
        if output.count + bytes.count <= Self.outputLimit { output += bytes }
        flush()
    }

    private func flush() {
        guard !output.isEmpty, let count = try? port.write(output) else { return }
        output.removeFirst(count)
    }
}
