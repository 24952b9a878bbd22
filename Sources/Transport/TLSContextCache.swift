import LinuxIO
import Synchronization

/// Keeps the latest context while its file is unchanged, because each connection attempt asks for it. Any thread; a caller that
/// waits for a disk does not block others.
final class TLSContextCache: Sendable {
    static let ofProcess = TLSContextCache()

    /// A healthy card answers at once. Certificates that are already loaded are not worth a longer wait.
    static let patienceWithKnown = Duration.seconds(2)

    private struct Entry {
        let context: TLSContext
        let state: FileState
    }

    private let latest = Mutex<Entry?>(nil)

    /// Reads the disk.
    /// - Parameter authorityFile: as for `TLSContext.init`.
    func context(authorityFile: String?) throws(TransportError) -> TLSContext {
        // A system file that takes precedence over the one in use may have been installed meanwhile.
        let files = TLSContext.files(authorityFile)
        let (path, state) = files.lazy.map { ($0, FileState($0)) }.first { $0.1 != nil } ?? ("", nil)
        if let latest = latest.withLock({ $0 }), latest.state == state, latest.context.authorityFile == path {
            return latest.context
        }
        // The file's state was taken before reading, so a change in between is noticed next time.
        let context = try TLSContext(authorityFile: authorityFile)
        latest.withLock { $0 = state.map { Entry(context: context, state: $0) } }
        return context
    }

    /// Does the same on the card's thread. While the card does not answer, loaded certificates stay in use.
    /// - Parameters:
    ///   - patience: how long the caller waits for certificates that are not loaded yet.
    ///   - cancellation: as for `CardCalls.call`.
    func context(
        authorityFile: String?, readBy card: CardCalls, within patience: Duration, cancellation: Int32
    ) throws(TransportError) -> TLSContext {
        let known = known(authorityFile)
        let patience = known == nil ? patience : min(patience, Self.patienceWithKnown)
        let result: Result<TLSContext, TransportError>
        do throws(CardCallError) {
            result = try card.call(within: patience, cancellation: cancellation) {
                Result { () throws(TransportError) in try self.context(authorityFile: authorityFile) }
            }
        } catch {
            guard error != .canceled else { throw .canceled }
            guard let known else { throw .authoritiesUnread(error) }
            return known
        }
        return try result.get()
    }

    /// The latest context if it was read from one of these files, even if the file has changed since.
    private func known(_ authorityFile: String?) -> TLSContext? {
        let known = latest.withLock { $0?.context }
        return known.flatMap { TLSContext.files(authorityFile).contains($0.authorityFile) ? $0 : nil }
    }
}

extension TLSContext {
    /// The context for all connections of the process. Reads the disk.
    /// - Parameter authorityFile: as for `init`.
    public static func shared(authorityFile: String? = nil) throws(TransportError) -> TLSContext {
        try TLSContextCache.ofProcess.context(authorityFile: authorityFile)
    }

    /// Does the same on the card's thread. While the card does not answer, loaded certificates stay in use.
    /// - Parameters:
    ///   - patience: how long the caller waits for certificates that are not loaded yet.
    ///   - cancellation: as for `CardCalls.call`.
    public static func shared(
        authorityFile: String?, readBy card: CardCalls, within patience: Duration, cancellation: Int32
    ) throws(TransportError) -> TLSContext {
        try TLSContextCache.ofProcess.context(
            authorityFile: authorityFile, readBy: card, within: patience, cancellation: cancellation)
    }
}
