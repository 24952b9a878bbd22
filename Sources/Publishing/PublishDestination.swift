import Glibc
import LinuxIO
import Media
import Settings
import StreamLogic
import StreamQuality
import Synchronization
import Transport

/// One server of a stream. Each connection gets its own URL, because a signature can be used only once. Any thread.
public final class PublishDestination: Sendable {
    private enum Kind: Sendable {
        case url(RTMPURL)
        case described(TargetDescription, noncePath: String?)
    }

    private let kind: Kind
    /// Distinguishes a stream's servers; `nil` for the only one.
    let name: String?
    /// The video's highest bit rate that the server accepts; `nil` without a limit of its own.
    let highestBitrate: Bitrate?
    /// Whether the stream starts without it.
    let isOff: Bool
    /// Kept in addition to the copy on disk, so that most connections need no write. Never locked while waiting for the disk.
    private let nonces = Mutex<NonceSequence?>(nil)
    /// Short, because a stream's end waits for this, too.
    private static let lockTimeout = Duration.milliseconds(500)
    /// UNIX seconds that have certainly passed.
    private let pastTime: Int64
    /// For messages; without stream name and query.
    public let label: String
    /// PEM file of the authorities that TLS trusts; `nil` for the system's.
    package let authorityFile: String?

    /// - Parameters:
    ///   - name: distinguishes a stream's servers; `nil` for the only one.
    ///   - authorityFile: PEM file of the authorities that TLS trusts; `nil` for the system's.
    public init(url: RTMPURL, name: String? = nil, authorityFile: String? = nil) {
        kind = .url(url)
        self.name = name
        highestBitrate = nil
        isOff = false
        self.authorityFile = authorityFile
        pastTime = 0
        label = "\(url)"
    }

    /// - Parameters:
    ///   - path: the stream's file.
    ///   - stateDirectory: where the last nonce is kept, so that it never goes back.
    ///   - authorityFile: takes the place of the target's `caFile`.
    public init(
        _ target: TargetDescription, path: String? = nil, stateDirectory: String, authorityFile: String? = nil
    ) {
        name = target.name
        highestBitrate = target.highestBitrate
        isOff = target.isOff
        self.authorityFile = authorityFile ?? target.caFile
        // Used if the last nonce is lost and the clock shows 1970: neither the program nor the stream is older.
        pastTime = ["/proc/self/exe", path].compactMap { $0.flatMap(modificationTime) }.max() ?? 0
        label = target.destination
        if case .pili(let pili) = target.form, case .dynamic = pili.security {
            let name = "\(pili.hub).\(pili.title)".map { $0.isLetter || $0.isNumber || "._-".contains($0) ? $0 : "_" }
            let path = "\(stateDirectory)/nonce-\(String(name))"
            kind = .described(target, noncePath: path)
        } else {
            kind = .described(target, noncePath: nil)
        }
    }

    /// Whether connections are encrypted.
    public var usesTLS: Bool {
        switch kind {
        case .url(let url): url.scheme == .rtmps
        case .described(let stream, _): stream.usesTLS
        }
    }

    /// The service's requirements for a stream.
    package var platform: PlatformProfile {
        switch kind {
        case .url(let url): PlatformProfile(host: url.host)
        case .described(let stream, _): stream.platform
        }
    }

    /// Throws for a stream that the service would refuse.
    func checkSecurity() throws(StreamFailure) {
        guard platform.requiresTLS, case .url(let url) = kind, url.scheme != .rtmps else { return }
        throw StreamFailure(.settings, "\(platform.name) accepts only RTMPS; start the URL with rtmps://")
    }

    /// Warns of how the service may handle frames whose size changes like that; `nil` if it accepts them.
    func warning(of policy: ResizePolicy) -> String? {
        let (name, resizing) = (platform.name, platform.resizing)
        return switch (policy, resizing) {
        case (.seamless, .never), (.seamless, .byRestart):
            "\(name) may not follow a frame size that changes within the stream (docs/services)"
        case (.restart, .never):
            "\(name) may treat a restarted stream as a new one and end the broadcast (docs/services)"
        case (.never, _), (.restart, _), (.seamless, .seamless): nil
        }
    }

    /// Whether a connection uses a nonce, which is stored on the card.
    var usesNonces: Bool { if case .described(_, _?) = kind { true } else { false } }

    /// The URL for one connection. Saves the nonce before using it, which takes as long as the disk needs.
    package func connectionURL() throws -> RTMPURL {
        switch kind {
        case .url(let url): return url
        case .described(let stream, nil):
            var none = NonceSequence(savedText: nil)
            return try Self.signed(stream, &none)
        case .described(let stream, let noncePath?): return try signed(stream, with: noncePath)
        }
    }

    /// The URL for one connection, with a nonce that the card's thread reads and saves. While the card does not answer, numbers
    /// reserved earlier are used.
    /// - Parameter cancellation: as for `CardCalls.call`.
    func connectionURL(savedBy card: CardCalls, cancellation: Int32) throws -> RTMPURL {
        guard case .described(let stream, _?) = kind else { return try connectionURL() }
        let result: Result<RTMPURL, any Error>
        do throws(CardCallError) {
            result = try card.call(within: StepTimeouts.card, cancellation: cancellation) {
                Result { try self.connectionURL() }
            }
        } catch {
            guard error != .canceled else { throw TransportError.canceled }
            if let url = try reservedURL(stream) { return url }
            throw StreamFailure(.system, "the last nonce cannot be read: \(error)")
        }
        return try result.get()
    }

    /// - Returns: `nil` if the next number would have to be saved first.
    private func reservedURL(_ stream: TargetDescription) throws -> RTMPURL? {
        try nonces.withLock { kept in
            guard var nonces = kept else { return nil }
            // The clock is beyond the reserved numbers. Without it, the number after the last one is used.
            let url = try Self.signed(stream, &nonces, unixSeconds: 0)
            guard nonces.unsavedText == nil else { return nil }
            kept = nonces
            return url
        }
    }

    private static func signed(
        _ stream: TargetDescription, _ nonces: inout NonceSequence, unixSeconds: Int64 = WallClock.secondsSince1970()
    ) throws -> RTMPURL {
        try stream.publishURL(unixSeconds: unixSeconds, nonces: &nonces) {
            HMACSHA1.authenticationCode(for: $1, key: $0)
        }
    }

    /// Another process may publish the same stream, now or since. The server accepts only numbers above all earlier ones, so
    /// processes take turns.
    private func signed(_ stream: TargetDescription, with noncePath: String) throws -> RTMPURL {
        let lock = try lock(noncePath)
        let savedText = try savedText(noncePath)
        let (url, unsaved) = try nonces.withLock { kept in
            var nonces = kept ?? NonceSequence(savedText: savedText, floor: pastTime)
            if kept != nil { nonces.read(savedText: savedText) }
            defer { kept = nonces }
            return (try Self.signed(stream, &nonces), nonces.unsavedText)
        }
        if let unsaved {
            try save(unsaved, to: noncePath)
            nonces.withLock { if $0?.unsavedText == unsaved { $0?.saved() } }
        }
        lock.release()
        return url
    }

    private func lock(_ path: String) throws -> FileLock {
        for end in path.indices where path[end] == "/" && end > path.startIndex { mkdir(String(path[..<end]), 0o700) }
        let name = path.lastIndex(of: "/").map { path.index(after: $0) } ?? path.startIndex
        do throws(SystemCallError) {
            return try FileLock("\(path[..<name]).\(path[name...]).lock", within: Self.lockTimeout)
        } catch {
            guard error.number == EWOULDBLOCK else { throw unusable("locked", error) }
            throw StreamFailure(
                .system, "another tallycam publishes this stream and has held its last nonce for \(Self.lockTimeout)")
        }
    }

    /// A damaged or foreign file counts as missing. A file that cannot be read may contain a larger number than the clock.
    private func savedText(_ path: String) throws -> [UInt8]? {
        do throws(SystemCallError) {
            return try readFile(path, limit: 65_536)
        } catch {
            guard error.number == ENOENT || error.number == EFBIG else {
                throw StreamFailure(.system, "the last nonce cannot be read: \(error)")
            }
            return nil
        }
    }

    private func save(_ text: String, to path: String) throws {
        do throws(SystemCallError) {
            try replaceFile(path, with: Array(text.utf8), permissions: 0o600)
        } catch {
            throw unusable("saved", error)
        }
    }

    private func unusable(_ what: String, _ error: SystemCallError) -> StreamFailure {
        StreamFailure(
            .system,
            "the last nonce cannot be \(what): \(error); the server would refuse the next start. "
                + "Set TALLYCAM_STATE_DIR to a directory that can be written")
    }

    /// `$TALLYCAM_STATE_DIR`, otherwise the folder of the XDG base directory specification.
    public static var standardStateDirectory: String {
        if let directory = environment("TALLYCAM_STATE_DIR"), !directory.isEmpty { return directory }
        // A relative one is invalid, and ignored.
        if let directory = environment("XDG_STATE_HOME"), directory.hasPrefix("/") { return "\(directory)/tallycam" }
        return "\(environment("HOME") ?? "/var/lib")/.local/state/tallycam"
    }
}
