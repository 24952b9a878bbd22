import Glibc
import LinuxIO
import Media
import Terminal

/// A connection to the control socket that receives an answer part by part.
package final class FollowedCamera {
    private let path: String
    /// How long to wait for each part after the first line; `nil` for events, which may take forever.
    private let patience: Duration?
    private let connection: OwnedFileDescriptor
    /// The first line, which reports success, until it is complete.
    private var head: [UInt8]? = []

    package init(_ command: String, at path: String, patience: Duration? = nil) throws(CommandFailure) {
        self.path = path
        self.patience = patience
        do throws(SystemCallError) {
            connection = try connectLocal(path)
            try connection.writeAll(Array("\(command)\n".utf8))
        } catch {
            throw CommandFailure(noAnswerAt: path, error)
        }
    }

    /// Waits for the next bytes after the first line.
    /// - Returns: `nil` if the camera has closed the connection or standard output is no longer read.
    package func next() throws(CommandFailure) -> [UInt8]? {
        while let bytes = try read() {
            guard let known = head.map({ $0 + bytes }) else { return bytes }
            guard let end = known.firstIndex(of: 0x0A) else {
                head = known
                continue
            }
            let body = Array(known[(end + 1)...])
            if known[..<end].elementsEqual("ok".utf8) {
                head = nil
                return body
            }
            let text = String(decoding: body, as: UTF8.self)
            throw CommandFailure(.refused, String(text.split(separator: "\n").joined(separator: "; ")))
        }
        guard head == nil else { throw CommandFailure(.system, "the camera's answer at \(path) is cut off") }
        return nil
    }

    private enum Waited {
        case connection, output
    }

    private func read() throws(CommandFailure) -> [UInt8]? {
        do throws(SystemCallError) {
            var waits: PollSet<Waited> = [.connection: connection.rawValue]
            // A pipe without a reader reports that even if no event is requested.
            waits.add(.output, STDOUT_FILENO, for: [])
            let limit = (head == nil ? patience : .seconds(10)).map { MonotonicClock.now() + $0 }
            guard try waits.wait(until: limit) else {
                throw SystemCallError("read", number: ETIMEDOUT, subject: path)
            }
            guard !waits.isReady(.output) else {
                head = nil
                return nil
            }
            var block = [UInt8](repeating: 0, count: 65_536)
            let count = try block.withMutableBytes { bytes throws(SystemCallError) in
                try connection.read(into: bytes)
            }
            return count > 0 ? Array(block[..<count]) : nil
        } catch {
            throw CommandFailure(noAnswerAt: path, error)
        }
    }
}

extension CommandFailure {
    /// The camera's control socket does not work.
    package init(noAnswerAt path: String, _ error: SystemCallError) {
        self.init(.system, "the camera does not answer at \(path): \(error.reason); is tallycam run running?")
    }
}
