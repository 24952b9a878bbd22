import ApplianceLogic
import Glibc
import LinuxIO
import Media
import StreamLogic
import Terminal

/// Clients of the control socket that receive events until they close the connection. Events that do not fit into a slow
/// client's buffer are dropped and counted for it; the program never waits. Used from the main thread.
package struct ControlFollowers {
    package static let limit = 4
    /// Bytes waiting for one follower, in addition to the kernel's socket buffer.
    package static let capacity = 64 * 1024

    private final class Follower {
        let client: ControlServer.Client
        let form: ReaderForm
        var waiting: [UInt8]
        var droppedCount = 0
        /// Whether it has closed its sending direction but still reads, like a script that sends one command.
        var isSilent = false
        var isGone = false

        init(_ client: ControlServer.Client, _ form: ReaderForm, first: [UInt8]) {
            self.client = client
            self.form = form
            waiting = first
        }
    }

    /// The program's start, from which JSON counts times.
    private let start: MediaTimestamp
    private var followers: [Follower] = []

    package init(start: MediaTimestamp) { self.start = start }

    package var hasRoom: Bool { followers.count < Self.limit }

    package func contains(_ form: ReaderForm) -> Bool { followers.contains { $0.form == form } }

    package var pollEntries: [PollEntry] {
        followers.map { follower in
            // A closed direction would stay readable forever. Poll always reports a closed connection.
            var interest: PollEvents = follower.isSilent ? [] : .readable
            if !follower.waiting.isEmpty { interest.insert(.writable) }
            return PollEntry(follower.client.connection.rawValue, interest)
        }
    }

    /// - Parameter first: sent to it before any event.
    package mutating func add(_ client: ControlServer.Client, _ form: ReaderForm, first: [UInt8]) {
        let follower = Follower(client, form, first: first)
        followers.append(follower)
        send(to: follower)
        dropGone()
    }

    /// - Parameters:
    ///   - json: with its LF, for those who read JSON.
    ///   - line: without its LF; `nil` for events that only programs read.
    package mutating func tell(json: [UInt8], line: String?) {
        guard !followers.isEmpty else { return }
        let text = line.map { Array("\($0)\n".utf8) } ?? []
        for follower in followers {
            let bytes = follower.form == .json ? json : text
            guard !bytes.isEmpty else { continue }
            if follower.droppedCount > 0 || follower.waiting.count + bytes.count > Self.capacity {
                follower.droppedCount += 1
            } else {
                follower.waiting += bytes
            }
            send(to: follower)
        }
        dropGone()
    }

    /// Sends waiting data and removes followers that have closed the connection.
    package mutating func serve() {
        for follower in followers {
            follower.isGone = Self.hasClosed(follower)
            send(to: follower)
        }
        dropGone()
    }

    private mutating func dropGone() { followers.removeAll(where: \.isGone) }

    /// Input from a follower is read and ignored. One that has only closed its own direction stays.
    private static func hasClosed(_ follower: Follower) -> Bool {
        var block = [UInt8](repeating: 0, count: 1024)
        do throws(SystemCallError) {
            if !follower.isSilent {
                follower.isSilent = try block.withMutableBytes { bytes throws(SystemCallError) in
                    try follower.client.connection.readIfReady(into: bytes) == 0
                }
            }
            return follower.isSilent && follower.client.connection.isHungUp
        } catch {
            return true
        }
    }

    /// Sends as much as the socket's buffer accepts now.
    private func send(to follower: Follower) {
        guard !follower.isGone, !follower.waiting.isEmpty else { return }
        do throws(SystemCallError) {
            let count = try follower.waiting.withBytes { bytes throws(SystemCallError) in
                try follower.client.connection.write(bytes)
            }
            follower.waiting.removeFirst(count)
        } catch {
            follower.isGone = error.number != EAGAIN
        }
        guard follower.droppedCount > 0, follower.waiting.count <= Self.capacity / 2 else { return }
        let event = ApplianceEvent.eventsDropped(count: follower.droppedCount)
        follower.droppedCount = 0
        follower.waiting +=
            follower.form == .json
            ? jsonLine(event, at: (MonotonicClock.now() - start).inSeconds) : Array("\(event.text ?? "")\n".utf8)
    }
}
