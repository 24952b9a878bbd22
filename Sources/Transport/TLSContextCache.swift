import LinuxIO
import Synchronization

/// Keeps the context that was made last, while its file is as it was then: each attempt to connect asks for it. Used from any
/// thread; who waits for a disk here holds up nobody else.
final class TLSContextCache: Sendable {
    static let ofProcess = TLSContextCache()

    /// A card that is well answers at once. Certificates that are known already are worth no longer wait.
    static let patienceWithKnown = Duration.seconds(2)

    private struct Entry {
        let context: TLSContext
        let state: FileState
    }

    private let latest = Mutex<Entry?>(nil)

    /// Reads the disk.
    /// - Parameter authorityFile: as for `TLSContext.init`.
    func context(authorityFile: String?) throws(TransportError) -> TLSContext {
        // A system's file that comes before the one in use may have been installed meanwhile.
        let files = TLSContext.files(authorityFile)
        let (path, state) = files.lazy.map { ($0, FileState($0)) }.first { $0.1 != nil } ?? ("", nil)
        if let latest = latest.withLock({ $0 }), latest.state == state, latest.context.authorityFile == path {
            return latest.context
        }
        // The state is older than what is read: a change in between is noticed the next time.
        let context = try TLSContext(authorityFile: authorityFile)
        latest.withLock { $0 = state.map { Entry(context: context, state: $0) } }
        return context
    }

    /// The same, by the card's thread. While the card does not answer, certificates that are known stay in use.
    /// - Parameters:
    ///   - patience: how long the caller waits for certificates that are not known.
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
            guard error != .cancelled else { throw .cancelled }
            guard let known else { throw .authoritiesUnread(error) }
            return known
        }
        return try result.get()
    }

    /// The latest context, if it is of one of these files, whatever has become of the file since.
    private func known(_ authorityFile: String?) -> TLSContext? {
        let known = latest.withLock { $0?.context }
        return known.flatMap { TLSContext.files(authorityFile).contains($0.authorityFile) ? $0 : nil }
    }
}

extension TLSContext {
    /// The one for all connections of the process. Reads the disk.
    /// - Parameter authorityFile: as for `init`.
    public static func shared(authorityFile: String? = nil) throws(TransportError) -> TLSContext {
        try TLSContextCache.ofProcess.context(authorityFile: authorityFile)
    }

    /// The same, read by the card's thread. While the card does not answer, certificates that are known stay in use.
    /// - Parameters:
    ///   - patience: how long the caller waits for certificates that are not known.
    ///   - cancellation: as for `CardCalls.call`.
    public static func shared(
        authorityFile: String?, readBy card: CardCalls, within patience: Duration, cancellation: Int32
    ) throws(TransportError) -> TLSContext {
        try TLSContextCache.ofProcess.context(
            authorityFile: authorityFile, readBy: card, within: patience, cancellation: cancellation)
    }
}
