import Glibc

/// The kernel's log (/dev/kmsg), from the oldest message that it still has. Reading never waits.
public final class KernelLog {
    /// The kernel's own limit for a message with its properties.
    private static let longestRecord = 8192
    /// The most messages for one call of `takeMessages`.
    private static let mostRecords = 256

    private let log: OwnedFileDescriptor

    public init(path: String = "/dev/kmsg") throws(SystemCallError) {
        log = try OwnedFileDescriptor(opening: path, flags: O_RDONLY | O_NONBLOCK)
    }

    /// The texts since the last call, or the first of very many: the next call continues.
    public func takeMessages() -> [String] {
        var texts: [String] = []
        var record = [UInt8](repeating: 0, count: Self.longestRecord)
        for _ in 0..<Self.mostRecords {
            do throws(SystemCallError) {
                let count = try record.withMutableBytes { bytes throws(SystemCallError) in
                    try log.readIfReady(into: bytes)
                }
                guard let count, count > 0 else { break }
                texts.append(Self.text(of: record[..<count]))
            } catch {
                // The kernel has overwritten what would have come next; it goes on with the oldest one it has.
                guard error.number == EPIPE else { break }
            }
        }
        return texts
    }

    /// `4,339,5140900,-;text`, followed by lines with properties.
    private static func text(of record: ArraySlice<UInt8>) -> String {
        let line = record.prefix { $0 != UInt8(ascii: "\n") }
        return String(decoding: line.drop { $0 != UInt8(ascii: ";") }.dropFirst(), as: UTF8.self)
    }
}
